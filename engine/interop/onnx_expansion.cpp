// Each function writes the nodes that the text of ONNX's operator, or its function body, says.
#include "engine/interop/onnx_expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dmlconform::interop {
namespace {

using Nodes = core::Result<std::vector<onnx::NodeProto>>;
using Attributes = std::vector<onnx::AttributeProto>;

constexpr int onnx_float = 1;
constexpr int onnx_int64 = 7;
constexpr int onnx_bool = 9;

onnx::AttributeProto integer(const char* name, std::int64_t value) {
    onnx::AttributeProto attribute;
    attribute.set_name(name);
    attribute.set_i(value);
    return attribute;
}

onnx::AttributeProto integers(const char* name, const std::vector<std::int64_t>& values) {
    onnx::AttributeProto attribute;
    attribute.set_name(name);
    attribute.mutable_ints()->Add(values.begin(), values.end());
    return attribute;
}

onnx::AttributeProto value(const onnx::TensorProto& tensor) {
    onnx::AttributeProto attribute;
    attribute.set_name("value");
    *attribute.mutable_t() = tensor;
    return attribute;
}

/// Puts nodes one behind the other.
class Expansion {
public:
    Expansion(const onnx::NodeProto& node, std::int64_t opset, std::size_t number, const KnownTensor& known)
        : node_(node), opset_(opset), number_(number), known_(known) {}

    [[nodiscard]] const onnx::NodeProto& node() const { return node_; }
    [[nodiscard]] std::int64_t opset() const { return opset_; }
    /// Empty where it is absent.
    [[nodiscard]] std::string input(int index) const { return index < node_.input_size() ? node_.input(index) : ""; }
    [[nodiscard]] std::string output(int index) const { return index < node_.output_size() ? node_.output(index) : ""; }
    [[nodiscard]] const OnnxTensor* known(int index) const { return known_(input(index)); }
    [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const {
        const auto& all = node_.attribute();
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name() == name; });
        return found == all.end() ? nullptr : &*found;
    }

    /// Adds a node with one output, which is called `output`, or by a name of its own; returns the name.
    std::string add(const char* type, const std::vector<std::string>& inputs, std::string output = "",
                    const Attributes& attributes = {}) {
        onnx::NodeProto& added = nodes_.emplace_back();
        added.set_op_type(type);
        for (const std::string& name : inputs) {
            added.add_input(name);
        }
        // A name that no model has: names of ONNX's are identifiers.
        output = output.empty() ? fmt::format("#{}.{}", number_, nodes_.size()) : output;
        added.add_output(output);
        for (const onnx::AttributeProto& attribute : attributes) {
            *added.add_attribute() = attribute;
        }
        return output;
    }

    std::string whole_number(std::int64_t number) {
        onnx::TensorProto tensor;
        tensor.set_data_type(onnx_int64);
        tensor.add_dims(1);
        tensor.add_int64_data(number);
        return add("Constant", {}, "", {value(tensor)});
    }

    std::string number(float number) {
        onnx::TensorProto tensor;
        tensor.set_data_type(onnx_float);
        tensor.add_dims(1);
        tensor.add_float_data(number);
        return add("Constant", {}, "", {value(tensor)});
    }

    [[nodiscard]] Nodes take() { return std::move(nodes_); }

private:
    const onnx::NodeProto& node_;
    std::int64_t opset_;
    std::size_t number_;
    const KnownTensor& known_;
    std::vector<onnx::NodeProto> nodes_;
};

/// Sum, Max, Min and Mean of more than two inputs: two at a time.
Nodes expand_many(Expansion& to) {
    const int count = to.node().input_size();
    if (count <= 2) {
        return std::vector{to.node()};
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

/// Nothing is dropped outside training, and with a ratio of 0.
Nodes expand_dropout(Expansion& to) {
    const OnnxTensor* ratio = to.known(1);
    const OnnxTensor* training = to.known(2);
    const bool in_training =
        to.opset() < 7 || (!to.input(2).empty() && (training == nullptr || training->integer(0) != 0));
    const bool none = ratio != nullptr && ratio->count() == 1 && ratio->list().front() == 0;
    if (in_training && !none) {
        return core::fail("Dropout in training drops at random");
    }
    to.add("Identity", {to.input(0)}, to.output(0));
    if (!to.output(1).empty()) {
        onnx::TensorProto kept;
        kept.set_data_type(onnx_bool);
        kept.add_dims(1);
        kept.add_int32_data(1);
        to.add("ConstantOfShape", {to.add("Shape", {to.input(0)})}, to.output(1), {value(kept)});
    }
    return to.take();
}

/// In training: by the batch's own mean and variance, of which the running ones take a part.
Nodes expand_batch_normalisation(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const onnx::AttributeProto* training = to.attribute("training_mode");
    if (training == nullptr || training->i() == 0) {
        return std::vector{to.node()};
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
    const onnx::AttributeProto* written = to.attribute("momentum");
    const float momentum = written == nullptr ? 0.9F : written->f();
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

/// The classes that the target names, in a dimension of their own, and whether each is to be ignored.
struct Classes {
    std::string classes;
    /// Empty: none is.
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

/// Of the class that the target names the likelihood, weighted; of what is to be ignored nothing.
Nodes expand_likelihood(Expansion& to, const std::string& likelihoods) {
    const onnx::AttributeProto* written = to.attribute("reduction");
    const std::string reduction = written == nullptr ? "mean" : written->s();
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

}  // namespace

Nodes expanded(const onnx::NodeProto& node, std::int64_t opset, std::size_t number, const KnownTensor& known) {
    using Expand = Nodes (*)(Expansion&);
    static const std::vector<std::pair<std::string_view, Expand>> expansions{
        {"Sum", expand_many},
        {"Max", expand_many},
        {"Min", expand_many},
        {"Mean", expand_many},
        {"Dropout", expand_dropout},
        {"BatchNormalization", expand_batch_normalisation},
        {"NegativeLogLikelihoodLoss", expand_likelihood_loss},
        {"SoftmaxCrossEntropyLoss", expand_cross_entropy_loss}};
    Expansion to(node, opset, number, known);
    for (const auto& [type, expand] : expansions) {
        if (node.op_type() == type && (node.domain().empty() || node.domain() == "ai.onnx")) {
            return expand(to);
        }
    }
    return std::vector{node};
}

}  // namespace dmlconform::interop
