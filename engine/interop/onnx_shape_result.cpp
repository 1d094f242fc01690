// Types and sizes of what only has other sizes: reshapes, permutations, expansions and slices.
#include "engine/interop/onnx_result_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "engine/core/element.h"
#include "engine/core/utf8.h"

namespace dmlconform::interop {
namespace {

using Result = core::Result<OnnxTensor>;

std::uint32_t product(const core::Dimensions& sizes, std::size_t from, std::size_t to) {
    std::uint32_t count = 1;
    for (std::size_t d = from; d < to; ++d) {
        count *= sizes[d];
    }
    return count;
}

Result flattened(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const std::int64_t written = node.integer("axis", 1);
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t axis = written < 0 ? written + rank : written;
    if (axis < 0 || axis > rank) {
        return core::fail("there is no such axis");
    }
    const auto split = static_cast<std::size_t>(axis);
    return sized({product(sizes, 0, split), product(sizes, split, sizes.size())}, *node.input(0));
}

/// 0 keeps the input's size, -1 is the remaining size.
Result reshaped(const OnnxNode& node) {
    const OnnxTensor& input = *node.input(0);
    const auto shape = node.list(1, "shape");
    core::Dimensions sizes;
    std::optional<std::size_t> open;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const bool same = shape[d] == 0 && node.integer("allowzero", 0) == 0 && d < input.sizes.size();
        const bool left_open = shape[d] == -1 && !open;
        if (!same && !left_open &&
            (shape[d] < (node.integer("allowzero", 0) != 0 ? 0 : 1) || shape[d] > std::int64_t{0xffffffff})) {
            return core::fail("Reshape to a size that is not one");
        }
        open = left_open ? d : open;
        sizes.push_back(same ? input.sizes[d] : left_open ? 1 : static_cast<std::uint32_t>(shape[d]));
    }
    const std::uint64_t count = core::element_count(sizes).value_or(0);
    if (open && count != 0) {
        sizes[*open] = static_cast<std::uint32_t>(input.count() / count);
    }
    const auto result = sized(sizes, input);
    return result && result->count() != input.count() ? Result(core::fail("Reshape to another number of elements"))
                                                      : result;
}

Result squeezed(const OnnxNode& node) {
    const auto axes = reduction_axes(node);
    core::Dimensions sizes;
    for (std::uint32_t d = 0; axes && d < node.input(0)->sizes.size(); ++d) {
        const bool named = std::find(axes->begin(), axes->end(), d) != axes->end();
        if ((axes->empty() || named) && node.input(0)->sizes[d] == 1) {
            continue;
        }
        sizes.push_back(node.input(0)->sizes[d]);
    }
    return axes ? sized(sizes, *node.input(0)) : Result(core::fail("there is no such axis"));
}

Result unsqueezed(const OnnxNode& node) {
    const auto written = node.list(1, "axes");
    core::Dimensions sizes = node.input(0)->onnx_sizes();
    const std::size_t rank = sizes.size() + written.size();
    if (rank > most_onnx_dimensions) {
        return core::fail(fmt::format("a result between nodes has {} dimensions", rank));
    }
    std::vector<std::uint32_t> axes;
    for (const std::int64_t axis : written) {
        const auto found = axis_of(axis, rank);
        if (!found || std::find(axes.begin(), axes.end(), *found) != axes.end()) {
            return core::fail("there is no such axis");
        }
        axes.push_back(*found);
    }
    std::sort(axes.begin(), axes.end());
    for (const std::uint32_t axis : axes) {
        sizes.insert(sizes.begin() + axis, 1);
    }
    return sized(sizes, *node.input(0));
}

Result permuted(const OnnxNode& node) {
    const auto order = transposed_order(node);
    if (!order) {
        return core::fail("\"perm\" is not a permutation");
    }
    core::Dimensions sizes;
    for (const std::size_t d : *order) {
        sizes.push_back(node.input(0)->sizes[d]);
    }
    return sized(sizes, *node.input(0));
}

Result sliced(const OnnxNode& node) {
    const auto sizes = slice_sizes(node);
    return sizes ? sized(*sizes, *node.input(0)) : tl::unexpected(sizes.error());
}

Result counted(const OnnxNode& node) {
    double numbers[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
        const OnnxTensor* given = node.input(i);
        if (given == nullptr || given->count() != 1) {
            return core::fail("start, limit and delta of Range are not numbers");
        }
        numbers[i] = core::decode_element(given->type, core::load_element(given->elements, given->type, 0));
    }
    const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
    if (!(count < 0x1p32)) {
        return core::fail("Range has no elements, or too many");
    }
    return sized({static_cast<std::uint32_t>(std::max(count, 0.0))}, *node.input(0));
}

/// One size for each dimension, from an input of INT64.
Result of_shape(const OnnxNode& node, const std::vector<std::int64_t>& shape, const OnnxTensor& like) {
    core::Dimensions sizes;
    for (const std::int64_t size : shape) {
        if (size < 0 || size > std::int64_t{0xffffffff}) {
            return core::fail(fmt::format("{} asks for the size {}", node.type, size));
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    return sized(sizes, like);
}

/// The shape may have ones, and fewer dimensions than the data.
Result expanded_result(const OnnxNode& node) {
    const auto shape = node.input(1) == nullptr ? Result(core::fail("Expand without a shape"))
                                                : of_shape(node, node.list(1, ""), *node.input(0));
    if (!shape) {
        return shape;
    }
    OnnxNode pair = node;
    pair.inputs = {*node.input(0), *shape};
    return broadcast_result(pair, 0);
}

Result filled(const OnnxNode& node) {
    OnnxTensor like{core::DataType::float32, {1}, {}, false, false};
    if (const onnx::AttributeProto* given = node.attribute("value")) {
        auto read = onnx_tensor(given->t());
        if (!read) {
            return read;
        }
        like = std::move(*read);
    }
    return of_shape(node, node.list(0, ""), like);
}

Result tiled(const OnnxNode& node) {
    const auto repeats = node.list(1, "");
    std::vector<std::int64_t> shape;
    for (std::size_t d = 0; d < node.input(0)->sizes.size(); ++d) {
        const std::int64_t repeat = d < repeats.size() ? repeats[d] : -1;
        shape.push_back(repeat < 0 || repeat > 0xffffffff ? -1 : repeat * std::int64_t{node.input(0)->sizes[d]});
    }
    return of_shape(node, shape, *node.input(0));
}

Result padded_result(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const auto pads = node.list(1, node.opset < 2 ? "paddings" : "pads");
    std::vector<std::int64_t> axes = node.list(3, "axes");
    for (std::size_t d = 0; axes.size() < sizes.size() && node.input(3) == nullptr; ++d) {
        axes.push_back(static_cast<std::int64_t>(d));
    }
    if (pads.size() != 2 * axes.size()) {
        return core::fail("there are not two paddings for each axis");
    }
    std::vector<std::int64_t> shape(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_of(axes[i], sizes.size());
        constexpr std::int64_t most = 0x7fffffff;
        if (!axis || std::abs(pads[i]) > most || std::abs(pads[i + axes.size()]) > most) {
            return core::fail("Pad along an axis that is not there, or by too much");
        }
        shape[*axis] += pads[i] + pads[i + axes.size()];
    }
    return of_shape(node, shape, *node.input(0));
}

Result in_blocks(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const std::int64_t block = node.integer("blocksize", 0);
    if (sizes.size() != 4 || block < 1 || block > 0xffff) {
        return core::fail(node.type + " without four dimensions and a blocksize");
    }
    const auto size = static_cast<std::uint32_t>(block);
    if (node.type == "DepthToSpace") {
        return of_shape(node, {sizes[0], sizes[1] / (size * size), sizes[2] * block, sizes[3] * block}, *node.input(0));
    }
    return of_shape(node, {sizes[0], sizes[1] * block * block, sizes[2] / size, sizes[3] / size}, *node.input(0));
}

/// Col2Im: batch and channels, and the sizes of the image.
Result folded_windows(const OnnxNode& node) {
    const core::Dimensions& data = node.input(0)->sizes;
    const auto image = node.list(1, "");
    std::int64_t window = 1;
    for (const std::int64_t size : node.list(2, "")) {
        window = size < 1 || size > 0xffff || window > 0x7fffffff ? 0 : window * size;
    }
    if (data.size() != 3 || window < 1 || data[1] % window != 0) {
        return core::fail("the data of Col2Im are not those of its windows");
    }
    std::vector<std::int64_t> shape{data[0], data[1] / window};
    shape.insert(shape.end(), image.begin(), image.end());
    return of_shape(node, shape, *node.input(0));
}

}  // namespace

std::span<const OnnxResultRule> shape_result_rules() {
    static const OnnxResultRule rules[] = {
        {folded_windows, {"Col2Im"}},
        {flattened, {"Flatten"}},
        {reshaped, {"Reshape"}},
        {squeezed, {"Squeeze"}},
        {unsqueezed, {"Unsqueeze"}},
        {permuted, {"Transpose"}},
        {sliced, {"Slice"}},
        {counted, {"Range"}},
        {expanded_result, {"Expand"}},
        {filled, {"ConstantOfShape"}},
        {tiled, {"Tile"}},
        {padded_result, {"Pad"}},
        {in_blocks, {"DepthToSpace", "SpaceToDepth"}},
    };
    return rules;
}

}  // namespace dmlconform::interop
