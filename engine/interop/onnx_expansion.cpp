// Expands nodes according to ONNX's description or function body, one function for each operator.
#include <fmt/format.h>

#include <algorithm>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop {
namespace expansion {
namespace {

/// Sum, Max, Min and Mean of more than two inputs: two at a time.
Nodes expand_many(Expansion& to) {
    const int count = to.node().input.size();
    if (count <= 2) {
        return unchanged(to);
    }
    const std::string& type = to.node().op_type();
    const char* step = type == "Max" ? "Max" : type == "Min" ? "Min" : "Add";
    const bool mean = type == "Mean";
    std::string result = to.input(0);
    for (int i = 1; i < count; ++i) {
        const bool last = i == count - 1 && !mean;
        result = to.add(step, {result, to.input(i)}, last ? to.output(0) : "");
    }
    if (mean) {
        to.add("Div", {result, to.number(static_cast<float>(count))}, to.output(0));
    }
    return to.take();
}

/// Nothing is dropped except in training, or with a ratio of 0.
Nodes expand_dropout(Expansion& to) {
    const OnnxTensor* ratio = to.known(1);
    const OnnxTensor* training = to.known(2);
    const bool in_training = to.opset() < 7 || (!to.input(2).empty() && (training == nullptr || !training->is_zero()));
    if (in_training && (ratio == nullptr || !ratio->is_zero())) {
        return core::fail("Dropout in training drops at random");
    }
    to.add("Identity", {to.input(0)}, to.output(0));
    if (!to.output(1).empty()) {
        onnx::TensorProto kept;
        kept.data_type.set(onnx_bool);
        kept.dims.add(1);
        kept.int32_data.add(1);
        to.add("ConstantOfShape", {to.add("Shape", {to.input(0)})}, to.output(1), {value(kept)});
    }
    return to.take();
}

/// In training: uses the batch's own mean and variance, which are averaged into the running ones.
Nodes expand_batch_normalisation(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    if (to.integer_of("training_mode", 0) == 0) {
        return unchanged(to);
    }
    if (data == nullptr || data->sizes.size() < 2) {
        return core::fail("BatchNormalization in training without data of two dimensions");
    }
    std::vector<std::int64_t> axes{0};
    for (std::size_t d = 2; d < data->sizes.size(); ++d) {
        axes.push_back(static_cast<std::int64_t>(d));
    }
    const Attributes along{integers("axes", axes)};
    const std::string mean = to.add("ReduceMean", {to.input(0)}, "", along);
    const std::string deviation = to.add("Sub", {to.input(0), mean});
    const std::string variance = to.add("ReduceMean", {to.add("Mul", {deviation, deviation})}, "", along);
    const std::string channels = to.whole_number(data->sizes[1]);
    const std::string means = to.add("Reshape", {mean, channels});
    const std::string variances = to.add("Reshape", {variance, channels});
    const float momentum = to.number_of("momentum", 0.9F);
    const std::string old_part = to.number(momentum);
    const std::string new_part = to.number(1 - momentum);
    for (const auto& [index, batch] : {std::pair(3, means), std::pair(4, variances)}) {
        if (!to.output(index - 2).empty()) {
            to.add("Add", {to.add("Mul", {to.input(index), old_part}), to.add("Mul", {batch, new_part})},
                   to.output(index - 2));
        }
    }
    const onnx::AttributeProto* epsilon = to.attribute("epsilon");
    to.add("BatchNormalization", {to.input(0), to.input(1), to.input(2), means, variances}, to.output(0),
           epsilon == nullptr ? Attributes{} : Attributes{*epsilon});
    return to.take();
}

/// The classes that the target selects, in a separate dimension, and whether each is ignored.
struct Classes {
    std::string classes;
    /// Empty if none is ignored.
    std::string ignored;
};

Classes classes_of(Expansion& to, const std::string& target) {
    Classes result{to.add("Unsqueeze", {target, to.whole_number(1)}), ""};
    if (const onnx::AttributeProto* index = to.attribute("ignore_index")) {
        result.classes = to.add("Cast", {result.classes}, "", {integer("to", onnx_int64)});
        result.ignored = to.add("Equal", {result.classes, to.whole_number(index->i())});
        result.classes = to.add("Where", {result.ignored, to.whole_number(0), result.classes});
    }
    return result;
}

/// The weighted likelihood of the selected class; zero for ignored ones.
Nodes expand_likelihood(Expansion& to, const std::string& likelihoods) {
    const std::string reduction = to.text_of("reduction", "mean");
    const auto [classes, ignored] = classes_of(to, to.input(1));
    const auto unless_ignored = [&, &ignored = ignored](const std::string& values) {
        return ignored.empty() ? values : to.add("Where", {ignored, to.number(0), values});
    };
    const std::string picked = to.add("GatherElements", {likelihoods, classes}, "", {integer("axis", 1)});
    std::string loss = to.add("Neg", {unless_ignored(picked)});
    std::string weights;
    if (!to.input(2).empty()) {
        weights = unless_ignored(to.add("Gather", {to.input(2), classes}));
        loss = to.add("Mul", {loss, weights});
    } else if (!ignored.empty() && reduction == "mean") {
        weights = unless_ignored(to.number(1));
    }
    const Attributes dropped{integer("keepdims", 0)};
    if (reduction == "none") {
        to.add("Squeeze", {loss, to.whole_number(1)}, to.output(0));
    } else if (reduction == "sum") {
        to.add("ReduceSum", {loss}, to.output(0), dropped);
    } else if (reduction != "mean") {
        return core::fail("the reduction is not none, sum or mean");
    } else if (weights.empty()) {
        to.add("ReduceMean", {loss}, to.output(0), dropped);
    } else {
        const std::string sum = to.add("ReduceSum", {loss}, "", dropped);
        to.add("Div", {sum, to.add("ReduceSum", {weights}, "", dropped)}, to.output(0));
    }
    return to.take();
}

Nodes expand_likelihood_loss(Expansion& to) {
    return expand_likelihood(to, to.input(0));
}

Nodes expand_cross_entropy_loss(Expansion& to) {
    if (to.opset() < 13) {
        return core::fail("SoftmaxCrossEntropyLoss before opset 13 is not mapped, when LogSoftmax was another one");
    }
    return expand_likelihood(to, to.add("LogSoftmax", {to.input(0)}, to.output(1), {integer("axis", 1)}));
}

constexpr ExpansionRow basic_expansions[] = {
    {"Sum", expand_many, "more than two: two at a time"},
    {"Max", expand_many, "more than two: two at a time"},
    {"Min", expand_many, "more than two: two at a time"},
    {"Mean", expand_many, "more than two: two at a time, and a division"},
    {"Dropout", expand_dropout,
     "not in training, or with a ratio of 0: ELEMENT_WISE_IDENTITY, and FILL_VALUE_CONSTANT for the mask"},
    {"BatchNormalization", expand_batch_normalisation},
    {"NegativeLogLikelihoodLoss", expand_likelihood_loss, "GATHER_ELEMENTS, GATHER, REDUCE and element-wise operators"},
    {"SoftmaxCrossEntropyLoss", expand_cross_entropy_loss,
     "from opset 13 on: ACTIVATION_LOG_SOFTMAX1, and as NegativeLogLikelihoodLoss"},
};

constexpr ExpansionRow training_expansions[] = {
    {"Adagrad", expand_adagrad, "element-wise operators"},
    {"Adam", expand_adam, "several tensors, with regularisation, or the step 0: element-wise operators"},
    {"Momentum", expand_momentum, "element-wise operators"},
};

constexpr std::string_view training_domain = "ai.onnx.preview.training";
constexpr std::string_view microsoft_domain = "com.microsoft";

/// Null if the operator is not in the list.
Expand expansion_in(std::span<const ExpansionRow> rows, std::string_view type) {
    const auto found = std::ranges::find(rows, type, &ExpansionRow::type);
    return found == rows.end() ? nullptr : found->expand;
}

Expand expansion_of(const std::string& domain, const std::string& type) {
    if (domain == microsoft_domain) {
        return expansion_in(microsoft_expansions(), type);
    }
    if (domain == training_domain) {
        return expansion_in(training_expansions, type);
    }
    if (!domain.empty() && domain != "ai.onnx") {
        return nullptr;
    }
    const Expand basic = expansion_in(basic_expansions, type);
    return basic != nullptr ? basic : expansion_in(composed_expansions(), type);
}

}  // namespace
}  // namespace expansion

std::vector<ExpandedOperator> expanded_operators() {
    std::vector<ExpandedOperator> all;
    const auto add = [&](std::string_view domain, std::span<const expansion::ExpansionRow> rows) {
        for (const expansion::ExpansionRow& row : rows) {
            all.push_back({domain.empty() ? std::string(row.type) : fmt::format("{}.{}", domain, row.type),
                           std::string(row.remark)});
        }
    };
    add("", expansion::basic_expansions);
    add("", expansion::composed_expansions());
    add(expansion::training_domain, expansion::training_expansions);
    add(expansion::microsoft_domain, expansion::microsoft_expansions());
    return all;
}

core::Result<std::vector<onnx::NodeProto>> expanded(const onnx::NodeProto& node, std::int64_t opset, std::size_t number,
                                                    const KnownTensor& known) {
    const expansion::Expand expand = expansion::expansion_of(node.domain(), node.op_type());
    if (expand == nullptr) {
        return std::vector{node};
    }
    expansion::Expansion to(node, opset, number, known);
    return expand(to);
}

}  // namespace dmlconform::interop
