// ONNX operators that move elements: slices, joins, selections.

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

struct Window {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> sizes;
    std::vector<std::int32_t> strides;
};

/// Cuts along one dimension. False for an invalid step. A window of size 0 selects nothing.
bool cut(Window& window, std::uint32_t d, std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    const std::int64_t lowest = step < 0 ? -1 : 0;
    const std::int64_t highest = step < 0 ? size - 1 : size;
    start = std::clamp<std::int64_t>(start < 0 ? start + size : start, std::max<std::int64_t>(lowest, 0), highest);
    end = std::clamp<std::int64_t>(end < 0 ? end + size : end, lowest, highest);
    if (step == 0 || step > 0x7fffffff || step < -0x7fffffff) {
        return false;
    }
    window.strides[d] = static_cast<std::int32_t>(step);
    if (step > 0 ? end <= start : end >= start) {
        window.sizes[d] = 0;
        return true;
    }
    // A window with a negative step starts at its end.
    window.offsets[d] = static_cast<std::uint32_t>(step > 0 ? start : end + 1);
    window.sizes[d] = static_cast<std::uint32_t>(step > 0 ? end - start : start - end);
    return true;
}

core::Result<Window> slice_window(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const auto starts = node.list(1, "starts");
    const auto ends = node.list(2, "ends");
    auto axes = node.list(3, "axes");
    auto steps = node.list(4, "steps");
    if (axes.empty()) {
        axes.resize(starts.size());
        std::iota(axes.begin(), axes.end(), std::int64_t{0});
    }
    steps.resize(std::max(steps.size(), starts.size()), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
        return core::fail("starts, ends, axes and steps have different lengths");
    }
    Window window{std::vector<std::uint32_t>(sizes.size(), 0),
                  {sizes.begin(), sizes.end()},
                  std::vector<std::int32_t>(sizes.size(), 1)};
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto axis = axis_of(axes[i], sizes.size());
        if (!axis || !cut(window, *axis, sizes[*axis], starts[i], ends[i], steps[i])) {
            return core::fail("there is no such axis, or a step is not one");
        }
    }
    return window;
}

Mapped map_slice(const OnnxNode& node) {
    if (node.input(0) == nullptr) {
        return core::fail("Slice has no data");
    }
    const auto window = slice_window(node);
    if (!window) {
        return tl::unexpected(window.error());
    }
    if (std::ranges::count(window->sizes, 0U) != 0) {
        return core::fail("the slice takes no elements");
    }
    return OnnxCase("SLICE1")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("InputWindowOffsets", window->offsets)
        .set("InputWindowSizes", window->sizes)
        .set("InputWindowStrides", window->strides)
        .take();
}

Mapped map_top_k(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const auto axis = input == nullptr ? std::nullopt : axis_of(node.integer("axis", -1), input->sizes.size());
    if (!axis || node.output(0)->sizes.size() != input->sizes.size()) {
        return core::fail("TopK without an axis, or with other dimensions than its data");
    }
    if (node.integer("sorted", 1) == 0) {
        return core::fail("TopK without sorting has no one right order");
    }
    // DirectML's indices are unsigned; ONNX's are never negative here. Without ONNX's, nothing is expected of them.
    OnnxTensor positions = node.output(1) != nullptr ? *node.output(1) : *node.output(0);
    if (node.output(1) == nullptr) {
        positions.elements.clear();
        positions.value.clear();
    }
    positions.type = core::DataType::uint64;
    return OnnxCase("TOP_K1")
        .input("InputTensor", *input)
        .output("OutputValueTensor", *node.output(0))
        .output("OutputIndexTensor", positions)
        .set("Axis", *axis)
        .set("K", node.output(0)->sizes[*axis])
        .set("AxisDirection", node.integer("largest", 1) != 0 ? "DECREASING" : "INCREASING")
        .take();
}

Mapped map_concat(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", 0), node.output(0)->sizes.size());
    OnnxCase result("JOIN");
    std::size_t count = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.input(i) == nullptr) {
            return core::fail("an input is absent");
        }
        if (node.input(i)->count() != 0) {
            result.array_input("InputTensors", count++, *node.input(i));
        }
    }
    if (!axis) {
        return core::fail("there is no such axis");
    }
    return result.output("OutputTensor", *node.output(0)).set("Axis", *axis).take();
}

Mapped map_split(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const auto axis = input == nullptr ? std::nullopt : axis_of(node.integer("axis", 0), input->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    OnnxCase result("SPLIT");
    result.input("InputTensor", *input);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.output(i) == nullptr) {
            return core::fail("an output is absent");
        }
        result.array_output("OutputTensors", i, *node.output(i));
    }
    return result.set("Axis", *axis).take();
}

Mapped map_gather(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const OnnxTensor* indices = node.input(1);
    const auto axis = input == nullptr ? std::nullopt : axis_of(node.integer("axis", 0), input->sizes.size());
    if (!axis || indices == nullptr) {
        return core::fail("Gather without an axis or without indices");
    }
    // All three tensors get the same number of dimensions. A single index without dimensions leaves a dimension of size
    // 1.
    core::Dimensions sizes = input->sizes;
    sizes.erase(sizes.begin() + *axis);
    sizes.insert(sizes.begin() + *axis, indices->sizes.begin(), indices->sizes.end());
    const std::size_t rank = sizes.size();
    if (core::element_count(sizes) != node.output(0)->count()) {
        return core::fail("the output's sizes do not follow from those of the indices");
    }
    return OnnxCase("GATHER")
        .input("InputTensor", *input, padded(input->sizes, rank))
        .input("IndicesTensor", *indices, padded(indices->sizes, rank))
        .output("OutputTensor", *node.output(0), sizes)
        .set("Axis", *axis + rank - input->sizes.size())
        .set("IndexDimensions", indices->sizes.size())
        .take();
}

/// A copy from a tensor with permuted strides.
Mapped map_transpose(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    if (input == nullptr) {
        return core::fail("Transpose has no data");
    }
    const auto order = transposed_order(node);
    if (!order) {
        return core::fail("\"perm\" is not a permutation");
    }
    core::Dimensions strides;
    const OnnxTensor shown = transposed(*input, *order, strides);
    return OnnxCase("ELEMENT_WISE_IDENTITY")
        .strided_input("InputTensor", shown, strides)
        .output("OutputTensor", *node.output(0))
        .take();
}

}  // namespace

core::Result<core::Dimensions> slice_sizes(const OnnxNode& node) {
    const auto window = slice_window(node);
    if (!window) {
        return tl::unexpected(window.error());
    }
    core::Dimensions sizes;
    for (std::size_t d = 0; d < window->sizes.size(); ++d) {
        const auto step = static_cast<std::uint32_t>(std::abs(window->strides[d]));
        sizes.push_back(window->sizes[d] == 0 ? 0 : (window->sizes[d] - 1) / step + 1);
    }
    return sizes;
}

std::optional<std::vector<std::size_t>> transposed_order(const OnnxNode& node) {
    const std::size_t rank = node.input(0)->sizes.size();
    std::vector<std::size_t> order;
    for (const std::int64_t axis : node.integers("perm")) {
        const auto d = axis_of(axis, rank);
        if (!d || std::find(order.begin(), order.end(), *d) != order.end()) {
            return std::nullopt;
        }
        order.push_back(*d);
    }
    for (std::size_t d = rank; order.size() < rank && node.integers("perm").empty();) {
        order.push_back(--d);
    }
    return order.size() == rank ? std::optional(order) : std::nullopt;
}

std::span<const OnnxMapping> movement_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"Slice", map_slice, "SLICE1"},   {"TopK", map_top_k, "TOP_K1", "sorted"},
        {"Concat", map_concat, "JOIN"},   {"Split", map_split, "SPLIT"},
        {"Gather", map_gather, "GATHER"}, {"Transpose", map_transpose, "ELEMENT_WISE_IDENTITY", "permuted strides"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
