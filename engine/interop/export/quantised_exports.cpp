// Quantisation, and operators on quantised numbers.
#include <fmt/format.h>

#include <array>

#include "engine/interop/export/operator_writer.h"

namespace dmlconform::interop::exporting {
namespace {

/// Scale or zero point as ONNX's quantising nodes have them.
struct Parameter {
    Value value;
    /// Along which dimension there are several; negative: there is one.
    std::int64_t axis = -1;
};

/// The parameter of a tensor with `rank` dimensions, the last of which are those of `compact`. Empty if the numbers
/// vary along several dimensions.
std::optional<Parameter> parameter_of(OperatorWriter& to, const Value& compact, std::size_t rank) {
    std::int64_t axis = -1;
    for (std::size_t d = 0; d < compact.rank(); ++d) {
        if (compact.sizes[d] > 1) {
            if (axis >= 0) {
                return std::nullopt;
            }
            axis = static_cast<std::int64_t>(d);
        }
    }
    return Parameter{
        to.w.reshape(compact,
                     axis < 0 ? core::Dimensions{} : core::Dimensions{compact.sizes[static_cast<std::size_t>(axis)]}),
        axis < 0 ? axis : axis + static_cast<std::int64_t>(rank) - static_cast<std::int64_t>(compact.rank())};
}

/// Zero points that are absent count as this.
Value zero_points_or(OperatorWriter& to, const Value& given, int type, double otherwise) {
    return given.is_absent() ? to.w.scalar(type, otherwise) : given;
}

/// round(x / scale) + zero point within the range of the type, step by step.
Value quantised_by_steps(ModelWriter& w, const Value& x, const Value& scale, const Value& zero_point, int type) {
    const Value real = w.cast(x, onnx_float32);
    const Value rounded = w.each("Round", {w.div(real, w.cast(scale, onnx_float32))});
    const Value moved = w.add(rounded, w.cast(zero_point, onnx_float32));
    const Value within = within_range(w, moved, type);
    // 0 / 0 becomes 0, which Min and Cast do not say.
    return w.cast(w.where(w.test("IsNaN", {moved}), w.like(moved, 0), within), type);
}

Value quantised(OperatorWriter& to, const Value& x, const Value& scale, const Value& zero_point, int type) {
    ModelWriter& w = to.w;
    const auto scales = parameter_of(to, scale, x.rank());
    const auto zeros = parameter_of(to, zero_point, x.rank());
    const bool fits = scales && zeros && (zeros->axis == scales->axis || zeros->axis < 0) &&
                      takes_type("QuantizeLinear", w.opset(), 0, x.type) &&
                      takes_type("QuantizeLinear", w.opset(), 1, scale.type) &&
                      takes_type("QuantizeLinear", w.opset(), 2, type) && zero_point.type == type;
    if (!fits) {
        return quantised_by_steps(w, x, scale, zero_point, type);
    }
    const Value list = zeros->axis == scales->axis ? zeros->value : w.expand(zeros->value, scales->value.sizes);
    ModelWriter::Attributes attributes;
    if (scales->axis >= 0) {
        attributes.push_back(attribute("axis", scales->axis));
    }
    return w.node("QuantizeLinear", {x, scales->value, list}, type, x.sizes, attributes);
}

/// (x - zero point) * scale
Value dequantised(OperatorWriter& to, const Value& x, const Value& scale, const Value& zero_point) {
    ModelWriter& w = to.w;
    const auto scales = parameter_of(to, scale, x.rank());
    const auto zeros = parameter_of(to, zero_point, x.rank());
    const bool fits = scales && zeros && (zeros->axis == scales->axis || zeros->axis < 0) && x.type != onnx_int32 &&
                      takes_type("DequantizeLinear", w.opset(), 0, x.type) &&
                      takes_type("DequantizeLinear", w.opset(), 1, scale.type) && zero_point.type == x.type;
    if (!fits) {
        const Value real = w.sub(w.cast(x, onnx_float32), w.cast(zero_point, onnx_float32));
        return w.mul(real, w.cast(scale, onnx_float32));
    }
    const Value list = zeros->axis == scales->axis ? zeros->value : w.expand(zeros->value, scales->value.sizes);
    ModelWriter::Attributes attributes;
    if (scales->axis >= 0) {
        attributes.push_back(attribute("axis", scales->axis));
    }
    return w.node("DequantizeLinear", {x, scales->value, list}, scale.type, x.sizes, attributes);
}

void write_quantize_linear(OperatorWriter& to) {
    const int type = to.type("OutputTensor");
    const Value zeros = zero_points_or(to, to.compact("ZeroPointTensor"), type, 0);
    to.out("OutputTensor", quantised(to, to.in("InputTensor"), to.compact("ScaleTensor"), zeros, type));
}

void write_dequantize_linear(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const Value zeros = zero_points_or(to, to.compact("ZeroPointTensor"), x.type, 0);
    to.out("OutputTensor", dequantised(to, x, to.compact("ScaleTensor"), zeros));
}

/// Scales and zero points for blocks of elements, each repeated for its block.
Value for_each_element(OperatorWriter& to, const Value& blocks, const core::Dimensions& sizes) {
    Value result = blocks;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (result.sizes[d] != 1 && result.sizes[d] != sizes[d]) {
            Numbers from;
            const std::int64_t length = std::int64_t{sizes[d]} / result.sizes[d];
            for (std::int64_t i = 0; i < std::int64_t{sizes[d]}; ++i) {
                from.push_back(i / length);
            }
            result = to.w.gather(result, to.w.list(from), d);
        }
    }
    return result;
}

/// The middle of an unsigned type's range counts as 0 where there is no zero point.
double middle_of(int type) {
    return type == onnx_uint8 ? 128 : type == 4 ? 32768 : type == onnx_uint32 ? 0x1p31 : 0;
}

struct Quantisation {
    Value scale;
    Value zero_point;
};

/// DML_QUANTIZATION_TYPE: none, scale, scale and zero point.
Quantisation quantisation_of(OperatorWriter& to, const core::Dimensions& sizes, int type) {
    const std::size_t count = to.desc.get<operators::TensorDescArray>("QuantizationTensors").items.size();
    const auto tensor = [&](const char* name) { return for_each_element(to, to.compact(name), sizes); };
    if (count == 0) {
        to.fail("there is neither a scale nor a zero point");
        return {to.w.scalar(onnx_float32, 1), to.w.scalar(type, 0)};
    }
    return {tensor("QuantizationTensors[0]"),
            count > 1 ? tensor("QuantizationTensors[1]") : to.w.scalar(type, middle_of(type))};
}

void write_quantize(OperatorWriter& to) {
    const int type = to.type("OutputTensor");
    const Quantisation by = quantisation_of(to, to.sizes("OutputTensor"), type);
    to.out("OutputTensor", quantised(to, to.in("InputTensor"), by.scale, by.zero_point, type));
}

void write_dequantize(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const Quantisation by = quantisation_of(to, x.sizes, x.type);
    to.out("OutputTensor", dequantised(to, x, by.scale, by.zero_point));
}

// ---- quantised operators -----------------------------------------------------------------------------------------

/// "A" has ATensor, AScaleTensor and AZeroPointTensor.
Value operand(OperatorWriter& to, const std::string& prefix, const std::string& tensor) {
    const Value x = to.in(tensor);
    const Value zeros = zero_points_or(to, to.compact(prefix + "ZeroPointTensor"), x.type, 0);
    return dequantised(to, x, to.compact(prefix + "ScaleTensor"), zeros);
}

void put_quantised(OperatorWriter& to, const Value& x) {
    const int type = to.type("OutputTensor");
    const Value zeros = zero_points_or(to, to.compact("OutputZeroPointTensor"), type, 0);
    to.out("OutputTensor", quantised(to, x, to.compact("OutputScaleTensor"), zeros, type));
}

void write_quantized_add(OperatorWriter& to) {
    put_quantised(to, to.w.add(operand(to, "A", "ATensor"), operand(to, "B", "BTensor")));
}

void write_quantized_average(OperatorWriter& to) {
    if (has_empty_window(to)) {
        to.fail("the average of a window without elements is not a number, which is not quantised");
        return;
    }
    put_quantised(to, average_of(to, operand(to, "Input", "InputTensor"), to.sizes("OutputTensor")));
}

void write_dynamic_quantize(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const int type = to.type("OutputTensor");
    const Value x = to.precise("InputTensor");
    if (type == onnx_uint8) {
        const auto made = w.node("DynamicQuantizeLinear", {x},
                                 std::vector<Value>{{"", type, x.sizes}, {"", onnx_float32, {}}, {"", type, {}}});
        to.out("OutputTensor", made[0]);
        to.out("OutputScaleTensor", made[1]);
        to.out("OutputZeroPointTensor", made[2]);
        return;
    }
    to.fail("ONNX quantises dynamically to UINT8 only");
}

// ---- products of integers ----------------------------------------------------------------------------------------

/// The zero points of rows or columns as ONNX has them: one number, or a list.
Value zero_points(OperatorWriter& to, const char* name, int type) {
    const Value compact = to.compact(name);
    if (compact.is_absent()) {
        return to.w.scalar(type, 0);
    }
    const auto parameter = parameter_of(to, compact, compact.rank());
    if (!parameter) {
        to.fail("zero points differ along several dimensions");
        return compact;
    }
    return parameter->value;
}

/// The product of what the factors are beyond their zero points, as INT32.
Value integer_product(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const auto factor = [&](const char* name, const char* zeros) {
        const Value x = w.cast(to.in(name), onnx_int32);
        return to.has(zeros) ? w.sub(x, w.cast(to.in(zeros), onnx_int32)) : x;
    };
    return w.matmul(factor("ATensor", "AZeroPointTensor"), factor("BTensor", "BZeroPointTensor"));
}

/// Whether the parameter is one number.
bool is_single(OperatorWriter& to, const char* name) {
    return !to.has(name) || to.compact(name).count() == 1;
}

/// Where there is one zero point of each factor.
Value product_of_node(OperatorWriter& to) {
    const Value a = to.in("ATensor");
    const Value b = to.in("BTensor");
    return to.w.node("MatMulInteger",
                     {a, b, zero_points(to, "AZeroPointTensor", a.type), zero_points(to, "BZeroPointTensor", b.type)},
                     onnx_int32, to.sizes("OutputTensor"));
}

void write_matmul_integer(OperatorWriter& to) {
    const bool singles = is_single(to, "AZeroPointTensor") && is_single(to, "BZeroPointTensor");
    to.out("OutputTensor", singles ? product_of_node(to) : integer_product(to));
}

void write_quantized_matmul(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const bool singles = is_single(to, "AScaleTensor") && is_single(to, "AZeroPointTensor") &&
                         is_single(to, "BScaleTensor") && is_single(to, "BZeroPointTensor") &&
                         is_single(to, "OutputScaleTensor") && is_single(to, "OutputZeroPointTensor");
    if (!singles) {
        const Value sums = w.cast(integer_product(to), onnx_float32);
        put_quantised(to, w.mul(w.mul(sums, to.in("AScaleTensor")), to.in("BScaleTensor")));
        return;
    }
    std::vector<Value> inputs;
    for (const char* prefix : {"A", "B"}) {
        const Value x = to.in(fmt::format("{}Tensor", prefix));
        inputs.push_back(x);
        inputs.push_back(w.reshape(to.compact(fmt::format("{}ScaleTensor", prefix)), {}));
        inputs.push_back(zero_points(to, fmt::format("{}ZeroPointTensor", prefix).c_str(), x.type));
    }
    const int type = to.type("OutputTensor");
    inputs.push_back(w.reshape(to.compact("OutputScaleTensor"), {}));
    inputs.push_back(zero_points(to, "OutputZeroPointTensor", type));
    to.out("OutputTensor", w.node("QLinearMatMul", inputs, type, to.sizes("OutputTensor")));
}

void write_matmul_integer_to_float(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const bool singles = is_single(to, "AZeroPointTensor") && is_single(to, "BZeroPointTensor");
    Value made = w.cast(singles ? product_of_node(to) : integer_product(to), onnx_float32);
    made = w.mul(w.mul(made, to.precise("AScaleTensor")), to.precise("BScaleTensor"));
    to.out("OutputTensor", to.has("BiasTensor") ? w.add(made, to.precise("BiasTensor")) : made);
}

/// Two entries for one dimension, too: the last ones.
ModelWriter::Attributes convolution_attributes(OperatorWriter& to) {
    const std::size_t count = to.sizes("InputTensor").size() - 2;
    Numbers pads = to.spatial("StartPadding", count);
    const Numbers ends = to.spatial("EndPadding", count);
    pads.insert(pads.end(), ends.begin(), ends.end());
    return {attribute("strides", to.spatial("Strides", count)), attribute("dilations", to.spatial("Dilations", count)),
            attribute("pads", pads), attribute("group", std::int64_t{to.uint("GroupCount")})};
}

void write_convolution_integer(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const Value filter = to.in("FilterTensor");
    if (!is_single(to, "InputZeroPointTensor")) {
        to.fail("ONNX's ConvInteger has one zero point of the input");
        return;
    }
    to.out("OutputTensor", to.w.node("ConvInteger",
                                     {x, filter, zero_points(to, "InputZeroPointTensor", x.type),
                                      zero_points(to, "FilterZeroPointTensor", filter.type)},
                                     onnx_int32, to.sizes("OutputTensor"), convolution_attributes(to)));
}

void write_quantized_convolution(OperatorWriter& to) {
    ModelWriter& w = to.w;
    if (!is_single(to, "InputScaleTensor") || !is_single(to, "InputZeroPointTensor") ||
        !is_single(to, "OutputScaleTensor") || !is_single(to, "OutputZeroPointTensor")) {
        to.fail("ONNX's QLinearConv has one scale and one zero point of the input and of the output");
        return;
    }
    const Value x = to.in("InputTensor");
    const Value filter = to.in("FilterTensor");
    const int type = to.type("OutputTensor");
    const Value filter_scales = to.compact("FilterScaleTensor");
    const auto scales = parameter_of(to, filter_scales, filter_scales.rank());
    const Value zeros = zero_points(to, "FilterZeroPointTensor", filter.type);
    if (!scales) {
        to.fail("scales differ along several dimensions");
        return;
    }
    std::vector<Value> inputs{x,
                              w.reshape(to.compact("InputScaleTensor"), {}),
                              zero_points(to, "InputZeroPointTensor", x.type),
                              filter,
                              scales->value,
                              w.expand(zeros, broadcast_sizes({zeros, scales->value})),
                              w.reshape(to.compact("OutputScaleTensor"), {}),
                              zero_points(to, "OutputZeroPointTensor", type)};
    if (zeros.rank() > scales->value.rank()) {
        inputs[4] = w.expand(scales->value, zeros.sizes);
    }
    if (to.has("BiasTensor")) {
        const Value bias = to.in("BiasTensor");
        inputs.push_back(w.reshape(bias, {static_cast<std::uint32_t>(bias.count())}));
    }
    to.out("OutputTensor", w.node("QLinearConv", inputs, type, to.sizes("OutputTensor"), convolution_attributes(to)));
}

constexpr std::array<OperatorExport, 12> quantised_rows{{
    {"ELEMENT_WISE_QUANTIZE_LINEAR", write_quantize_linear},
    {"ELEMENT_WISE_DEQUANTIZE_LINEAR", write_dequantize_linear},
    {"QUANTIZE", write_quantize},
    {"DEQUANTIZE", write_dequantize},
    {"ELEMENT_WISE_QUANTIZED_LINEAR_ADD", write_quantized_add},
    {"QUANTIZED_LINEAR_AVERAGE_POOLING", write_quantized_average},
    {"DYNAMIC_QUANTIZE_LINEAR", write_dynamic_quantize},
    {"MATRIX_MULTIPLY_INTEGER", write_matmul_integer},
    {"QUANTIZED_LINEAR_MATRIX_MULTIPLY", write_quantized_matmul},
    {"MATRIX_MULTIPLY_INTEGER_TO_FLOAT", write_matmul_integer_to_float},
    {"CONVOLUTION_INTEGER", write_convolution_integer},
    {"QUANTIZED_LINEAR_CONVOLUTION", write_quantized_convolution},
}};

}  // namespace

std::span<const OperatorExport> quantised_exports() {
    return quantised_rows;
}

}  // namespace dmlconform::interop::exporting
