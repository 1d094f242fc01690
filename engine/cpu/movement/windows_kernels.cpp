// Outputs that are a window, a part or copies of the input, or contain it. Equals definitions/movement.cpp.
#include <algorithm>
#include <optional>

#include "engine/cpu/movement/constant.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/movement/window_start.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::windows_kernels {
namespace {

using movement::Axis;
using movement::Move;
using movement::nowhere;

Move slice(const KernelArguments& arguments) {
    const auto& offsets = arguments.descriptor.uints("Offsets");
    const auto& steps = arguments.descriptor.uints("Strides");
    Move move = movement::first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        move.from_start += offsets[d] * strides[d];
        move.axes[d].from_stride = steps[d] * strides[d];
    }
    return move;
}

/// Each coordinate in the window maps to the gradient element that was read from it; all others to none.
Move slice_grad(const KernelArguments& arguments) {
    const auto& offsets = arguments.descriptor.uints("InputWindowOffsets");
    const auto& sizes = arguments.descriptor.uints("InputWindowSizes");
    const auto& steps = arguments.descriptor.get<std::vector<std::int32_t>>("InputWindowStrides");
    Move move = movement::first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        const std::int64_t first = movement::window_start(offsets[d], sizes[d], steps[d]);
        Axis& axis = move.axes[d];
        axis.offsets.assign(static_cast<std::size_t>(axis.size), nowhere);
        for (std::int64_t i = 0; i < move.from->desc.sizes[d]; ++i) {
            axis.offsets[static_cast<std::size_t>(first + i * steps[d])] = i * strides[d];
        }
    }
    return move;
}

void split(const KernelArguments& arguments) {
    const std::uint32_t axis = arguments.descriptor.uint("Axis");
    const core::Strides strides = core::signed_strides(arguments.inputs[0]->desc);
    std::int64_t begin = 0;
    for (core::Tensor* const output : arguments.outputs) {
        Move move{.from = arguments.inputs[0], .to = output, .axes = movement::axes_of(output->desc)};
        move.from_start = begin * strides[axis];
        for (std::size_t d = 0; d < strides.size(); ++d) {
            move.axes[d].from_stride = strides[d];
        }
        begin += output->desc.sizes[axis];
        movement::carry_out(std::move(move));
    }
}

void join(const KernelArguments& arguments) {
    const std::uint32_t axis = arguments.descriptor.uint("Axis");
    std::int64_t begin = 0;
    for (const core::Tensor* const input : arguments.inputs) {
        const core::Strides strides = core::signed_strides(input->desc);
        Move move{.from = input, .to = arguments.outputs[0], .axes = movement::axes_of(arguments.outputs[0]->desc)};
        move.to_start = begin * move.axes[axis].to_stride;
        for (std::size_t d = 0; d < strides.size(); ++d) {
            move.axes[d].size = input->desc.sizes[d];
            move.axes[d].from_stride = strides[d];
        }
        begin += input->desc.sizes[axis];
        movement::carry_out(std::move(move));
    }
}

/// Each dimension is split in two: the copies, and the input's dimension.
Move tile(const KernelArguments& arguments) {
    const auto& repeats = arguments.descriptor.uints("Repeats");
    Move move = movement::first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    std::vector<Axis> axes;
    for (std::size_t d = 0; d < strides.size(); ++d) {
        const std::int64_t size = move.from->desc.sizes[d];
        const std::int64_t to_stride = move.axes[d].to_stride;
        axes.push_back({.size = repeats[d], .to_stride = size * to_stride, .from_stride = 0});
        axes.push_back({.size = size, .to_stride = to_stride, .from_stride = strides[d]});
    }
    move.axes = std::move(axes);
    return move;
}

using Padding = operators::PaddingMode;

/// The index of the input element that is read at a position before, in or after the `size` elements. Empty for
/// constant padding.
std::optional<std::int64_t> unpadded_coordinate(Padding mode, std::int64_t coordinate, std::int64_t size) {
    const auto folded = [coordinate](std::int64_t period) { return (coordinate % period + period) % period; };
    switch (mode) {
        case Padding::edge:
            return std::clamp<std::int64_t>(coordinate, 0, size - 1);
        case Padding::reflection: {
            // The period of reflection, which repeats neither end.
            const std::int64_t there_and_back = size == 1 ? 1 : 2 * (size - 1);
            const std::int64_t at = folded(there_and_back);
            return at < size ? at : there_and_back - at;
        }
        case Padding::symmetric: {
            const std::int64_t at = folded(2 * size);
            return at < size ? at : 2 * size - 1 - at;
        }
        case Padding::wrap:
            return folded(size);
        case Padding::constant:
        default:
            return coordinate >= 0 && coordinate < size ? std::optional(coordinate) : std::nullopt;
    }
}

Move padding(const KernelArguments& arguments) {
    const auto mode = enumerator<Padding>(arguments.descriptor, "PaddingMode");
    const auto& start = arguments.descriptor.uints("StartPadding");
    Move move = movement::first_to_first(arguments);
    const core::Dimensions& sizes = move.from->desc.sizes;
    const core::Strides strides = core::signed_strides(move.from->desc);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        Axis& axis = move.axes[d];
        if (axis.size == sizes[d]) {
            axis.from_stride = strides[d];
            continue;
        }
        for (std::int64_t c = 0; c < axis.size; ++c) {
            const auto coordinate = unpadded_coordinate(mode, c - start[d], sizes[d]);
            axis.offsets.push_back(coordinate ? *coordinate * strides[d] : nowhere);
        }
    }
    move.constant = movement::constant_of(arguments.descriptor, "PaddingValue", move.to->desc.data_type);
    return move;
}

}  // namespace

Kernels kernels() {
    return {movement::moving("SLICE", slice),
            movement::moving("SLICE_GRAD", slice_grad),
            {.name = "SPLIT", .compute = split, .tolerance = exact_tolerance},
            {.name = "JOIN", .compute = join, .tolerance = exact_tolerance},
            movement::moving("TILE", tile),
            movement::moving("PADDING", padding),
            movement::moving("PADDING1", padding)};
}

}  // namespace dmlconform::cpu::windows_kernels
