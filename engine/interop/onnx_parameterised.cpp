// Element-wise operators with attributes that select DirectML's operator, or with parameters that are inputs.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "engine/core/element.h"
#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

Mapped with(core::Result<OnnxCase> result, const char* field, const ordered_json& value) {
    return result ? Mapped(result->set(field, value).take()) : tl::unexpected(result.error());
}

Mapped map_bit_shift(const OnnxNode& node) {
    const std::string direction = node.text("direction", "");
    if (direction != "LEFT" && direction != "RIGHT") {
        return core::fail("BitShift has no direction");
    }
    return broadcast_case(node, "ELEMENT_WISE_BIT_SHIFT_" + direction, {"ATensor", "BTensor"});
}

/// The result has the sign of the divisor, or with "fmod" that of the dividend.
Mapped map_mod(const OnnxNode& node) {
    return broadcast_case(node,
                          node.integer("fmod", 0) == 0 ? "ELEMENT_WISE_MODULUS_FLOOR" : "ELEMENT_WISE_MODULUS_TRUNCATE",
                          {"ATensor", "BTensor"});
}

Mapped map_round(const OnnxNode& node) {
    return with(unary_case(node, "ELEMENT_WISE_ROUND"), "RoundingMode", "HALVES_TO_NEAREST_EVEN");
}

Mapped map_gelu(const OnnxNode& node) {
    if (node.text("approximate", "none") != "none") {
        return core::fail("Gelu by an approximation has no counterpart");
    }
    auto result = unary_case(node, "ACTIVATION_GELU");
    return result ? Mapped(result->take()) : tl::unexpected(result.error());
}

Mapped map_is_inf(const OnnxNode& node) {
    const bool positive = node.integer("detect_positive", 1) != 0;
    const bool negative = node.integer("detect_negative", 1) != 0;
    if (!positive && !negative) {
        return core::fail("IsInf that finds no infinity has no counterpart");
    }
    return with(unary_case(node, "ELEMENT_WISE_IS_INFINITY"), "InfinityMode",
                !negative   ? "POSITIVE"
                : !positive ? "NEGATIVE"
                            : "EITHER");
}

/// The type's smallest or largest number.
ordered_json end_of(core::DataType type, bool lowest) {
    if (type == core::DataType::float16) {
        return lowest ? -65504 : 65504;
    }
    return core::with_type(type, [&]<class T>() -> ordered_json {
        if constexpr (std::is_arithmetic_v<T>) {
            return lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
        } else {
            return nullptr;  // FLOAT16
        }
    });
}

/// An input since opset 11, an attribute before; the limit of the type if absent.
core::Result<ordered_json> bound_of(const OnnxNode& node, std::size_t input, const char* attribute) {
    const OnnxTensor* given = node.input(input);
    if (given != nullptr) {
        return given->count() == 1 && given->has_elements()
                   ? core::Result<ordered_json>(given->list().front())
                   : core::fail(
                         fmt::format("\"{}\" has {} elements, not one that is known", attribute, given->count()));
    }
    return node.attribute(attribute) != nullptr ? ordered_json(node.number(attribute, 0))
                                                : end_of(node.input(0)->type, input == 1);
}

/// DirectML's newer operator has bounds of the tensor's type, the older one FLOAT32. If the minimum exceeds the
/// maximum, ONNX gives the maximum everywhere and DirectML the minimum.
Mapped map_clip(const OnnxNode& node) {
    if (node.input(0) == nullptr) {
        return core::fail("Clip has no data");
    }
    const auto least = bound_of(node, 1, "min");
    const auto greatest = bound_of(node, 2, "max");
    if (!least || !greatest) {
        return tl::unexpected((least ? greatest : least).error());
    }
    const core::DataType type = node.input(0)->type;
    const bool narrow = type == core::DataType::float32 || type == core::DataType::float16;
    auto result = unary_case(node, narrow ? "ELEMENT_WISE_CLIP" : "ELEMENT_WISE_CLIP1");
    if (!result) {
        return tl::unexpected(result.error());
    }
    if (!narrow) {
        result->set("MinMaxDataType", core::name(type));
    }
    const bool reversed = least->is_number() && greatest->is_number() && *least > *greatest;
    return result->set("Min", reversed ? *greatest : *least).set("Max", *greatest).take();
}

/// Gives scales or zero points the dimensions of the data: there is one for all elements, one for each index along an
/// axis, or one for each block.
core::Result<OnnxTensor> of_data(const OnnxNode& node, OnnxTensor scale) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const auto axis = axis_of(node.integer("axis", 1), sizes.size());
    const std::int64_t block = node.integer("block_size", 0);
    if (block == 0 && scale.count() == 1) {
        scale.sizes.assign(sizes.size(), 1);
        return scale;
    }
    if (!axis || (block == 0 && scale.sizes.size() != 1)) {
        return core::fail("scales and zero points are not those of an axis");
    }
    if (block == 0) {
        scale.sizes = along(scale, sizes.size(), *axis);
        return scale;
    }
    core::Dimensions expected = sizes;
    expected[*axis] = block < 0 || block > sizes[*axis] ? 0 : sizes[*axis] / static_cast<std::uint32_t>(block);
    if (scale.sizes != expected || expected[*axis] * block != sizes[*axis]) {
        return core::fail(fmt::format("there is not one scale for each {} elements of axis {}", block, *axis));
    }
    return scale;
}

/// Limit for zero points that are listed because the model has none.
constexpr std::size_t most_zero_points = std::size_t{1} << 16;

/// DirectML's newer operator, which has types of four bits and blocks. Without a zero point, it takes the middle of the
/// range for unsigned types, and ONNX takes 0.
Mapped map_block_dequantization(const OnnxNode& node, const OnnxTensor& scale) {
    const OnnxTensor& input = *node.input(0);
    OnnxCase result("DEQUANTIZE");
    result.input("InputTensor", input).array_input("QuantizationTensors", 0, scale);
    const bool has_zero_point = node.input(2) != nullptr || !core::is_signed_integer(input.type);
    if (node.input(2) != nullptr) {
        const auto zero_point = of_data(node, *node.input(2));
        if (!zero_point) {
            return tl::unexpected(zero_point.error());
        }
        result.array_input("QuantizationTensors", 1, *zero_point);
    } else if (has_zero_point && scale.count() > most_zero_points) {
        return core::fail(
            fmt::format("it has more than {} scales of an unsigned type, and no zero points", most_zero_points));
    } else if (has_zero_point) {
        OnnxTensor zeros{input.type, scale.sizes, {}};
        zeros.elements.resize(zeros.bytes());
        result.array_input("QuantizationTensors", 1, zeros);
    }
    return result.set("QuantizationType", has_zero_point ? "SCALE_ZERO_POINT" : "SCALE")
        .output("OutputTensor", *node.output(0))
        .take();
}

/// One scale and zero point, or one for each index along an axis, or for each block.
Mapped map_quantization(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    if (input == nullptr || node.input(1) == nullptr) {
        return core::fail(fmt::format("{} has no data or no scale", node.type));
    }
    const bool has_blocks = node.integer("block_size", 0) != 0;
    if (node.type == "DequantizeLinear" && (has_blocks || core::bits_of(input->type) == 4)) {
        const auto scale = of_data(node, *node.input(1));
        return scale ? map_block_dequantization(node, *scale) : tl::unexpected(scale.error());
    }
    if (has_blocks) {
        return core::fail("DirectML does not quantise blocks");
    }
    const OnnxTensor& output = *node.output(0);
    OnnxCase result(node.type == "QuantizeLinear" ? "ELEMENT_WISE_QUANTIZE_LINEAR" : "ELEMENT_WISE_DEQUANTIZE_LINEAR");
    result.input("InputTensor", *input);
    std::size_t index = 1;
    for (const char* field : {"ScaleTensor", "ZeroPointTensor"}) {
        const OnnxTensor* given = node.input(index++);
        if (given == nullptr) {
            continue;
        }
        const auto parameter = of_data(node, *given);
        if (!parameter) {
            return tl::unexpected(parameter.error());
        }
        if (const auto done = result.broadcast_input(field, *parameter, output.sizes); !done) {
            return tl::unexpected(done.error());
        }
    }
    return result.output("OutputTensor", output).take();
}

/// Why DirectML's operator does not compute the node; empty if it does.
std::string difference_of_adam(const OnnxNode& node) {
    if (node.inputs.size() != 6 || node.outputs.size() != 3) {
        return "Adam of one tensor has six inputs and three outputs";
    }
    for (std::size_t i = 0; i < 6; ++i) {
        if (node.input(i) == nullptr || (i < 3 && node.output(i) == nullptr)) {
            return "an input or output is absent";
        }
    }
    if (node.number("norm_coefficient", 0) != 0 || node.number("norm_coefficient_post", 0) != 0) {
        return "DirectML's operator has no regularisation (norm_coefficient)";
    }
    if (node.input(0)->count() != 1 || node.input(1)->count() != 1) {
        return "the learning rate or the training step is not one number";
    }
    constexpr std::int64_t most_steps = std::numeric_limits<std::uint32_t>::max();
    const std::int64_t step = node.input(1)->integer(0);
    return step < 1 || step > most_steps ? "the training step must be from 1 to 4294967295" : "";
}

Mapped map_adam(const OnnxNode& node) {
    if (std::string difference = difference_of_adam(node); !difference.empty()) {
        return core::fail(std::move(difference));
    }
    // DirectML only supports four dimensions.
    constexpr std::size_t rank = 4;
    constexpr const char* inputs[] = {"InputParametersTensor", "GradientTensor", "InputFirstMomentTensor",
                                      "InputSecondMomentTensor"};
    constexpr const char* outputs[] = {"OutputParametersTensor", "OutputFirstMomentTensor", "OutputSecondMomentTensor"};
    OnnxCase result("ADAM_OPTIMIZER");
    for (std::size_t i = 0; i < std::size(inputs); ++i) {
        result.input(inputs[i], *node.input(i + 2), padded(node.input(i + 2)->sizes, rank));
    }
    const auto step = static_cast<std::uint32_t>(node.input(1)->integer(0));
    OnnxTensor steps{core::DataType::uint32, {1, 1, 1, 1}, std::vector<std::byte>(sizeof(step))};
    core::store_element(steps.elements, steps.type, 0, step);
    result.input("TrainingStepTensor", steps);
    for (std::size_t i = 0; i < std::size(outputs); ++i) {
        result.output(outputs[i], *node.output(i), padded(node.output(i)->sizes, rank));
    }
    return result.set("LearningRate", node.input(0)->list().front())
        .set("Beta1", node.number("alpha", 0.9F))
        .set("Beta2", node.number("beta", 0.999F))
        .set("Epsilon", node.number("epsilon", 1e-6F))
        .take();
}

/// The shape is an input, but the output's sizes are known.
Mapped map_expand(const OnnxNode& node) {
    if (node.input(0) == nullptr) {
        return core::fail("Expand has no data");
    }
    OnnxCase result("ELEMENT_WISE_IDENTITY");
    if (const auto done = result.broadcast_input("InputTensor", *node.input(0), node.output(0)->sizes); !done) {
        return tl::unexpected(done.error());
    }
    return result.output("OutputTensor", *node.output(0)).take();
}

}  // namespace

std::span<const OnnxMapping> parameterised_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"BitShift", map_bit_shift, "ELEMENT_WISE_BIT_SHIFT_LEFT, ELEMENT_WISE_BIT_SHIFT_RIGHT"},
        {"Clip", map_clip, "ELEMENT_WISE_CLIP, ELEMENT_WISE_CLIP1",
         "an absent bound is the end of the type; if min is above max, both become max; bounds that are computed: "
         "ELEMENT_WISE_MAX and ELEMENT_WISE_MIN"},
        {"DequantizeLinear", map_quantization, "ELEMENT_WISE_DEQUANTIZE_LINEAR",
         "whole or along an axis; DEQUANTIZE for blocks and for types of four bits"},
        {"Expand", map_expand, "ELEMENT_WISE_IDENTITY", "strides of 0"},
        {"Gelu", map_gelu, "ACTIVATION_GELU", "the approximation by tanh becomes several operators"},
        {"IsInf", map_is_inf, "ELEMENT_WISE_IS_INFINITY"},
        {"Mod", map_mod, "ELEMENT_WISE_MODULUS_TRUNCATE, ELEMENT_WISE_MODULUS_FLOOR", "with and without fmod"},
        {"QuantizeLinear", map_quantization, "ELEMENT_WISE_QUANTIZE_LINEAR", "whole or along an axis"},
        {"Round", map_round, "ELEMENT_WISE_ROUND", "halves to even"},
        {"ai.onnx.preview.training.Adam", map_adam, "ADAM_OPTIMIZER",
         "one tensor, without regularisation, from the first step on"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
