// Random layouts and contents, the same for the same seed on every platform.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "engine/core/element.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests {

/// SplitMix64 (Steele, Lea & Flood 2014), because the standard library's distributions differ between platforms.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// A number from low to high, both included.
    std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(bits() % (std::uint64_t{high} - low + 1));
    }

    bool chance(std::uint32_t one_in) { return bits() % one_in == 0; }

    double between_reals(double low, double high) {
        return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53;
    }

    template <class Container>
    const auto& one_of(const Container& items) {
        return items[bits() % items.size()];
    }

private:
    std::uint64_t state_;
};

/// Sizes whose product is at most `most`.
inline core::Dimensions random_sizes(Random& random, std::size_t rank, std::uint32_t most) {
    core::Dimensions sizes(rank, 1);
    std::uint32_t left = most;
    for (std::size_t turn = 0; turn < rank; ++turn) {
        std::uint32_t& size = sizes[random.between(0, static_cast<std::uint32_t>(rank) - 1)];
        if (size == 1) {
            size = random.between(1, std::max(1u, std::min(left, 24u)));
            left /= size;
        }
    }
    return sizes;
}

enum class Layout : std::uint8_t { packed, padded, permuted, broadcast };

/// A tensor in one of the layouts; an output is never broadcast. Padded layouts have no particular alignment.
inline core::TensorDesc laid_out(Random& random, core::DataType type, const core::Dimensions& sizes, Layout layout) {
    core::TensorDesc desc = core::TensorDesc::packed(type, sizes);
    if (layout == Layout::packed) {
        return desc;
    }
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (layout == Layout::permuted) {
        for (std::size_t i = order.size(); i-- > 1;) {
            std::swap(order[i], order[random.between(0, static_cast<std::uint32_t>(i))]);
        }
    }
    core::Dimensions strides(sizes.size());
    std::uint32_t stride = layout == Layout::padded ? random.between(1, 3) : 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        strides[order[i]] = stride;
        stride = stride * sizes[order[i]] + (layout == Layout::padded ? random.between(0, 3) : 0);
    }
    if (layout == Layout::broadcast) {
        strides[random.between(0, static_cast<std::uint32_t>(sizes.size()) - 1)] = 0;
    }
    desc.strides = strides;
    desc.total_bytes = core::minimum_total_bytes(desc).value();
    return desc;
}

inline core::TensorDesc random_input(Random& random, core::DataType type, const core::Dimensions& sizes) {
    return laid_out(random, type, sizes, static_cast<Layout>(random.between(0, 3)));
}

/// Often has a total size that is not a multiple of 4.
inline core::TensorDesc random_output(Random& random, core::DataType type, const core::Dimensions& sizes) {
    core::TensorDesc desc = laid_out(random, type, sizes, static_cast<Layout>(random.between(0, 2)));
    if (random.chance(2)) {
        desc.total_bytes += random.between(1, 3);
    }
    return desc;
}

/// Fills a tensor with random bits; every bit pattern is possible.
inline core::Tensor random_bits(Random& random, const core::TensorDesc& desc) {
    core::Tensor tensor(desc);
    for (std::byte& byte : tensor.buffer.bytes()) {
        byte = static_cast<std::byte>(random.bits() & 0xff);
    }
    return tensor;
}

/// Fills a tensor with elements drawn by `draw` and converted to the type; gaps hold gap_byte.
template <class Draw>
core::Tensor drawn(const core::TensorDesc& desc, Draw&& draw) {
    core::Tensor tensor = blank_tensor(desc);
    for (const std::size_t address : addresses_of(desc)) {
        core::store_element(tensor.buffer.bytes(), desc.data_type, address,
                            core::encode_element(desc.data_type, draw()).value());
    }
    return tensor;
}

/// The bits of all elements in row-major order.
inline std::vector<std::uint64_t> elements_of(const core::Tensor& tensor) {
    std::vector<std::uint64_t> bits;
    for (const std::size_t address : addresses_of(tensor.desc)) {
        bits.push_back(core::load_element(tensor.buffer.bytes(), tensor.desc.data_type, address));
    }
    return bits;
}

}  // namespace dmlconform::tests
