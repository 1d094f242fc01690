// RNN, LSTM and GRU.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

/// An activation's name in both worlds, and the fields that ONNX has as alpha and beta.
struct NetworkActivation {
    std::string_view directml;
    const char* onnx = nullptr;
    const char* alpha = nullptr;
    const char* beta = nullptr;
};

constexpr std::array<NetworkActivation, 12> network_activations{{
    {"ACTIVATION_RELU", "Relu"},
    {"ACTIVATION_TANH", "Tanh"},
    {"ELEMENT_WISE_TANH", "Tanh"},
    {"ACTIVATION_SIGMOID", "Sigmoid"},
    {"ACTIVATION_LINEAR", "Affine", "Alpha", "Beta"},
    {"ACTIVATION_LEAKY_RELU", "LeakyRelu", "Alpha"},
    {"ACTIVATION_THRESHOLDED_RELU", "ThresholdedRelu", "Alpha"},
    {"ACTIVATION_SCALED_TANH", "ScaledTanh", "Alpha", "Beta"},
    {"ACTIVATION_HARD_SIGMOID", "HardSigmoid", "Alpha", "Beta"},
    {"ACTIVATION_ELU", "Elu", "Alpha"},
    {"ACTIVATION_SOFTSIGN", "Softsign"},
    {"ACTIVATION_SOFTPLUS", "Softplus"},
}};

void add_activations(OperatorWriter& to, ModelWriter::Attributes& attributes) {
    std::vector<std::string> names;
    std::vector<float> alphas;
    std::vector<float> betas;
    for (const auto& item : to.desc.get<operators::OperatorDescArray>("ActivationDescs").items) {
        const std::string_view name = item->schema->short_name();
        const auto found = std::find_if(network_activations.begin(), network_activations.end(),
                                        [&](const NetworkActivation& one) { return one.directml == name; });
        if (found == network_activations.end() || (name == "ACTIVATION_SOFTPLUS" && item->number("Steepness") != 1)) {
            to.fail(fmt::format("ONNX's recurrent networks do not have {} as an activation", name));
            return;
        }
        names.emplace_back(found->onnx);
        if (found->alpha != nullptr) {
            alphas.push_back(item->number(found->alpha));
        }
        if (found->beta != nullptr) {
            betas.push_back(item->number(found->beta));
        }
    }
    attributes.push_back(attribute("activations", names));
    if (!alphas.empty()) {
        attributes.push_back(attribute("activation_alpha", alphas));
    }
    if (!betas.empty()) {
        attributes.push_back(attribute("activation_beta", betas));
    }
}

/// Without the first dimensions, which have the size 1.
Value without_first(OperatorWriter& to, const char* name, std::size_t count) {
    const Value x = to.in(name);
    return x.is_absent() ? x : to.w.reshape(x, {x.sizes.begin() + static_cast<std::ptrdiff_t>(count), x.sizes.end()});
}

void write_network(OperatorWriter& to, const char* node, ModelWriter::Attributes attributes, bool is_lstm) {
    ModelWriter& w = to.w;
    const Value x = without_first(to, "InputTensor", 1);
    const Value recurrence = without_first(to, "RecurrenceTensor", 1);
    const std::uint32_t hidden = recurrence.sizes.back();
    const std::uint32_t directions = recurrence.sizes.front();
    const Value lengths = without_first(to, "SequenceLengthsTensor", 3);
    std::vector<Value> inputs{x,
                              without_first(to, "WeightTensor", 1),
                              recurrence,
                              without_first(to, "BiasTensor", 2),
                              lengths.is_absent() ? lengths : w.cast(lengths, onnx_int32),
                              without_first(to, "HiddenInitTensor", 1)};
    const core::Dimensions states{directions, x.sizes[1], hidden};
    std::vector<Value> outputs(2);
    if (to.wants("OutputSequenceTensor")) {
        outputs[0] = {"", x.type, {x.sizes[0], directions, x.sizes[1], hidden}};
    }
    if (to.wants("OutputSingleTensor")) {
        outputs[1] = {"", x.type, states};
    }
    if (is_lstm) {
        inputs.push_back(without_first(to, "CellMemInitTensor", 1));
        inputs.push_back(without_first(to, "PeepholeTensor", 2));
        if (to.wants("OutputCellSingleTensor")) {
            outputs.push_back({"", x.type, states});
        }
    }
    while (inputs.back().is_absent()) {
        inputs.pop_back();
    }
    while (outputs.size() > 1 && outputs.back().type == 0) {
        outputs.pop_back();
    }
    using Direction = operators::RecurrentNetworkDirection;
    const auto direction = to.enumerator<Direction>("Direction");
    attributes.push_back(attribute("hidden_size", std::int64_t{hidden}));
    attributes.push_back(attribute("direction", direction == Direction::forward    ? "forward"
                                                : direction == Direction::backward ? "reverse"
                                                                                   : "bidirectional"));
    add_activations(to, attributes);
    const auto made = w.node(node, inputs, outputs, std::move(attributes));
    constexpr const char* names[] = {"OutputSequenceTensor", "OutputSingleTensor", "OutputCellSingleTensor"};
    for (std::size_t i = 0; i < made.size(); ++i) {
        if (!made[i].is_absent()) {
            to.out(names[i], made[i]);
        }
    }
}

void write_rnn(OperatorWriter& to) {
    write_network(to, "RNN", {}, false);
}

void write_gru(OperatorWriter& to) {
    write_network(to, "GRU", {attribute("linear_before_reset", std::int64_t{to.uint("LinearBeforeReset")})}, false);
}

void write_lstm(OperatorWriter& to) {
    ModelWriter::Attributes attributes{attribute("input_forget", std::int64_t{to.uint("CoupleInputForget")})};
    if (to.uint("UseClipThreshold") != 0) {
        attributes.push_back(attribute("clip", to.number("ClipThreshold")));
    }
    write_network(to, "LSTM", std::move(attributes), true);
}

constexpr std::array<OperatorExport, 3> recurrent_rows{{
    {"RNN", write_rnn},
    {"LSTM", write_lstm},
    {"GRU", write_gru},
}};

}  // namespace

std::span<const OperatorExport> recurrent_exports() {
    return recurrent_rows;
}

}  // namespace dmlconform::interop::exporting
