// Storage of tensors.
#include "engine/core/tensor.h"

#include <limits>

namespace dmlconform::core {

Buffer::Buffer(std::uint64_t size) {
    if (size > std::numeric_limits<std::size_t>::max()) {
        throw std::bad_alloc();
    }
    size_ = static_cast<std::size_t>(size);
    if (size_ != 0) {
        data_.reset(static_cast<std::byte*>(::operator new(size_, alignment)));
    }
}

Strides signed_strides(const TensorDesc& desc) {
    const auto strides = effective_strides(desc);
    return {strides.begin(), strides.end()};
}

}  // namespace dmlconform::core
