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

Tensor packed_copy(const Tensor& tensor) {
    Tensor packed(TensorDesc::packed(tensor.desc.data_type, tensor.desc.sizes));
    with_type(tensor.desc.data_type, [&]<class T>() {
        const StridedRuns<1> runs(tensor.desc.sizes, {signed_strides(tensor.desc)});
        const T* const from = tensor.as<T>().data();
        T* to = packed.as<T>().data();
        runs.for_each_element([&](const auto& offset) { *to++ = from[offset[0]]; });
    });
    return packed;
}

}  // namespace dmlconform::core
