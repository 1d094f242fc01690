// Dimensions of strided arrays in the form that shaders use: see shaders/common/strided.hlsli.
//
// Dimensions that are contiguous in every array are merged, as in core::StridedRuns, but the innermost comes first,
// because shaders split an element's index in that order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/strided.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// Strides and starts may be negative; shaders compute with them modulo 2^32.
[[nodiscard]] constexpr std::uint32_t modulo_2_32(std::int64_t number) {
    return static_cast<std::uint32_t>(number);
}

/// A dimension that N arrays share. Strides are signed, because windows may be traversed backwards.
template <std::size_t N>
struct SharedDimension {
    std::uint64_t size = 1;
    std::array<std::int64_t, N> strides{};
};

template <std::size_t N>
using StridedDimensions = std::vector<SharedDimension<N>>;

/// The dimensions, innermost first, without those of size 1, and with contiguous ones merged. At least one remains.
template <std::size_t N>
[[nodiscard]] StridedDimensions<N> merged(const StridedDimensions<N>& dimensions) {
    StridedDimensions<N> result;
    for (const SharedDimension<N>& here : dimensions) {
        if (here.size == 1) {
            continue;
        }
        bool contiguous = !result.empty();
        for (std::size_t a = 0; a < N && contiguous; ++a) {
            const SharedDimension<N>& inner = result.back();
            contiguous = here.strides[a] == inner.strides[a] * static_cast<std::int64_t>(inner.size);
        }
        if (contiguous) {
            result.back().size *= here.size;
        } else {
            result.push_back(here);
        }
    }
    if (result.empty()) {
        result.emplace_back();
    }
    return result;
}

/// `strides[a]` are those of array `a`, outermost first, like `sizes`. There must be at least one dimension.
template <std::size_t N>
[[nodiscard]] StridedDimensions<N> merge_dimensions(std::span<const std::uint32_t> sizes,
                                                    const std::array<core::Strides, N>& strides) {
    StridedDimensions<N> dimensions;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        SharedDimension<N> here;
        here.size = sizes[d];
        for (std::size_t a = 0; a < N; ++a) {
            here.strides[a] = strides[a][d];
        }
        dimensions.push_back(here);
    }
    return merged(dimensions);
}

/// The number of elements.
template <std::size_t N>
[[nodiscard]] std::uint64_t count_of(const StridedDimensions<N>& dimensions) {
    std::uint64_t count = 1;
    for (const auto& dimension : dimensions) {
        count *= dimension.size;
    }
    return count;
}

/// The dimensions of any number of arrays for a constant buffer, in rows of four words: the size, then the strides of
/// the first `arrays` arrays modulo 2^32. Each dimension begins a row.
template <std::size_t N>
[[nodiscard]] std::vector<std::uint32_t> strided_rows(const StridedDimensions<N>& dimensions, std::size_t arrays) {
    constexpr std::size_t row_words = 4;
    const std::size_t words = (1 + arrays + row_words - 1) / row_words * row_words;
    std::vector<std::uint32_t> result(dimensions.size() * words);
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        result[d * words] = static_cast<std::uint32_t>(dimensions[d].size);
        for (std::size_t a = 0; a < std::min(N, words - 1); ++a) {
            result[d * words + 1 + a] = modulo_2_32(dimensions[d].strides[a]);
        }
    }
    return result;
}

/// The words of parameters that end with dimensions, up to the last used one.
template <class Parameters, std::size_t N>
[[nodiscard]] std::vector<std::uint32_t> words_with(const Parameters& parameters,
                                                    const StridedDimensions<N>& dimensions, std::size_t arrays) {
    std::vector<std::uint32_t> words = parameters_from(parameters);
    words.resize(offsetof(Parameters, dimensions) / sizeof(std::uint32_t));
    const std::vector<std::uint32_t> rows = strided_rows(dimensions, arrays);
    words.insert(words.end(), rows.begin(), rows.end());
    return words;
}

}  // namespace dmlconform::d3d12
