// ONNX reductions: sums along axes, indices of extremes, cumulative sums, coordinates of non-zero elements.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

/// Functions of REDUCE by the name of ONNX's operator.
constexpr std::pair<std::string_view, std::string_view> functions[] = {{"ReduceSum", "SUM"},
                                                                       {"ReduceMean", "AVERAGE"},
                                                                       {"ReduceMax", "MAX"},
                                                                       {"ReduceMin", "MIN"},
                                                                       {"ReduceProd", "MULTIPLY"},
                                                                       {"ReduceL1", "L1"},
                                                                       {"ReduceL2", "L2"},
                                                                       {"ReduceLogSum", "LOG_SUM"},
                                                                       {"ReduceLogSumExp", "LOG_SUM_EXP"},
                                                                       {"ReduceSumSquare", "SUM_SQUARE"}};

/// True if the result for a single number is that number. With noop_with_empty_axes, older versions of ONNX copy the
/// data; newer ones still apply the function, such as a square.
bool keeps_one_number(std::string_view function) {
    constexpr std::string_view kept[] = {"SUM", "AVERAGE", "MAX", "MIN", "MULTIPLY", "LOG_SUM_EXP"};
    return std::find(std::begin(kept), std::end(kept), function) != std::end(kept);
}

/// The input's sizes with 1 along the axes: ONNX's output sizes with "keepdims", and DirectML's in any case.
core::Dimensions reduced(core::Dimensions sizes, const std::vector<std::uint32_t>& axes) {
    for (const std::uint32_t axis : axes) {
        sizes[axis] = 1;
    }
    return sizes;
}

/// Fails if the output has a different number of elements.
core::Result<OnnxCase> reducing_case(const OnnxNode& node, std::string_view directml,
                                     const std::vector<std::uint32_t>& axes) {
    const core::Dimensions sizes = reduced(node.input(0)->sizes, axes);
    if (core::element_count(sizes) != node.output(0)->count()) {
        return core::fail("the output's sizes do not follow from the axes");
    }
    OnnxCase result(directml);
    result.input("InputTensor", *node.input(0)).output("OutputTensor", *node.output(0), sizes).set("Axes", axes);
    return result;
}

Mapped map_reduce(const OnnxNode& node, std::string_view function) {
    if (node.input(0) == nullptr) {
        return core::fail(fmt::format("{} has no data", node.type));
    }
    auto axes = reduction_axes(node);
    if (!axes) {
        return core::fail("there is no such axis");
    }
    if (axes->empty() && node.integer("noop_with_empty_axes", 0) != 0) {
        if (!keeps_one_number(function)) {
            return core::fail(fmt::format("versions of ONNX differ in what {} does without axes", node.type));
        }
        auto copy = unary_case(node, "ELEMENT_WISE_IDENTITY");
        return copy ? Mapped(copy->take()) : tl::unexpected(copy.error());
    }
    if (axes->empty()) {
        axes->resize(node.input(0)->sizes.size());
        std::iota(axes->begin(), axes->end(), 0U);
    }
    auto result = reducing_case(node, "REDUCE", *axes);
    return result ? Mapped(result->set("Function", function).take()) : tl::unexpected(result.error());
}

Mapped map_position(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const auto axis = input == nullptr ? std::nullopt : axis_of(node.integer("axis", 0), input->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    auto result = reducing_case(node, node.type == "ArgMax" ? "ARGMAX" : "ARGMIN", {*axis});
    if (!result) {
        return tl::unexpected(result.error());
    }
    const bool last = node.integer("select_last_index", 0) != 0;
    return result->set("AxisDirection", last ? "DECREASING" : "INCREASING").take();
}

Mapped map_cumulative(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const OnnxTensor* given = node.input(1);
    if (input == nullptr || given == nullptr || given->count() != 1) {
        return core::fail(fmt::format("{} without data or without an axis", node.type));
    }
    const auto axis = axis_of(given->integer(0), input->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    const bool sums = node.type == "CumSum";
    return OnnxCase(sums ? "CUMULATIVE_SUMMATION" : "CUMULATIVE_PRODUCT")
        .input("InputTensor", *input)
        .output("OutputTensor", *node.output(0))
        .set("Axis", *axis)
        .set("AxisDirection", node.integer("reverse", 0) != 0 ? "DECREASING" : "INCREASING")
        .set(sums ? "HasExclusiveSum" : "HasExclusiveProduct", node.integer("exclusive", 0) != 0)
        .take();
}

/// ONNX has a row for each dimension and a column for each non-zero element. DirectML has a row for each of these
/// elements, and room for all elements.
Mapped map_nonzero(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const OnnxTensor& found = *node.output(0);
    if (input == nullptr || found.sizes.size() != 2 || found.sizes[0] != input->sizes.size() ||
        found.sizes[1] > input->count()) {
        return core::fail("NonZero without data, or with other coordinates than those of the dimensions");
    }
    const std::size_t rank = found.sizes[0];
    const std::size_t count = found.sizes[1];
    std::vector<std::uint32_t> rows(input->count() * rank);
    for (std::size_t i = 0; i < rank * count; ++i) {
        rows[i % count * rank + i / count] = static_cast<std::uint32_t>(found.integer(i));
    }
    const auto rows_sizes = core::Dimensions{static_cast<std::uint32_t>(input->count()), found.sizes[0]};
    return OnnxCase("NONZERO_COORDINATES")
        .input("InputTensor", *input)
        .output("OutputCountTensor", whole_numbers({static_cast<std::uint32_t>(count)}, {1}))
        .output("OutputCoordinatesTensor", whole_numbers(rows, rows_sizes))
        .take();
}

Mapped map_dynamic_quantize(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    if (input == nullptr || node.output(1) == nullptr || node.output(2) == nullptr) {
        return core::fail("DynamicQuantizeLinear without data, scale or zero point");
    }
    const core::Dimensions one(input->sizes.size(), 1);
    return OnnxCase("DYNAMIC_QUANTIZE_LINEAR")
        .input("InputTensor", *input)
        .output("OutputTensor", *node.output(0))
        .output("OutputScaleTensor", *node.output(1), one)
        .output("OutputZeroPointTensor", *node.output(2), one)
        .take();
}

Mapped map_lp_normalization(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const auto axis = input == nullptr ? std::nullopt : axis_of(node.integer("axis", -1), input->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    return OnnxCase("LP_NORMALIZATION")
        .input("InputTensor", *input)
        .output("OutputTensor", *node.output(0))
        .set("Axis", *axis)
        .set("Epsilon", 0)
        .set("P", node.integer("p", 2))
        .take();
}

Mapped map_reduction_node(const OnnxNode& node) {
    const auto* function = std::ranges::find(functions, node.type, [](const auto& row) { return row.first; });
    return map_reduce(node, function->second);
}

}  // namespace

std::optional<std::vector<std::uint32_t>> reduction_axes(const OnnxNode& node) {
    std::vector<std::uint32_t> axes;
    for (const std::int64_t axis : node.list(1, "axes")) {
        const auto found = axis_of(axis, node.input(0)->sizes.size());
        if (!found) {
            return std::nullopt;
        }
        axes.push_back(*found);
    }
    return axes;
}

std::span<const OnnxMapping> reduction_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"ReduceSum", map_reduction_node, "REDUCE", "no axes that mean none: ELEMENT_WISE_IDENTITY"},
        {"ReduceMean", map_reduction_node, "REDUCE", "no axes that mean none: ELEMENT_WISE_IDENTITY"},
        {"ReduceMax", map_reduction_node, "REDUCE", "no axes that mean none: ELEMENT_WISE_IDENTITY"},
        {"ReduceMin", map_reduction_node, "REDUCE", "no axes that mean none: ELEMENT_WISE_IDENTITY"},
        {"ReduceProd", map_reduction_node, "REDUCE", "no axes that mean none: ELEMENT_WISE_IDENTITY"},
        {"ReduceL1", map_reduction_node, "REDUCE", "not without axes that mean none, where versions of ONNX differ"},
        {"ReduceL2", map_reduction_node, "REDUCE", "not without axes that mean none, where versions of ONNX differ"},
        {"ReduceLogSum", map_reduction_node, "REDUCE",
         "not without axes that mean none, where versions of ONNX differ"},
        {"ReduceLogSumExp", map_reduction_node, "REDUCE", "no axes that mean none: ELEMENT_WISE_IDENTITY"},
        {"ReduceSumSquare", map_reduction_node, "REDUCE",
         "not without axes that mean none, where versions of ONNX differ"},
        {"ArgMax", map_position, "ARGMAX"},
        {"ArgMin", map_position, "ARGMIN"},
        {"CumProd", map_cumulative, "CUMULATIVE_PRODUCT"},
        {"CumSum", map_cumulative, "CUMULATIVE_SUMMATION"},
        {"DynamicQuantizeLinear", map_dynamic_quantize, "DYNAMIC_QUANTIZE_LINEAR"},
        {"LpNormalization", map_lp_normalization, "LP_NORMALIZATION"},
        {"NonZero", map_nonzero, "NONZERO_COORDINATES", "room for all elements"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
