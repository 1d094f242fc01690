// ONNX operators that create elements from constants and positions.

#include <algorithm>
#include <limits>

#include "engine/core/element.h"
#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

/// Start, limit and delta; the output's size gives the number of elements.
Mapped map_range(const OnnxNode& node) {
    double numbers[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
        const OnnxTensor* given = node.input(i);
        if (given == nullptr || given->count() != 1 || given->type != node.output(0)->type) {
            return core::fail("start, limit and delta of Range are not numbers of the output's type");
        }
        numbers[i] = core::decode_element(given->type, core::load_element(given->elements, given->type, 0));
    }
    // The number of elements; NaN if the delta is 0.
    const double count = (numbers[1] - numbers[0]) / numbers[2];
    const auto made = static_cast<double>(node.output(0)->count());
    if (!(made >= count && made - 1 < count)) {
        return core::fail("the output's size does not follow from start, limit and delta");
    }
    return OnnxCase("FILL_VALUE_SEQUENCE")
        .output("OutputTensor", *node.output(0))
        .set("ValueDataType", core::name(node.output(0)->type))
        .set("ValueStart", node.input(0)->list().front())
        .set("ValueDelta", node.input(2)->list().front())
        .take();
}

/// The shape is an input, but the output's sizes are known.
Mapped map_constant_of_shape(const OnnxNode& node) {
    OnnxTensor value{core::DataType::float32, {1}, std::vector<std::byte>(sizeof(float))};
    if (const onnx::AttributeProto* given = node.attribute("value")) {
        auto read = onnx_tensor(given->t());
        if (!read || read->count() != 1) {
            return core::fail(read ? "the value is not one number" : read.error().message);
        }
        value = std::move(*read);
    }
    return OnnxCase("FILL_VALUE_CONSTANT")
        .output("OutputTensor", *node.output(0))
        .set("ValueDataType", core::name(value.type))
        .set("Value", value.list().front())
        .take();
}

/// The diagonal's offset for DirectML, clamped: beyond all diagonals the result is the same.
std::int64_t offset_of(std::int64_t k) {
    constexpr std::int64_t beyond = std::int64_t{1} << 30;
    return std::clamp(k, -beyond, beyond);
}

Mapped map_eye_like(const OnnxNode& node) {
    return OnnxCase("DIAGONAL_MATRIX")
        .output("OutputTensor", *node.output(0))
        .set("Offset", offset_of(node.integer("k", 0)))
        .set("Value", 1)
        .take();
}

/// Zeros below the first diagonal of the upper triangle, or above the last one of the lower triangle.
Mapped map_triangle(const OnnxNode& node) {
    const OnnxTensor* given = node.input(1);
    if (node.input(0) == nullptr || (given != nullptr && given->count() != 1)) {
        return core::fail("Trilu has no data, or its k is not one number");
    }
    const std::int64_t k = offset_of(given == nullptr ? 0 : given->integer(0));
    const bool upper = node.integer("upper", 1) != 0;
    return OnnxCase("DIAGONAL_MATRIX1")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("ValueDataType", core::name(node.output(0)->type))
        .set("Value", 0)
        .set("DiagonalFillBegin", upper ? std::int64_t{std::numeric_limits<std::int32_t>::min()} : k + 1)
        .set("DiagonalFillEnd", upper ? k : std::int64_t{std::numeric_limits<std::int32_t>::max()})
        .take();
}

/// What is known without an operator is copied, so that it is compared with what ONNX expects.
Mapped map_constant(const OnnxNode& node) {
    const auto known = constant_result(node);
    if (!known || !*known) {
        return core::fail(known ? known->error().message : "it is not a constant");
    }
    return OnnxCase("ELEMENT_WISE_IDENTITY")
        .input("InputTensor", **known)
        .output("OutputTensor", *node.output(0))
        .take();
}

}  // namespace

std::span<const OnnxMapping> filling_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"Constant", map_constant, "ELEMENT_WISE_IDENTITY", "a copy of what is known"},
        {"Shape", map_constant, "ELEMENT_WISE_IDENTITY", "a copy of what is known"},
        {"Size", map_constant, "ELEMENT_WISE_IDENTITY", "a copy of what is known"},
        {"Range", map_range, "FILL_VALUE_SEQUENCE"},
        {"ConstantOfShape", map_constant_of_shape, "FILL_VALUE_CONSTANT"},
        {"EyeLike", map_eye_like, "DIAGONAL_MATRIX"},
        {"Trilu", map_triangle, "DIAGONAL_MATRIX1", "fills the other triangle with zeros"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
