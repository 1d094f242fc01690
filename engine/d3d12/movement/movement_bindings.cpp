// Operators that copy elements between positions known in advance, or write constants, described as copies.
//
// An entry describes for each dimension where elements come from. Order, merging, width and shader follow from that.
#include "engine/d3d12/movement/movement.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/scalar_conversion.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::d3d12::movement_bindings {
namespace {

using core::TensorDesc;
using operators::Descriptor;

/// The first input and the first output.
struct Pair {
    explicit Pair(const Descriptor& descriptor)
        : input(*descriptor.inputs().front().desc), output(*descriptor.outputs().front().desc) {}

    const TensorDesc& input;
    const TensorDesc& output;
};

DispatchPlan one_copy(Movement movement) {
    return {{}, {std::move(movement).dispatch(input(0), output(0))}};
}

DispatchPlan plan_slice(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    Movement copy(&tensors.input, tensors.output);
    for (std::size_t d = 0; d < tensors.output.sizes.size(); ++d) {
        const std::int64_t stride = copy.source_strides()[d];
        copy.start_source_at(stride * descriptor.uints("Offsets")[d]);
        copy.along(tensors.output.sizes[d], stride * descriptor.uints("Strides")[d], copy.target_strides()[d]);
    }
    return one_copy(std::move(copy));
}

/// The first element that SLICE1 or its gradient reads: the window's last one for negative strides.
std::int64_t window_start(const Descriptor& descriptor, std::size_t d) {
    const std::int64_t offset = descriptor.uints("InputWindowOffsets")[d];
    const bool backwards = descriptor.get<std::vector<std::int32_t>>("InputWindowStrides")[d] < 0;
    return backwards ? offset + descriptor.uints("InputWindowSizes")[d] - 1 : offset;
}

DispatchPlan plan_slice1(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    const auto& steps = descriptor.get<std::vector<std::int32_t>>("InputWindowStrides");
    Movement copy(&tensors.input, tensors.output);
    for (std::size_t d = 0; d < tensors.output.sizes.size(); ++d) {
        const std::int64_t stride = copy.source_strides()[d];
        copy.start_source_at(stride * window_start(descriptor, d));
        copy.along(tensors.output.sizes[d], stride * steps[d], copy.target_strides()[d]);
    }
    return one_copy(std::move(copy));
}

DispatchPlan plan_slice_grad(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    const auto& steps = descriptor.get<std::vector<std::int32_t>>("InputWindowStrides");
    Movement copy(&tensors.input, tensors.output);
    for (std::size_t d = 0; d < tensors.output.sizes.size(); ++d) {
        const std::uint32_t size = tensors.output.sizes[d];
        const std::int64_t start = window_start(descriptor, d);
        if (start == 0 && steps[d] == 1 && tensors.input.sizes[d] == size) {
            copy.along(size, copy.source_strides()[d], copy.target_strides()[d]);
            continue;
        }
        Coordinate coordinate;
        coordinate.size = tensors.input.sizes[d];
        coordinate.stride = copy.source_strides()[d];
        coordinate.step = static_cast<std::uint64_t>(std::llabs(steps[d]));
        const std::int64_t direction = steps[d] < 0 ? -1 : 1;
        coordinate.start = -direction * start;
        copy.along_coordinate(size, copy.add_coordinate(coordinate), direction, copy.target_strides()[d]);
    }
    return one_copy(std::move(copy));
}

/// Copies the same elements, starting further on along an axis.
Movement part_of(const TensorDesc& source, const TensorDesc& target, const core::Dimensions& sizes) {
    Movement copy(&source, target);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        copy.along(sizes[d], copy.source_strides()[d], copy.target_strides()[d]);
    }
    return copy;
}

DispatchPlan plan_split(const Descriptor& descriptor) {
    const TensorDesc& whole = *descriptor.inputs().front().desc;
    const std::uint32_t axis = descriptor.uint("Axis");
    const auto parts = descriptor.outputs();
    DispatchPlan plan;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Movement copy = part_of(whole, *parts[i].desc, parts[i].desc->sizes);
        copy.start_source_at(offset * copy.source_strides()[axis]);
        plan.dispatches.push_back(std::move(copy).dispatch(input(0), output(i)));
        offset += parts[i].desc->sizes[axis];
    }
    return plan;
}

/// In memory order of the output: a copy may overwrite the rest of its last word, which belongs to the next copy.
DispatchPlan plan_join(const Descriptor& descriptor) {
    const TensorDesc& whole = *descriptor.outputs().front().desc;
    const std::uint32_t axis = descriptor.uint("Axis");
    const auto parts = descriptor.inputs();
    DispatchPlan plan;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Movement copy = part_of(*parts[i].desc, whole, parts[i].desc->sizes);
        copy.start_target_at(offset * copy.target_strides()[axis]);
        plan.dispatches.push_back(std::move(copy).dispatch(input(i), output(0)));
        offset += parts[i].desc->sizes[axis];
    }
    return plan;
}

DispatchPlan plan_tile(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    Movement copy(&tensors.input, tensors.output);
    for (std::size_t d = 0; d < tensors.input.sizes.size(); ++d) {
        const std::uint32_t size = tensors.input.sizes[d];
        copy.along(size, copy.source_strides()[d], copy.target_strides()[d]);
        copy.along(descriptor.uints("Repeats")[d], 0, copy.target_strides()[d] * size);
    }
    return one_copy(std::move(copy));
}

Movement padded(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    Movement copy(&tensors.input, tensors.output);
    for (std::size_t d = 0; d < tensors.output.sizes.size(); ++d) {
        const std::uint32_t size = tensors.output.sizes[d];
        if (tensors.input.sizes[d] == size) {
            copy.along(size, copy.source_strides()[d], copy.target_strides()[d]);
            continue;
        }
        Coordinate coordinate;
        coordinate.bounds = enumerator<operators::PaddingMode>(descriptor, "PaddingMode");
        coordinate.size = tensors.input.sizes[d];
        coordinate.stride = copy.source_strides()[d];
        coordinate.start = -std::int64_t{descriptor.uints("StartPadding")[d]};
        copy.along_coordinate(size, copy.add_coordinate(coordinate), 1, copy.target_strides()[d]);
    }
    return copy;
}

DispatchPlan plan_padding(const Descriptor& descriptor) {
    Movement copy = padded(descriptor);
    copy.set_constant(element_bits(descriptor.number("PaddingValue"), Pair(descriptor).output.data_type));
    return one_copy(std::move(copy));
}

DispatchPlan plan_padding1(const Descriptor& descriptor) {
    Movement copy = padded(descriptor);
    copy.set_constant(descriptor.get<operators::ScalarUnion>("PaddingValue").bits);
    return one_copy(std::move(copy));
}

/// Order of channels: block first, or the other tensor's channel first.
operators::DepthSpaceOrder channel_order(const Descriptor& descriptor) {
    using operators::DepthSpaceOrder;
    const bool has_order = descriptor.has_field("Order");
    return has_order ? enumerator<DepthSpaceOrder>(descriptor, "Order") : DepthSpaceOrder::depth_column_row;
}

/// The copy between a tensor with blocks of BlockSize by BlockSize elements, and one whose channels contain these
/// elements.
DispatchPlan plan_blocks(const Descriptor& descriptor, bool source_has_blocks) {
    const Pair tensors(descriptor);
    Movement copy(&tensors.input, tensors.output);
    const std::int64_t block = descriptor.uint("BlockSize");
    const core::Dimensions& large = (source_has_blocks ? tensors.input : tensors.output).sizes;
    const core::Dimensions& small = (source_has_blocks ? tensors.output : tensors.input).sizes;
    const core::Strides& of_large = source_has_blocks ? copy.source_strides() : copy.target_strides();
    const core::Strides& of_small = source_has_blocks ? copy.target_strides() : copy.source_strides();
    const auto along = [&](std::uint64_t size, std::int64_t in_large, std::int64_t in_small) {
        copy.along(size, source_has_blocks ? in_large : in_small, source_has_blocks ? in_small : in_large);
    };
    const bool block_first = channel_order(descriptor) == operators::DepthSpaceOrder::depth_column_row;
    const std::int64_t from_channel_to_next = block_first ? 1 : block * block;
    const std::int64_t from_column_to_next = block_first ? large[1] : 1;
    along(large[0], of_large[0], of_small[0]);
    along(large[1], of_large[1], of_small[1] * from_channel_to_next);
    along(small[2], of_large[2] * block, of_small[2]);
    along(small[3], of_large[3] * block, of_small[3]);
    along(descriptor.uint("BlockSize"), of_large[2], of_small[1] * from_column_to_next * block);
    along(descriptor.uint("BlockSize"), of_large[3], of_small[1] * from_column_to_next);
    return one_copy(std::move(copy));
}

DispatchPlan plan_space_to_depth(const Descriptor& descriptor) {
    return plan_blocks(descriptor, true);
}

DispatchPlan plan_depth_to_space(const Descriptor& descriptor) {
    return plan_blocks(descriptor, false);
}

/// Writes a constant to the elements of matrices with column - row from begin to end - 1, or to all others.
DispatchPlan plan_band(const Descriptor& descriptor, std::uint64_t bits, std::int64_t begin, std::int64_t end,
                       bool inverted) {
    const TensorDesc* source = descriptor.inputs().empty() ? nullptr : descriptor.inputs().front().desc;
    const TensorDesc& target = *descriptor.outputs().front().desc;
    Movement copy(source, target);
    const std::size_t rank = target.sizes.size();
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t number = d + 1 == rank ? 1 : d + 2 == rank ? -1 : 0;
        copy.along(target.sizes[d], source == nullptr ? 0 : copy.source_strides()[d], copy.target_strides()[d], number);
    }
    copy.set_constant(bits);
    copy.set_band(begin, end, inverted);
    return one_copy(std::move(copy));
}

DispatchPlan plan_diagonal_matrix(const Descriptor& descriptor) {
    const std::int64_t offset = descriptor.get<std::int32_t>("Offset");
    const core::DataType type = descriptor.outputs().front().desc->data_type;
    return plan_band(descriptor, element_bits(descriptor.number("Value"), type), offset, offset + 1, false);
}

DispatchPlan plan_diagonal_matrix1(const Descriptor& descriptor) {
    const std::int64_t begin = descriptor.get<std::int32_t>("DiagonalFillBegin");
    const std::int64_t end = descriptor.get<std::int32_t>("DiagonalFillEnd");
    return plan_band(descriptor, descriptor.get<operators::ScalarUnion>("Value").bits, std::min(begin, end),
                     std::max(begin, end), begin > end);
}

DispatchPlan plan_fill_value_constant(const Descriptor& descriptor) {
    const TensorDesc& target = *descriptor.outputs().front().desc;
    Movement fill(nullptr, target);
    for (std::size_t d = 0; d < target.sizes.size(); ++d) {
        fill.along(target.sizes[d], 0, fill.target_strides()[d]);
    }
    fill.set_constant(descriptor.get<operators::ScalarUnion>("Value").bits);
    fill.set_band(0, 0, true);
    return one_copy(std::move(fill));
}

/// One dimension for blocks and one for positions within the window; both contribute to the same coordinate of the
/// input.
DispatchPlan plan_unfold(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    Movement copy(&tensors.input, tensors.output);
    const std::vector<std::uint32_t>& windows = descriptor.uints("WindowSizes");
    copy.along(tensors.input.sizes[0], copy.source_strides()[0], copy.target_strides()[0]);
    std::int64_t window_stride = copy.target_strides()[1];
    std::int64_t block_stride = copy.target_strides()[2];
    for (std::size_t w = windows.size(); w-- > 0;) {
        constexpr std::size_t first_spatial = 2;
        Coordinate coordinate;
        coordinate.size = tensors.input.sizes[first_spatial + w];
        coordinate.stride = copy.source_strides()[first_spatial + w];
        coordinate.start = -std::int64_t{descriptor.uints("StartPadding")[w]};
        const std::uint64_t dilation = descriptor.uints("Dilations")[w];
        const std::uint64_t stride = descriptor.uints("Strides")[w];
        const std::uint64_t room =
            std::uint64_t{coordinate.size} + descriptor.uints("StartPadding")[w] + descriptor.uints("EndPadding")[w];
        const std::uint64_t blocks = (room - dilation * (windows[w] - 1) - 1) / stride + 1;
        const std::size_t number = copy.add_coordinate(coordinate);
        copy.along_coordinate(windows[w], number, static_cast<std::int64_t>(dilation), window_stride);
        copy.along_coordinate(blocks, number, static_cast<std::int64_t>(stride), block_stride);
        window_stride *= windows[w];
        block_stride *= static_cast<std::int64_t>(blocks);
    }
    copy.along(tensors.input.sizes[1], copy.source_strides()[1], window_stride);
    return one_copy(std::move(copy));
}

/// Shaders use signed 32-bit coordinates; reflection needs twice the range.
std::optional<std::string> too_far(const Descriptor& descriptor) {
    const Pair tensors(descriptor);
    const auto& start = descriptor.uints("StartPadding");
    const auto& end = descriptor.uints("EndPadding");
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    for (std::size_t d = 0; d < start.size(); ++d) {
        const std::size_t dimension = tensors.input.sizes.size() - start.size() + d;
        if (std::uint64_t{tensors.input.sizes[dimension]} + start[d] + end[d] > most) {
            return "the shader does not count more than 2^30 positions in a padded dimension";
        }
    }
    return std::nullopt;
}

std::optional<std::string> too_large(const Descriptor& descriptor) {
    constexpr std::uint32_t most = std::uint32_t{1} << 31;
    for (const std::uint32_t size : descriptor.outputs().front().desc->sizes) {
        if (size > most) {
            return "the shader does not count more than 2^31 positions in a dimension";
        }
    }
    return std::nullopt;
}

/// The elements `begin` to `end` - 1 of the output along a dimension, and the window of the input that they come from.
struct Window {
    std::int64_t first;
    std::int64_t step;
    std::uint32_t& offset;
    std::uint32_t& size;

    void take(Cut& cut, std::size_t d) const {
        const bool whole = d != cut.dimension();
        const std::int64_t begin = whole ? 0 : cut.begin();
        const std::int64_t end = whole ? cut.descriptor().outputs().front().desc->sizes[d] : cut.end();
        const std::int64_t from = first + begin * step;
        const std::int64_t to = first + (end - 1) * step;
        const auto low = static_cast<std::uint32_t>(std::min(from, to));
        const auto high = static_cast<std::uint32_t>(std::max(from, to));
        const std::uint32_t start = cut.aligned_down("InputTensor", d, low);
        cut.take("InputTensor", d, start, high + 1);
        cut.take("OutputTensor", d, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end));
        offset = low - start;
        size = high + 1 - low;
    }
};

bool cut_slice(Cut& cut) {
    auto& offsets = cut.field<std::vector<std::uint32_t>>("Offsets");
    auto& sizes = cut.field<std::vector<std::uint32_t>>("Sizes");
    for (std::size_t d = 0; d < offsets.size(); ++d) {
        Window{offsets[d], cut.descriptor().uints("Strides")[d], offsets[d], sizes[d]}.take(cut, d);
    }
    return true;
}

bool cut_slice1(Cut& cut) {
    auto& offsets = cut.field<std::vector<std::uint32_t>>("InputWindowOffsets");
    auto& sizes = cut.field<std::vector<std::uint32_t>>("InputWindowSizes");
    const auto& steps = cut.descriptor().get<std::vector<std::int32_t>>("InputWindowStrides");
    for (std::size_t d = 0; d < offsets.size(); ++d) {
        Window{window_start(cut.descriptor(), d), steps[d], offsets[d], sizes[d]}.take(cut, d);
    }
    return true;
}

bool cut_between_batches(Cut& cut) {
    return cut.dimension() == 0 && cut.take_from_all();
}

/// Cuts along dimensions in which input and output have the same size.
bool cut_where_alike(Cut& cut) {
    const Pair tensors(cut.descriptor());
    return tensors.input.sizes[cut.dimension()] == tensors.output.sizes[cut.dimension()] && cut.take_from_all();
}

bool cut_between_matrices(Cut& cut) {
    return cut.dimension() + 2 < cut.descriptor().outputs().front().desc->sizes.size() && cut.take_from_all();
}

}  // namespace

Bindings bindings() {
    constexpr auto variants = movement_variants;
    return {
        {.name = "SLICE", .plan = plan_slice, .variants = variants, .cut = cut_slice},
        {.name = "SLICE1", .plan = plan_slice1, .variants = variants, .cut = cut_slice1},
        {.name = "SLICE_GRAD", .plan = plan_slice_grad, .variants = variants, .unsupported = too_large},
        {.name = "SPLIT", .plan = plan_split, .variants = variants, .cut = cut_off_axis},
        {.name = "JOIN", .plan = plan_join, .variants = variants, .cut = cut_off_axis},
        // Where the input has one element along the dimension, every part of the output repeats it.
        {.name = "TILE", .plan = plan_tile, .variants = variants, .cut = cut_anywhere},
        {.name = "PADDING", .plan = plan_padding, .variants = variants, .unsupported = too_far, .cut = cut_where_alike},
        {.name = "PADDING1",
         .plan = plan_padding1,
         .variants = variants,
         .unsupported = too_far,
         .cut = cut_where_alike},
        {.name = "SPACE_TO_DEPTH", .plan = plan_space_to_depth, .variants = variants, .cut = cut_between_batches},
        {.name = "SPACE_TO_DEPTH1", .plan = plan_space_to_depth, .variants = variants, .cut = cut_between_batches},
        {.name = "DEPTH_TO_SPACE", .plan = plan_depth_to_space, .variants = variants, .cut = cut_between_batches},
        {.name = "DEPTH_TO_SPACE1", .plan = plan_depth_to_space, .variants = variants, .cut = cut_between_batches},
        {.name = "DIAGONAL_MATRIX", .plan = plan_diagonal_matrix, .variants = variants, .cut = cut_between_matrices},
        {.name = "DIAGONAL_MATRIX1", .plan = plan_diagonal_matrix1, .variants = variants, .cut = cut_between_matrices},
        {.name = "FILL_VALUE_CONSTANT", .plan = plan_fill_value_constant, .variants = variants, .cut = cut_anywhere},
        {.name = "UNFOLD", .plan = plan_unfold, .variants = variants, .unsupported = too_far},
    };
}

}  // namespace dmlconform::d3d12::movement_bindings
