// Iterates over several strided arrays of the same sizes in row-major order, run by run. A run is a sequence of
// elements with constant strides.
//
// Dimensions that are contiguous in every array are merged first. Packed tensors of any rank are a single run, and the
// loop over a run is simple enough for the compiler to vectorise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dmlconform::core {

/// Signed, because a window may be traversed backwards.
using Strides = std::vector<std::int64_t>;

template <std::size_t N>
class StridedRuns {
public:
    using PerArray = std::array<std::int64_t, N>;

    /// `strides[a]` has the strides of array `a`, one for each of `sizes`. No size may be 0.
    StridedRuns(std::span<const std::uint32_t> sizes, const std::array<Strides, N>& strides) {
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            PerArray here{};
            for (std::size_t a = 0; a < N; ++a) {
                here[a] = strides[a][d];
            }
            push(sizes[d], here);
        }
        if (dimensions_.empty()) {
            dimensions_.push_back({1, PerArray{}});
        }
    }

    [[nodiscard]] std::int64_t run_length() const { return dimensions_.back().size; }
    [[nodiscard]] const PerArray& run_strides() const { return dimensions_.back().strides; }

    [[nodiscard]] std::int64_t run_count() const {
        std::int64_t count = 1;
        for (std::size_t d = 0; d + 1 < dimensions_.size(); ++d) {
            count *= dimensions_[d].size;
        }
        return count;
    }

    /// Calls visit(offsets) for the runs first … last - 1. Offsets are in elements from the start of each array.
    template <class Visit>
    void for_each_run(std::int64_t first, std::int64_t last, Visit&& visit) const {
        const std::size_t outer = dimensions_.size() - 1;
        std::vector<std::int64_t> index(outer);
        PerArray offsets{};
        std::int64_t rest = first;
        for (std::size_t d = outer; d-- > 0;) {
            index[d] = rest % dimensions_[d].size;
            rest /= dimensions_[d].size;
            advance(offsets, d, index[d]);
        }
        for (std::int64_t run = first; run < last; ++run) {
            visit(static_cast<const PerArray&>(offsets));
            for (std::size_t d = outer; d-- > 0;) {
                advance(offsets, d, 1);
                if (++index[d] < dimensions_[d].size) {
                    break;
                }
                advance(offsets, d, -index[d]);
                index[d] = 0;
            }
        }
    }

    template <class Visit>
    void for_each_run(Visit&& visit) const {
        for_each_run(0, run_count(), static_cast<Visit&&>(visit));
    }

    /// Calls visit(offsets) for every element.
    template <class Visit>
    void for_each_element(Visit&& visit) const {
        for_each_run([&](PerArray offsets) {
            for (std::int64_t i = 0; i < run_length(); ++i) {
                visit(static_cast<const PerArray&>(offsets));
                advance(offsets, dimensions_.size() - 1, 1);
            }
        });
    }

    /// The offsets of one element, given its row-major index.
    [[nodiscard]] PerArray offsets_of(std::int64_t element) const {
        PerArray offsets{};
        for (std::size_t d = dimensions_.size(); d-- > 0;) {
            advance(offsets, d, element % dimensions_[d].size);
            element /= dimensions_[d].size;
        }
        return offsets;
    }

private:
    struct Dimension {
        std::int64_t size;
        PerArray strides;
    };

    void push(std::uint32_t size, const PerArray& strides) {
        if (size == 1) {
            return;
        }
        if (!dimensions_.empty()) {
            Dimension& outer = dimensions_.back();
            bool contiguous = true;
            for (std::size_t a = 0; a < N; ++a) {
                contiguous = contiguous && outer.strides[a] == strides[a] * size;
            }
            if (contiguous) {
                outer = {outer.size * size, strides};
                return;
            }
        }
        dimensions_.push_back({size, strides});
    }

    void advance(PerArray& offsets, std::size_t dimension, std::int64_t steps) const {
        for (std::size_t a = 0; a < N; ++a) {
            offsets[a] += dimensions_[dimension].strides[a] * steps;
        }
    }

    std::vector<Dimension> dimensions_;
};

}  // namespace dmlconform::core
