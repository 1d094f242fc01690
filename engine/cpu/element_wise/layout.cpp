// Finds dimensions for iterating over all tensors of an element-wise operator, including blockwise parameters.
#include "engine/cpu/element_wise/layout.h"

#include <algorithm>
#include <array>
#include <vector>

namespace dmlconform::cpu::element_wise {
namespace {

using operators::Descriptor;

class Layout {
public:
    Layout(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs) {
        for (const core::Tensor* input : inputs) {
            tensors_.push_back(input == nullptr ? nullptr : &input->desc);
        }
        for (const operators::TensorSlot& slot : descriptor.outputs()) {
            tensors_.push_back(slot.desc);
        }
        const core::Dimensions& sizes = tensors_.back()->sizes;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            add_dimension(d, sizes);
        }
    }

    [[nodiscard]] Runs runs() const { return {sizes_, strides_}; }

private:
    /// The size of dimension d, counted from the innermost one; 1 beyond the tensor's dimensions.
    static std::uint32_t size_at(const core::TensorDesc* desc, std::size_t d, std::size_t rank) {
        const std::size_t missing = rank - std::min(rank, desc == nullptr ? 0 : desc->sizes.size());
        return desc == nullptr || d < missing ? 1 : desc->sizes[d - missing];
    }

    /// Adds dimension d. A tensor of size 1 is broadcast. A tensor with a smaller size greater than 1 has one element
    /// for each block of neighbours: then the dimension is split in two.
    void add_dimension(std::size_t d, const core::Dimensions& sizes) {
        std::uint32_t blocks = sizes[d];
        for (const core::TensorDesc* desc : tensors_) {
            const std::uint32_t size = size_at(desc, d, sizes.size());
            if (size != 1 && size < blocks) {
                blocks = size;
            }
        }
        const std::uint32_t block = sizes[d] / blocks;
        push(blocks, d, sizes, block);
        if (block != 1) {
            push(block, d, sizes, 1);
        }
    }

    void push(std::uint32_t size, std::size_t d, const core::Dimensions& sizes, std::uint32_t step) {
        sizes_.push_back(size);
        for (std::size_t t = 0; t < most_tensors; ++t) {
            std::int64_t stride = 0;
            if (t < tensors_.size() && tensors_[t] != nullptr) {
                const std::uint32_t own = size_at(tensors_[t], d, sizes.size());
                const std::size_t missing = sizes.size() - std::min(sizes.size(), tensors_[t]->sizes.size());
                const std::int64_t own_stride = own == 1 ? 0 : core::signed_strides(*tensors_[t])[d - missing];
                // Stride over blocks: a full tensor advances by a whole block, a tensor with one element per block by
                // one element.
                const bool by_block = own != sizes[d];
                stride =
                    step == 1 && size != sizes[d] ? (by_block ? 0 : own_stride) : own_stride * (by_block ? 1 : step);
            }
            strides_[t].push_back(stride);
        }
    }

    std::vector<const core::TensorDesc*> tensors_;
    core::Dimensions sizes_;
    std::array<core::Strides, most_tensors> strides_;
};

}  // namespace

Runs runs_of(const Descriptor& descriptor, std::span<const core::Tensor* const> inputs) {
    return Layout(descriptor, inputs).runs();
}

}  // namespace dmlconform::cpu::element_wise
