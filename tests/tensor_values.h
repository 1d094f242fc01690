// Converts values to tensors and back. The indexing is independent of core::StridedRuns.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "engine/core/tensor.h"

namespace dmlconform::tests {

/// The offset of each element from the tensor's start, in elements, in row-major order of the coordinates.
[[nodiscard]] inline std::vector<std::size_t> addresses_of(const core::TensorDesc& desc) {
    std::vector<std::size_t> strides(desc.sizes.size(), 1);
    for (std::size_t d = desc.sizes.size(); d-- > 0;) {
        if (desc.strides) {
            strides[d] = (*desc.strides)[d];
        } else if (d + 1 < desc.sizes.size()) {
            strides[d] = strides[d + 1] * desc.sizes[d + 1];
        }
    }
    // Proceeds from the outermost dimension inwards, replacing each address by one per coordinate.
    std::vector<std::size_t> addresses{0};
    for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
        std::vector<std::size_t> finer;
        for (const std::size_t address : addresses) {
            for (std::size_t i = 0; i < desc.sizes[d]; ++i) {
                finer.push_back(address + i * strides[d]);
            }
        }
        addresses = std::move(finer);
    }
    return addresses;
}

/// The value of bytes that belong to no element: a conspicuous negative number as FP32 and FP16, and no small integer.
inline constexpr std::byte gap_byte{0xcd};

/// A tensor in which every byte is gap_byte.
[[nodiscard]] inline core::Tensor blank_tensor(const core::TensorDesc& desc) {
    core::Tensor tensor(desc);
    if (!tensor.buffer.bytes().empty()) {
        std::memset(tensor.buffer.bytes().data(), std::to_integer<int>(gap_byte), tensor.buffer.bytes().size());
    }
    return tensor;
}

/// A tensor with the given elements in row-major order. T is the storage type of an element.
template <class T>
[[nodiscard]] core::Tensor tensor_of(const core::TensorDesc& desc, const std::vector<T>& values) {
    core::Tensor tensor = blank_tensor(desc);
    const auto addresses = addresses_of(desc);
    if (addresses.size() != values.size() || sizeof(T) != core::bytes_of(desc.data_type)) {
        throw std::logic_error("the test's values do not fit the tensor " + core::to_string(desc));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        tensor.as<T>()[addresses[i]] = values[i];
    }
    return tensor;
}

template <class T>
[[nodiscard]] core::Tensor tensor_of(const core::TensorDesc& desc, std::initializer_list<T> values) {
    return tensor_of(desc, std::vector<T>(values));
}

/// The elements in row-major order.
template <class T>
[[nodiscard]] std::vector<T> values_of(const core::Tensor& tensor) {
    if (sizeof(T) != core::bytes_of(tensor.desc.data_type)) {
        throw std::logic_error("the test reads elements of the wrong width from " + core::to_string(tensor.desc));
    }
    std::vector<T> values;
    for (const std::size_t address : addresses_of(tensor.desc)) {
        values.push_back(tensor.as<T>()[address]);
    }
    return values;
}

}  // namespace dmlconform::tests
