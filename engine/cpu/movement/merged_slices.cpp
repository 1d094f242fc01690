// SLICE1 and SLICE_GRAD as DirectML 1.15.4 was measured to compute them: neighbouring dimensions with a window stride
// of 1 are merged if the window has all of the inner one, even where not all of the window is taken. The outer
// dimension then steps over as many elements as are taken of the inner one.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "engine/cpu/movement/move.h"
#include "engine/cpu/movement/window_start.h"
#include "engine/cpu/variants.h"

namespace dmlconform::cpu::merged_slices {
namespace {

using movement::Move;

/// The tensor that has the window, and the one with what is taken of it.
class Slice {
public:
    Slice(const operators::Descriptor& descriptor, const core::TensorDesc& whole, const core::TensorDesc& part)
        : offsets_(descriptor.uints("InputWindowOffsets")),
          sizes_(descriptor.uints("InputWindowSizes")),
          steps_(descriptor.get<std::vector<std::int32_t>>("InputWindowStrides")),
          whole_(whole),
          part_(part),
          strides_(core::signed_strides(whole)),
          part_strides_(core::signed_strides(part)) {
        order();
        merge();
    }

    /// The address in the whole tensor of the first element that is taken.
    [[nodiscard]] std::int64_t start() const {
        std::int64_t start = 0;
        for (std::size_t d = 0; d < steps_.size(); ++d) {
            start += strides_[d] * movement::window_start(offsets_[d], sizes_[d], steps_[d]);
        }
        return start;
    }

    /// What each step along a dimension of the part adds to that address.
    [[nodiscard]] const core::Strides& steps() const { return merged_; }

private:
    /// Dimensions from the largest stride to the smallest. Those of one element count if their window has another
    /// stride than 1.
    void order() {
        for (std::size_t d = 0; d < steps_.size(); ++d) {
            merged_.push_back(strides_[d] * steps_[d]);
            if (whole_.sizes[d] > 1 || steps_[d] != 1) {
                order_.push_back(d);
            }
        }
        std::ranges::stable_sort(order_, std::ranges::greater(), [this](std::size_t d) { return strides_[d]; });
    }

    void merge() {
        for (std::size_t i = order_.size(); i-- > 1;) {
            const std::size_t outer = order_[i - 1];
            const std::size_t inner = order_[i];
            if (steps_[outer] == 1 && steps_[inner] == 1 && sizes_[inner] == whole_.sizes[inner] &&
                strides_[outer] == strides_[inner] * whole_.sizes[inner] && is_dense(i - 1)) {
                merged_[outer] = merged_[inner] * part_.sizes[inner];
            }
        }
    }

    /// Whether the part has no gap between a dimension of this order and the next one of more than one element.
    [[nodiscard]] bool is_dense(std::size_t i) const {
        const auto next = std::find_if(order_.begin() + static_cast<std::ptrdiff_t>(i) + 1, order_.end(),
                                       [this](std::size_t d) { return part_.sizes[d] != 1; });
        return next == order_.end() || part_.sizes[order_[i]] == 1 ||
               part_strides_[order_[i]] == part_strides_[*next] * part_.sizes[*next];
    }

    const std::vector<std::uint32_t>& offsets_;
    const std::vector<std::uint32_t>& sizes_;
    const std::vector<std::int32_t>& steps_;
    const core::TensorDesc& whole_;
    const core::TensorDesc& part_;
    core::Strides strides_;
    core::Strides part_strides_;
    std::vector<std::size_t> order_;
    core::Strides merged_;
};

void slice(const KernelArguments& arguments) {
    Move move = movement::first_to_first(arguments);
    const Slice slice(arguments.descriptor, move.from->desc, move.to->desc);
    move.from_start = slice.start();
    for (std::size_t d = 0; d < move.axes.size(); ++d) {
        move.axes[d].from_stride = slice.steps()[d];
    }
    movement::carry_out(std::move(move));
}

void slice_grad(const KernelArguments& arguments) {
    const core::Tensor& gradient = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Slice slice(arguments.descriptor, output.desc, gradient.desc);
    std::ranges::fill(output.buffer.bytes(), std::byte{0});
    const core::Strides strides = core::signed_strides(gradient.desc);
    Move move{.from = &gradient, .to = &output, .to_start = slice.start(), .axes = {}};
    for (std::size_t d = 0; d < strides.size(); ++d) {
        move.axes.push_back({.size = gradient.desc.sizes[d], .to_stride = slice.steps()[d], .from_stride = strides[d]});
    }
    movement::carry_out(std::move(move));
}

}  // namespace
}  // namespace dmlconform::cpu::merged_slices

namespace dmlconform::cpu::variants_of_kernels {

void slice1_with_merged_dimensions(const KernelArguments& arguments) {
    merged_slices::slice(arguments);
}

void slice_grad_with_merged_dimensions(const KernelArguments& arguments) {
    merged_slices::slice_grad(arguments);
}

}  // namespace dmlconform::cpu::variants_of_kernels
