// RNN, LSTM and GRU.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/core/ascii_case.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

/// The names of an operator in ONNX and DirectML, and the default activations of its gates.
struct Network {
    std::string_view name;
    std::vector<std::string_view> activations;
};

const std::array<Network, 3> networks{
    {{"RNN", {"Tanh"}}, {"GRU", {"Sigmoid", "Tanh"}}, {"LSTM", {"Sigmoid", "Tanh", "Tanh"}}}};

/// Values are the defaults of the ONNX operators with these names.
struct Activation {
    std::string_view onnx;
    std::string_view directml;
    std::optional<double> alpha = {};
    std::optional<double> beta = {};
};

constexpr std::array<Activation, 11> activations{{{"Relu", "RELU"},
                                                  {"Tanh", "TANH"},
                                                  {"Sigmoid", "SIGMOID"},
                                                  {"Affine", "LINEAR", 1, 0},
                                                  {"LeakyRelu", "LEAKY_RELU", 0.01},
                                                  {"ThresholdedRelu", "THRESHOLDED_RELU", 1},
                                                  {"ScaledTanh", "SCALED_TANH", 1, 1},
                                                  {"HardSigmoid", "HARD_SIGMOID", 0.2, 0.5},
                                                  {"Elu", "ELU", 1},
                                                  {"Softsign", "SOFTSIGN"},
                                                  {"Softplus", "SOFTPLUS"}}};

/// Numbers of a list that activations consume in order.
class Taken {
public:
    explicit Taken(const onnx::AttributeProto* list) : list_(list) {}

    double next(double otherwise) {
        const int index = next_++;
        return list_ == nullptr || index >= list_->floats.size() ? otherwise : double{list_->floats(index)};
    }

private:
    const onnx::AttributeProto* list_;
    int next_ = 0;
};

bool is_same_name(std::string_view a, std::string_view b) {
    return core::lower_case(a) == core::lower_case(b);
}

Mapped activation_of(std::string_view name, Taken& alphas, Taken& betas) {
    const auto found = std::ranges::find_if(
        activations, [&](const Activation& candidate) { return is_same_name(candidate.onnx, name); });
    if (found == activations.end()) {
        return core::fail(fmt::format("activation {} has no counterpart", core::shortened(name)));
    }
    ordered_json desc{{"Type", fmt::format("ACTIVATION_{}", found->directml)}};
    if (found->alpha) {
        desc["Alpha"] = alphas.next(*found->alpha);
    }
    if (found->beta) {
        desc["Beta"] = betas.next(*found->beta);
    }
    if (found->directml == "SOFTPLUS") {
        desc["Steepness"] = 1;
    }
    return desc;
}

Mapped activations_of(const OnnxNode& node, const Network& network, std::size_t directions) {
    std::vector<std::string> names;
    if (const onnx::AttributeProto* const given = node.attribute("activations")) {
        names.assign(given->strings().begin(), given->strings().end());
    } else {
        for (std::size_t d = 0; d < directions; ++d) {
            names.insert(names.end(), network.activations.begin(), network.activations.end());
        }
    }
    Taken alphas(node.attribute("activation_alpha"));
    Taken betas(node.attribute("activation_beta"));
    ordered_json list = ordered_json::array();
    for (const std::string& name : names) {
        auto activation = activation_of(name, alphas, betas);
        if (!activation) {
            return activation;
        }
        list.push_back(std::move(*activation));
    }
    return list;
}

/// Steps before batches, as in DirectML, followed by directions.
OnnxTensor with_steps_first(const OnnxTensor& tensor, bool batch_first, const std::vector<std::size_t>& permutation) {
    core::Dimensions strides;
    return batch_first && tensor.sizes.size() == permutation.size() ? transposed(tensor, permutation, strides) : tensor;
}

/// Prepends a size of 1, because DirectML's tensor has one more dimension.
core::Dimensions with_one_in_front(const OnnxTensor& tensor) {
    return padded(tensor.sizes, 4);
}

void put_states(OnnxCase& made, const char* field, const OnnxTensor* tensor, bool batch_first, bool is_output) {
    if (tensor != nullptr) {
        const OnnxTensor states = with_steps_first(*tensor, batch_first, {1, 0, 2});
        if (is_output) {
            made.output(field, states, with_one_in_front(states));
        } else {
            made.input(field, states, with_one_in_front(states));
        }
    }
}

core::Result<void> put_lengths(OnnxCase& made, const OnnxTensor* tensor) {
    if (tensor == nullptr) {
        return {};
    }
    OnnxTensor lengths = *tensor;
    for (std::size_t i = 0; i < lengths.count(); ++i) {
        if (lengths.type != core::DataType::int32 || lengths.integer(i) < 0) {
            return core::fail("sequence_lens must be INT32, and not negative");
        }
    }
    lengths.type = core::DataType::uint32;
    made.input("SequenceLengthsTensor", lengths, with_one_in_front(lengths));
    return {};
}

void put_inputs(const OnnxNode& node, OnnxCase& made, bool batch_first, bool is_lstm) {
    enum Input : std::size_t { x, w, r, b, sequence_lens, initial_h, initial_c, p };
    const OnnxTensor input = with_steps_first(*node.input(x), batch_first, {1, 0, 2});
    made.input("InputTensor", input, with_one_in_front(input));
    made.input("WeightTensor", *node.input(w), with_one_in_front(*node.input(w)));
    made.input("RecurrenceTensor", *node.input(r), with_one_in_front(*node.input(r)));
    if (const OnnxTensor* const bias = node.input(b)) {
        made.input("BiasTensor", *bias, with_one_in_front(*bias));
    }
    put_states(made, "HiddenInitTensor", node.input(initial_h), batch_first, false);
    if (is_lstm) {
        put_states(made, "CellMemInitTensor", node.input(initial_c), batch_first, false);
        if (const OnnxTensor* const peepholes = node.input(p)) {
            made.input("PeepholeTensor", *peepholes, with_one_in_front(*peepholes));
        }
    }
}

void put_outputs(const OnnxNode& node, OnnxCase& made, bool batch_first, bool is_lstm) {
    enum Output : std::size_t { y, y_h, y_c };
    if (const OnnxTensor* const all = node.output(y)) {
        made.output("OutputSequenceTensor", with_steps_first(*all, batch_first, {1, 2, 0, 3}));
    }
    put_states(made, "OutputSingleTensor", node.output(y_h), batch_first, true);
    if (is_lstm) {
        put_states(made, "OutputCellSingleTensor", node.output(y_c), batch_first, true);
    }
}

Mapped network_case(const OnnxNode& node, const Network& network) {
    for (std::size_t i = 0; i < 3; ++i) {
        if (node.input(i) == nullptr) {
            return core::fail("X, W or R is absent");
        }
    }
    const bool is_lstm = network.name == "LSTM";
    if (!is_lstm && node.attribute("clip") != nullptr) {
        return core::fail(fmt::format("{} does not clip", network.name));
    }
    const bool batch_first = node.integer("layout", 0) != 0;
    const std::string direction = node.text("direction", "forward");
    const bool both = direction == "bidirectional";
    auto functions = activations_of(node, network, both ? 2 : 1);
    if (!functions) {
        return functions;
    }
    OnnxCase made(network.name);
    put_inputs(node, made, batch_first, is_lstm);
    if (const auto done = put_lengths(made, node.input(4)); !done) {
        return tl::unexpected(done.error());
    }
    put_outputs(node, made, batch_first, is_lstm);
    made.set("ActivationDescs", std::move(*functions));
    made.set("Direction", both ? "BIDIRECTIONAL" : direction == "reverse" ? "BACKWARD" : "FORWARD");
    if (is_lstm) {
        made.set("ClipThreshold", node.number("clip", 0));
        made.set("UseClipThreshold", node.attribute("clip") != nullptr);
        made.set("CoupleInputForget", node.integer("input_forget", 0) != 0);
    } else if (network.name == "GRU") {
        made.set("LinearBeforeReset", node.integer("linear_before_reset", 0) != 0);
    }
    return made.take();
}

Mapped map_recurrent(const OnnxNode& node) {
    return network_case(node, *std::ranges::find(networks, node.type, &Network::name));
}

}  // namespace

std::span<const OnnxMapping> recurrent_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"RNN", map_recurrent, "RNN", "without clip; batches in front (layout) are moved behind the steps"},
        {"GRU", map_recurrent, "GRU", "as RNN"},
        {"LSTM", map_recurrent, "LSTM", "batches in front (layout) are moved behind the steps"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
