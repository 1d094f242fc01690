// Functions of one element, and of two or three that are broadcast.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

struct Parameter {
    const char* field = nullptr;
    const char* attribute = nullptr;
    float otherwise = 0;
};

struct Unary {
    const char* onnx = nullptr;
    const char* directml = nullptr;
    std::array<Parameter, 2> parameters{};
};

const std::array<Unary, 38> unary_operators{{
    {"Abs", "ELEMENT_WISE_ABS"},
    {"Acos", "ELEMENT_WISE_ACOS"},
    {"Acosh", "ELEMENT_WISE_ACOSH"},
    {"Asin", "ELEMENT_WISE_ASIN"},
    {"Asinh", "ELEMENT_WISE_ASINH"},
    {"Atan", "ELEMENT_WISE_ATAN"},
    {"Atanh", "ELEMENT_WISE_ATANH"},
    {"BitwiseNot", "ELEMENT_WISE_BIT_NOT"},
    {"Cast", "CAST"},
    {"Ceil", "ELEMENT_WISE_CEIL"},
    {"Cos", "ELEMENT_WISE_COS"},
    {"Cosh", "ELEMENT_WISE_COSH"},
    {"Elu", "ACTIVATION_ELU", {{{"Alpha", "alpha", 1}}}},
    {"Erf", "ELEMENT_WISE_ERF"},
    {"Exp", "ELEMENT_WISE_EXP"},
    {"Floor", "ELEMENT_WISE_FLOOR"},
    {"HardSigmoid", "ACTIVATION_HARD_SIGMOID", {{{"Alpha", "alpha", 0.2F}, {"Beta", "beta", 0.5F}}}},
    {"Identity", "ELEMENT_WISE_IDENTITY"},
    {"IsNaN", "ELEMENT_WISE_IS_NAN"},
    {"LeakyRelu", "ACTIVATION_LEAKY_RELU", {{{"Alpha", "alpha", 0.01F}}}},
    {"Log", "ELEMENT_WISE_LOG"},
    {"Neg", "ELEMENT_WISE_NEGATE"},
    {"Not", "ELEMENT_WISE_LOGICAL_NOT"},
    {"Reciprocal", "ELEMENT_WISE_RECIP"},
    {"Relu", "ACTIVATION_RELU"},
    {"Selu", "ACTIVATION_SCALED_ELU", {{{"Alpha", "alpha", 1.67326319F}, {"Gamma", "gamma", 1.05070102F}}}},
    {"Sigmoid", "ACTIVATION_SIGMOID"},
    {"Sign", "ELEMENT_WISE_SIGN"},
    {"Sin", "ELEMENT_WISE_SIN"},
    {"Sinh", "ELEMENT_WISE_SINH"},
    {"Softplus", "ACTIVATION_SOFTPLUS", {{{"Steepness", "steepness", 1}}}},
    {"Softsign", "ACTIVATION_SOFTSIGN"},
    {"Sqrt", "ELEMENT_WISE_SQRT"},
    {"Tan", "ELEMENT_WISE_TAN"},
    {"Tanh", "ACTIVATION_TANH"},
    {"ThresholdedRelu", "ACTIVATION_THRESHOLDED_RELU", {{{"Alpha", "alpha", 1}}}},
    // These give the elements other sizes, which is nothing to DirectML.
    {"Flatten", "ELEMENT_WISE_IDENTITY"},
    {"Reshape", "ELEMENT_WISE_IDENTITY"},
}};

struct Binary {
    const char* onnx = nullptr;
    const char* directml = nullptr;
    std::array<const char*, 3> inputs{"ATensor", "BTensor", nullptr};
};

const std::array<Binary, 21> broadcast_operators{{
    {"Add", "ELEMENT_WISE_ADD"},
    {"And", "ELEMENT_WISE_LOGICAL_AND"},
    {"BitwiseAnd", "ELEMENT_WISE_BIT_AND"},
    {"BitwiseOr", "ELEMENT_WISE_BIT_OR"},
    {"BitwiseXor", "ELEMENT_WISE_BIT_XOR"},
    {"Div", "ELEMENT_WISE_DIVIDE"},
    {"Equal", "ELEMENT_WISE_LOGICAL_EQUALS"},
    {"Greater", "ELEMENT_WISE_LOGICAL_GREATER_THAN"},
    {"GreaterOrEqual", "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL"},
    {"Less", "ELEMENT_WISE_LOGICAL_LESS_THAN"},
    {"LessOrEqual", "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL"},
    {"Max", "ELEMENT_WISE_MAX"},
    {"Mean", "ELEMENT_WISE_MEAN"},
    {"Min", "ELEMENT_WISE_MIN"},
    {"Mul", "ELEMENT_WISE_MULTIPLY"},
    {"Or", "ELEMENT_WISE_LOGICAL_OR"},
    {"Pow", "ELEMENT_WISE_POW", {"InputTensor", "ExponentTensor", nullptr}},
    {"PRelu", "ACTIVATION_PARAMETERIZED_RELU", {"InputTensor", "SlopeTensor", nullptr}},
    {"Sub", "ELEMENT_WISE_SUBTRACT"},
    {"Where", "ELEMENT_WISE_IF", {"ConditionTensor", "ATensor", "BTensor"}},
    {"Xor", "ELEMENT_WISE_LOGICAL_XOR"},
}};

Mapped map_unary(const OnnxNode& node, const Unary& unary) {
    const OnnxTensor& output = *node.output(0);
    if (node.input(0) == nullptr || node.input(0)->count() != output.count()) {
        return core::fail("input and output have different numbers of elements");
    }
    OnnxCase result(unary.directml);
    result.input("InputTensor", *node.input(0), output.sizes).output("OutputTensor", output);
    for (const Parameter& parameter : unary.parameters) {
        if (parameter.field != nullptr) {
            result.set(parameter.field, node.number(parameter.attribute, parameter.otherwise));
        }
    }
    return result.take();
}

Mapped map_broadcast(const OnnxNode& node, const Binary& binary) {
    const auto count = static_cast<std::size_t>(
        std::count_if(binary.inputs.begin(), binary.inputs.end(), [](const char* field) { return field != nullptr; }));
    if (node.inputs.size() != count) {
        return core::fail(
            fmt::format("{} has {} inputs; {} takes {}", node.type, node.inputs.size(), binary.directml, count));
    }
    const OnnxTensor& output = *node.output(0);
    OnnxCase result(binary.directml);
    for (std::size_t i = 0; i < count; ++i) {
        if (node.input(i) == nullptr) {
            return core::fail("an input is absent");
        }
        core::Dimensions strides;
        const auto shown = broadcast(*node.input(i), output.sizes, strides);
        if (!shown) {
            return tl::unexpected(shown.error());
        }
        if (node.input(i)->sizes == output.sizes) {
            result.input(binary.inputs[i], *shown);
        } else {
            result.strided_input(binary.inputs[i], *shown, strides);
        }
    }
    result.output("OutputTensor", output);
    return result.take();
}

}  // namespace

std::optional<Mapped> map_element_wise(const OnnxNode& node) {
    for (const Unary& unary : unary_operators) {
        if (node.type == unary.onnx) {
            return map_unary(node, unary);
        }
    }
    for (const Binary& binary : broadcast_operators) {
        if (node.type == binary.onnx) {
            return map_broadcast(node, binary);
        }
    }
    return std::nullopt;
}

}  // namespace dmlconform::interop
