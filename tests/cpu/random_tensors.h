// Random tensors for kernel tests: any legal strides, with random bytes in the gaps as well.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {

class Random {
public:
    explicit Random(unsigned seed) : generator_(seed) {}

    /// Both ends are included.
    template <class T>
    T pick(T low, T high) {
        return static_cast<T>(std::uniform_int_distribution<std::int64_t>(static_cast<std::int64_t>(low),
                                                                          static_cast<std::int64_t>(high))(generator_));
    }
    bool one_in(int n) { return pick(1, n) == 1; }
    float uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(generator_); }
    float normal() { return std::normal_distribution<float>()(generator_); }
    std::uint64_t bits() { return generator_(); }

    core::Dimensions sizes(std::size_t rank, std::uint32_t largest, std::uint64_t most_elements) {
        core::Dimensions result(rank, 1);
        std::uint64_t count = 1;
        for (auto& size : result) {
            size = pick(1u, largest);
            size = count * size > most_elements ? 1 : size;
            count *= size;
        }
        std::shuffle(result.begin(), result.end(), generator_);
        return result;
    }

    /// A packed layout, or dimensions in any order with gaps between them. For an input, some strides may be 0.
    core::TensorDesc layout(core::DataType type, const core::Dimensions& sizes, operators::FieldKind kind) {
        if (one_in(3)) {
            return tensor(type, sizes);
        }
        std::vector<std::size_t> order(sizes.size());
        for (std::size_t d = 0; d < order.size(); ++d) {
            order[d] = d;
        }
        std::shuffle(order.begin(), order.end(), generator_);
        core::Dimensions strides(sizes.size());
        std::uint32_t stride = pick(1u, 2u);
        for (const std::size_t d : order) {
            strides[d] = stride;
            stride = stride * sizes[d] + pick(0u, 2u);
            if (kind == operators::FieldKind::input && one_in(4)) {
                strides[d] = 0;
            }
        }
        core::TensorDesc desc = tensor(type, sizes, strides);
        desc.total_bytes += pick(0u, 7u);
        return desc;
    }

    /// A tensor whose storage, gaps included, is filled by calls of `element`.
    template <class T, class Element>
    core::Tensor filled(const core::TensorDesc& desc, Element&& element) {
        core::Tensor result = blank_tensor(desc);
        for (T& value : result.as<T>()) {
            value = element();
        }
        return result;
    }

private:
    std::mt19937_64 generator_;
};

/// Converts a row-major index to coordinates, and back.
[[nodiscard]] inline std::vector<std::size_t> coordinates_of(std::size_t index, const core::Dimensions& sizes) {
    std::vector<std::size_t> coordinates(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {
        coordinates[d] = index % sizes[d];
        index /= sizes[d];
    }
    return coordinates;
}

[[nodiscard]] inline std::size_t index_of(const std::vector<std::size_t>& coordinates, const core::Dimensions& sizes) {
    std::size_t index = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        index = index * sizes[d] + coordinates[d];
    }
    return index;
}

[[nodiscard]] inline std::size_t count_of(const core::Dimensions& sizes) {
    std::size_t count = 1;
    for (const std::uint32_t size : sizes) {
        count *= size;
    }
    return count;
}

}  // namespace dmlconform::tests
