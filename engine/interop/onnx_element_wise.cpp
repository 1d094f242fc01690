// Element-wise functions of one, two or three inputs, which are broadcast.
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

/// An attribute of DirectML's operator: the value of ONNX's attribute, or a constant if ONNX has none.
struct Parameter {
    const char* field = nullptr;
    const char* attribute = nullptr;
    float otherwise = 0;
};

struct Unary {
    std::string_view onnx;
    const char* directml = nullptr;
    std::array<Parameter, 2> parameters{};
    std::string_view remark = {};
};

const std::array<Unary, 45> unary_operators{{
    {"Abs", "ELEMENT_WISE_ABS"},
    {"Acos", "ELEMENT_WISE_ACOS"},
    {"Acosh", "ELEMENT_WISE_ACOSH"},
    {"Asin", "ELEMENT_WISE_ASIN"},
    {"Asinh", "ELEMENT_WISE_ASINH"},
    {"Atan", "ELEMENT_WISE_ATAN"},
    {"Atanh", "ELEMENT_WISE_ATANH"},
    {"BitwiseNot", "ELEMENT_WISE_BIT_NOT"},
    {"Cast", "CAST", {}, "to BOOL: ELEMENT_WISE_LOGICAL_EQUALS and ELEMENT_WISE_LOGICAL_NOT"},
    {"CastLike", "CAST", {}, "as Cast"},
    {"Ceil", "ELEMENT_WISE_CEIL"},
    {"Celu", "ACTIVATION_CELU", {{{"Alpha", "alpha", 1}}}},
    {"Cos", "ELEMENT_WISE_COS"},
    {"Cosh", "ELEMENT_WISE_COSH"},
    {"Elu", "ACTIVATION_ELU", {{{"Alpha", "alpha", 1}}}},
    {"Erf", "ELEMENT_WISE_ERF"},
    {"Exp", "ELEMENT_WISE_EXP"},
    {"Floor", "ELEMENT_WISE_FLOOR"},
    {"HardSigmoid", "ACTIVATION_HARD_SIGMOID", {{{"Alpha", "alpha", 0.2F}, {"Beta", "beta", 0.5F}}}},
    {"HardSwish", "ACTIVATION_HARD_SWISH", {{{"Alpha", nullptr, 1.0F / 6}, {"Beta", nullptr, 0.5F}}}},
    {"Identity", "ELEMENT_WISE_IDENTITY"},
    {"IsNaN", "ELEMENT_WISE_IS_NAN"},
    {"LeakyRelu", "ACTIVATION_LEAKY_RELU", {{{"Alpha", "alpha", 0.01F}}}},
    {"Log", "ELEMENT_WISE_LOG"},
    {"Neg", "ELEMENT_WISE_NEGATE"},
    {"Not", "ELEMENT_WISE_LOGICAL_NOT"},
    {"Reciprocal", "ELEMENT_WISE_RECIP"},
    {"Relu", "ACTIVATION_RELU"},
    {"Selu", "ACTIVATION_SCALED_ELU", {{{"Alpha", "alpha", 1.67326319F}, {"Gamma", "gamma", 1.05070102F}}}},
    {"Shrink", "ACTIVATION_SHRINK", {{{"Bias", "bias", 0}, {"Threshold", "lambd", 0.5F}}}},
    {"Sigmoid", "ACTIVATION_SIGMOID"},
    {"Sign", "ELEMENT_WISE_SIGN"},
    {"Sin", "ELEMENT_WISE_SIN"},
    {"Sinh", "ELEMENT_WISE_SINH"},
    {"Softplus", "ACTIVATION_SOFTPLUS", {{{"Steepness", "steepness", 1}}}},
    {"Softsign", "ACTIVATION_SOFTSIGN"},
    {"Sqrt", "ELEMENT_WISE_SQRT"},
    {"Swish", "ACTIVATION_SWISH", {{{"SigmoidInputScale", "alpha", 1}}}},
    {"Tan", "ELEMENT_WISE_TAN"},
    {"Tanh", "ACTIVATION_TANH"},
    {"ThresholdedRelu", "ACTIVATION_THRESHOLDED_RELU", {{{"Alpha", "alpha", 1}}}},
    // These only change sizes, so DirectML copies.
    {"Flatten", "ELEMENT_WISE_IDENTITY"},
    {"Reshape", "ELEMENT_WISE_IDENTITY"},
    {"Squeeze", "ELEMENT_WISE_IDENTITY"},
    {"Unsqueeze", "ELEMENT_WISE_IDENTITY"},
}};

struct Binary {
    std::string_view onnx;
    const char* directml = nullptr;
    const char* first = "ATensor";
    const char* second = "BTensor";
};

const std::array<Binary, 21> binary_operators{{
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
    {"Pow", "ELEMENT_WISE_POW", "InputTensor", "ExponentTensor"},
    {"PRelu", "ACTIVATION_PARAMETERIZED_RELU", "InputTensor", "SlopeTensor"},
    {"Sub", "ELEMENT_WISE_SUBTRACT"},
    {"Sum", "ELEMENT_WISE_ADD"},
    {"Xor", "ELEMENT_WISE_LOGICAL_XOR"},
}};

/// A cast to BOOL tests whether the number is not 0; a cast to UINT8 truncates.
Mapped map_unary(const OnnxNode& node, const Unary& unary) {
    if (std::string_view(unary.directml) == "CAST" && node.output(0)->is_bool &&
        (node.input(0) == nullptr || !node.input(0)->is_bool)) {
        return core::fail("a cast to BOOL says whether a number is other than 0, one to UINT8 does not");
    }
    auto result = unary_case(node, unary.directml);
    if (!result) {
        return tl::unexpected(result.error());
    }
    for (const Parameter& parameter : unary.parameters) {
        if (parameter.field != nullptr) {
            result->set(parameter.field, parameter.attribute == nullptr
                                             ? parameter.otherwise
                                             : node.number(parameter.attribute, parameter.otherwise));
        }
    }
    return result->take();
}

/// The minimum, sum, … of a single tensor is the tensor.
bool is_of_one(const OnnxNode& node) {
    return node.inputs.size() == 1 &&
           (node.type == "Max" || node.type == "Mean" || node.type == "Min" || node.type == "Sum");
}

Mapped map_where(const OnnxNode& node) {
    return broadcast_case(node, "ELEMENT_WISE_IF", {"ConditionTensor", "ATensor", "BTensor"});
}

Mapped map_unary_node(const OnnxNode& node) {
    return map_unary(node, *std::ranges::find(unary_operators, node.type, &Unary::onnx));
}

Mapped map_binary_node(const OnnxNode& node) {
    if (is_of_one(node)) {
        return broadcast_case(node, "ELEMENT_WISE_IDENTITY", {"InputTensor"});
    }
    const Binary& binary = *std::ranges::find(binary_operators, node.type, &Binary::onnx);
    return broadcast_case(node, binary.directml, {binary.first, binary.second});
}

}  // namespace

std::span<const OnnxMapping> element_wise_mappings() {
    static const std::vector<OnnxMapping> mappings = [] {
        std::vector<OnnxMapping> all{{"Where", map_where, "ELEMENT_WISE_IF"}};
        for (const Unary& unary : unary_operators) {
            all.push_back({unary.onnx, map_unary_node, unary.directml, unary.remark});
        }
        for (const Binary& binary : binary_operators) {
            all.push_back({binary.onnx, map_binary_node, binary.directml});
        }
        return all;
    }();
    return mappings;
}

}  // namespace dmlconform::interop
