// Activation functions.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/interop/export/operator_writer.h"

namespace dmlconform::interop::exporting {
namespace {

using operators::Descriptor;

onnx::AttributeProto number_of(const Descriptor& desc, const char* name, const char* field) {
    return attribute(name, desc.number(field));
}

Value elu(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("Elu", {x}, {number_of(desc, "alpha", "Alpha")});
}

/// Before opset 12 ONNX had no Celu, and FLOAT16 it does not take: max(0, x) + min(0, a (exp(x / a) - 1)).
Value celu(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("Celu", {x}, {number_of(desc, "alpha", "Alpha")});
}

Value hard_sigmoid(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("HardSigmoid", {x}, {number_of(desc, "alpha", "Alpha"), number_of(desc, "beta", "Beta")});
}

/// ONNX's HardSwish has no parameters.
Value hard_swish(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.mul(x, hard_sigmoid(w, desc, x));
}

Value leaky_relu(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("LeakyRelu", {x}, {number_of(desc, "alpha", "Alpha")});
}

Value linear(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.add(w.mul(x, w.like(x, double{desc.number("Alpha")})), w.like(x, double{desc.number("Beta")}));
}

Value softplus(ModelWriter& w, const Descriptor& desc, const Value& x) {
    const double steepness = desc.number("Steepness");
    if (steepness == 1) {
        return w.each("Softplus", {x});
    }
    return w.div(w.each("Softplus", {w.mul(x, w.like(x, steepness))}), w.like(x, steepness));
}

Value parametric_softplus(ModelWriter& w, const Descriptor& desc, const Value& x) {
    const Value inner = w.each("Softplus", {w.mul(x, w.like(x, double{desc.number("Beta")}))});
    return w.mul(inner, w.like(x, double{desc.number("Alpha")}));
}

Value relu(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return w.each("Relu", {x});
}

Value scaled_elu(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("Selu", {x}, {number_of(desc, "alpha", "Alpha"), number_of(desc, "gamma", "Gamma")});
}

Value scaled_tanh(ModelWriter& w, const Descriptor& desc, const Value& x) {
    const Value inner = w.each("Tanh", {w.mul(x, w.like(x, double{desc.number("Beta")}))});
    return w.mul(inner, w.like(x, double{desc.number("Alpha")}));
}

Value sigmoid(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return w.each("Sigmoid", {x});
}

Value softsign(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return w.each("Softsign", {x});
}

Value thresholded_relu(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("ThresholdedRelu", {x}, {number_of(desc, "alpha", "Alpha")});
}

Value shrink(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return w.each("Shrink", {x}, {number_of(desc, "bias", "Bias"), number_of(desc, "lambd", "Threshold")});
}

/// Half of x * (1 + erf(x / sqrt(2))), which is a node from opset 20 on.
Value gelu(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    if (w.opset() >= 20) {
        return w.each("Gelu", {x});
    }
    const Value share = w.add(w.each("Erf", {w.mul(x, w.like(x, std::sqrt(0.5)))}), w.like(x, 1));
    return w.mul(w.mul(x, w.like(x, 0.5)), share);
}

Value swish(ModelWriter& w, const Descriptor& desc, const Value& x) {
    const double scale = desc.number("SigmoidInputScale");
    return w.mul(x, w.each("Sigmoid", {scale == 1 ? x : w.mul(x, w.like(x, scale))}));
}

void write_parameterized_relu(OperatorWriter& to) {
    to.out("OutputTensor", to.w.each("PRelu", {to.in("InputTensor"), to.in("SlopeTensor")}));
}

void write_relu_grad(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const Value gradient = to.in("InputGradientTensor");
    to.out("OutputGradientTensor",
           to.w.where(to.w.test("Greater", {x, to.w.like(x, 0)}), gradient, to.w.like(gradient, 0)));
}

/// Along the axes, which are the last ones behind a transposition where they are not so already.
Value along(ModelWriter& w, const char* node, const Value& x, const Numbers& axes) {
    if (axes.size() == 1) {
        return w.each(node, {x}, {attribute("axis", axes.front())});
    }
    Numbers order;
    core::Dimensions flat;
    std::uint32_t size = 1;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(x.rank()); ++d) {
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
            order.push_back(d);
            flat.push_back(x.sizes[static_cast<std::size_t>(d)]);
        }
    }
    // Among equal elements, the first one in memory counts.
    for (const std::int64_t axis : axes) {
        order.push_back(axis);
        size *= x.sizes[static_cast<std::size_t>(axis)];
    }
    flat.push_back(size);
    const Value moved = w.transpose(x, order);
    const Value made =
        w.each(node, {w.reshape(moved, flat)}, {attribute("axis", static_cast<std::int64_t>(flat.size()) - 1)});
    return w.transpose(w.reshape(made, moved.sizes), inverse_of(order));
}

constexpr char node_softmax[] = "Softmax";
constexpr char node_log_softmax[] = "LogSoftmax";
constexpr char node_hardmax[] = "Hardmax";

/// Along the axes that the descriptor lists; without a list, along the last dimension.
template <const char* node>
Value along_listed(ModelWriter& w, const Descriptor& desc, const Value& x) {
    return along(w, node, x, axes_of(desc));
}
template <const char* node>
Value along_last(ModelWriter& w, const Descriptor& /*desc*/, const Value& x) {
    return along(w, node, x, counted(1, static_cast<std::int64_t>(x.rank()) - 1));
}

constexpr std::array<OperatorExport, 25> activation_rows{{
    {"ACTIVATION_ELU", nullptr, elu},
    {"ACTIVATION_CELU", nullptr, celu},
    {"ACTIVATION_HARDMAX", nullptr, along_last<node_hardmax>},
    {"ACTIVATION_HARDMAX1", nullptr, along_listed<node_hardmax>},
    {"ACTIVATION_HARD_SIGMOID", nullptr, hard_sigmoid},
    {"ACTIVATION_HARD_SWISH", nullptr, hard_swish, nullptr, true},
    {"ACTIVATION_LEAKY_RELU", nullptr, leaky_relu},
    {"ACTIVATION_LINEAR", nullptr, linear, nullptr, true},
    {"ACTIVATION_LOG_SOFTMAX", nullptr, along_last<node_log_softmax>},
    {"ACTIVATION_LOG_SOFTMAX1", nullptr, along_listed<node_log_softmax>},
    {"ACTIVATION_PARAMETERIZED_RELU", write_parameterized_relu},
    {"ACTIVATION_PARAMETRIC_SOFTPLUS", nullptr, parametric_softplus, nullptr, true},
    {"ACTIVATION_RELU", nullptr, relu},
    {"ACTIVATION_RELU_GRAD", write_relu_grad},
    {"ACTIVATION_SCALED_ELU", nullptr, scaled_elu},
    {"ACTIVATION_SCALED_TANH", nullptr, scaled_tanh, nullptr, true},
    {"ACTIVATION_SIGMOID", nullptr, sigmoid},
    {"ACTIVATION_SOFTMAX", nullptr, along_last<node_softmax>},
    {"ACTIVATION_SOFTMAX1", nullptr, along_listed<node_softmax>},
    {"ACTIVATION_SOFTPLUS", nullptr, softplus, nullptr, true},
    {"ACTIVATION_SOFTSIGN", nullptr, softsign},
    {"ACTIVATION_THRESHOLDED_RELU", nullptr, thresholded_relu},
    {"ACTIVATION_SHRINK", nullptr, shrink},
    {"ACTIVATION_GELU", nullptr, gelu, nullptr, true},
    {"ACTIVATION_SWISH", nullptr, swish, nullptr, true},
}};

}  // namespace

std::span<const OperatorExport> activation_exports() {
    return activation_rows;
}

}  // namespace dmlconform::interop::exporting
