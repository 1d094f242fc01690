// Types and sizes of element-wise functions: broadcasting, comparisons, casts, quantisation.
#include "engine/interop/onnx_result_rules.h"

#include <algorithm>
#include <cstdlib>

#include "engine/core/element.h"

namespace dmlconform::interop {
namespace {

using Result = core::Result<OnnxTensor>;

Result like_first(const OnnxNode& node) {
    return sized(node.input(0)->onnx_sizes(), *node.input(0));
}

Result broadcast_first(const OnnxNode& node) {
    return broadcast_result(node, 0);
}

Result chosen(const OnnxNode& node) {
    return broadcast_result(node, 1);
}

Result compared(const OnnxNode& node) {
    const OnnxTensor boolean{core::DataType::uint8, {1}, {}, true, false};
    const auto sizes = broadcast_result(node, 0);
    return sizes ? sized(sizes->onnx_sizes(), boolean) : sizes;
}

Result cast(const OnnxNode& node) {
    constexpr std::int64_t onnx_bool = 9;
    const std::int64_t to = node.integer("to", 0);
    const auto type = onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(to, 0, 0xffff)));
    return type ? sized(node.input(0)->onnx_sizes(), OnnxTensor{*type, {1}, {}, to == onnx_bool, false})
                : tl::unexpected(type.error());
}

Result boolean_like_first(const OnnxNode& node) {
    return unknown_tensor(core::DataType::uint8, node.input(0)->onnx_sizes(), true);
}

Result cast_like(const OnnxNode& node) {
    return node.input(1) == nullptr ? Result(core::fail("CastLike without a type"))
                                    : sized(node.input(0)->onnx_sizes(), *node.input(1));
}

Result typed_like(const OnnxNode& node) {
    if (node.attribute("dtype") == nullptr) {
        return like_first(node);
    }
    const auto type = onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(node.integer("dtype", 0), 0, 0xffff)));
    return type ? sized(node.input(0)->onnx_sizes(), *type) : tl::unexpected(type.error());
}

/// UINT8 unless the zero point or an attribute specifies another type.
Result quantised(const OnnxNode& node) {
    const OnnxTensor* zero_point = node.input(2);
    if (zero_point != nullptr) {
        return sized(node.input(0)->onnx_sizes(), *zero_point);
    }
    const std::int64_t given = node.integer("output_dtype", 0);
    const auto type = given == 0 ? core::Result<core::DataType>(core::DataType::uint8)
                                 : onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(given, 0, 0xffff)));
    return type ? sized(node.input(0)->onnx_sizes(), *type) : tl::unexpected(type.error());
}

Result dequantised(const OnnxNode& node) {
    return node.input(1) == nullptr ? Result(core::fail("DequantizeLinear without a scale"))
                                    : sized(node.input(0)->onnx_sizes(), *node.input(1));
}

}  // namespace

core::Result<OnnxTensor> broadcast_result(const OnnxNode& node, std::size_t typed) {
    core::Dimensions sizes;
    for (const auto& input : node.inputs) {
        if (!input) {
            return core::fail("an input is absent");
        }
        const core::Dimensions own = input->onnx_sizes();
        sizes = padded(sizes, own.size());
        for (std::size_t back = 1; back <= own.size(); ++back) {
            const std::uint32_t size = own[own.size() - back];
            std::uint32_t& other = sizes[sizes.size() - back];
            if (size != other && size != 1 && other != 1) {
                return core::fail("the inputs cannot be broadcast to each other");
            }
            other = std::max(size, other);
        }
    }
    return node.input(typed) == nullptr ? Result(core::fail("an input is absent")) : sized(sizes, *node.input(typed));
}

std::span<const OnnxResultRule> element_result_rules() {
    static const OnnxResultRule rules[] = {
        {like_first,
         {"Abs",
          "Acos",
          "Acosh",
          "Asin",
          "Asinh",
          "Atan",
          "Atanh",
          "BatchNormalization",
          "BitwiseNot",
          "Ceil",
          "Celu",
          "Clip",
          "Cos",
          "Cosh",
          "CumProd",
          "CumSum",
          "Elu",
          "Erf",
          "Exp",
          "Floor",
          "Gelu",
          "GroupNormalization",
          "HardSigmoid",
          "HardSwish",
          "Hardmax",
          "Identity",
          "LRN",
          "InstanceNormalization",
          "LeakyRelu",
          "LayerNormalization",
          "Log",
          "LogSoftmax",
          "LpNormalization",
          "MeanVarianceNormalization",
          "Mish",
          "Neg",
          "Not",
          "PRelu",
          "RMSNormalization",
          "Reciprocal",
          "Relu",
          "ReverseSequence",
          "Round",
          "Scatter",
          "ScatterElements",
          "ScatterND",
          "Selu",
          "Shrink",
          "Sigmoid",
          "Sign",
          "Sin",
          "Sinh",
          "Softmax",
          "Softplus",
          "Softsign",
          "Sqrt",
          "Swish",
          "Tan",
          "Tanh",
          "ThresholdedRelu",
          "Trilu"}},
        {broadcast_first,
         {"Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Max", "Mean", "Min", "Mod", "Mul",
          "Or", "Pow", "Sub", "Sum", "Xor"}},
        {chosen, {"Where"}},
        {compared, {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}},
        {cast, {"Cast"}},
        {boolean_like_first, {"IsNaN", "IsInf"}},
        {cast_like, {"CastLike"}},
        {typed_like, {"Bernoulli", "EyeLike", "RandomNormalLike", "RandomUniformLike"}},
        {quantised, {"QuantizeLinear"}},
        {dequantised, {"DequantizeLinear"}},
    };
    return rules;
}

}  // namespace dmlconform::interop
