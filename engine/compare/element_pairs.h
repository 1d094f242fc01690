// Iterates over the elements of two tensors of the same sizes and data type in parallel.
#pragma once

#include <cstdint>

#include "engine/core/strided.h"
#include "engine/core/tensor.h"

namespace dmlconform::compare {

/// Calls visit(expected, actual, index) for each pair in row-major order. Elements must be at least one byte wide: see
/// core::widened_copy.
template <class Visit>
void for_each_pair(const core::Tensor& expected, const core::Tensor& actual, const Visit& visit) {
    const core::StridedRuns<2> runs(expected.desc.sizes,
                                    {core::signed_strides(expected.desc), core::signed_strides(actual.desc)});
    core::with_type(expected.desc.data_type, [&]<class T>() {
        const T* const wanted = expected.as<T>().data();
        const T* const found = actual.as<T>().data();
        std::uint64_t index = 0;
        runs.for_each_element([&](const auto& offsets) {
            visit(wanted[offsets[0]], found[offsets[1]], index);
            ++index;
        });
    });
}

}  // namespace dmlconform::compare
