// Copies the elements of a tensor of any strides and type to a packed xtensor array.
#pragma once

#include "engine/core/tensor.h"
#include "engine/cpu/xtensor.h"

namespace dmlconform::cpu {

/// The elements in row-major order, converted to `To`, in the tensor's shape.
template <class To>
[[nodiscard]] xt::xarray<To> elements(const core::Tensor& tensor) {
    const core::Dimensions& sizes = tensor.desc.sizes;
    auto result = xt::xarray<To>::from_shape({sizes.begin(), sizes.end()});
    core::with_type(tensor.desc.data_type, [&]<class From>() {
        const From* from = tensor.as<From>().data();
        To* to = result.data();
        const core::StridedRuns<1> runs(sizes, {core::signed_strides(tensor.desc)});
        runs.for_each_run([&](const auto& offset) {
            for (std::int64_t i = 0; i < runs.run_length(); ++i) {
                *to++ = static_cast<To>(from[offset[0] + i * runs.run_strides()[0]]);
            }
        });
    });
    return result;
}

/// The single element of a tensor; `otherwise` if the tensor is absent.
template <class To>
[[nodiscard]] To scalar(const core::Tensor* tensor, To otherwise) {
    return tensor == nullptr ? otherwise : *elements<To>(*tensor).data();
}

}  // namespace dmlconform::cpu
