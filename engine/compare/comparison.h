// Compares an output with its expected values, element by element, within a tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/compare/criteria.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// One element of an output.
struct ElementReport {
    /// Row-major index.
    std::uint64_t index = 0;
    std::uint64_t expected_bits = 0;
    std::uint64_t actual_bits = 0;
    /// Empty if exactly one of the two values is NaN.
    std::optional<std::uint64_t> ulp;
    /// Set for tolerances with an element_slack: how far the element may lie below and above the expected value.
    struct Slack {
        double below = 0;
        double above = 0;
    };
    std::optional<Slack> slack;
};

/// Counts elements by their distance in ULPs: 0, 1, 2, 3–4, 5–8, …, 33–64, more, and elements without a distance.
struct UlpHistogram {
    static constexpr std::size_t bucket_count = 10;
    std::array<std::uint64_t, bucket_count> counts{};

    [[nodiscard]] static std::size_t bucket_of(std::optional<std::uint64_t> ulp);
    /// The range of a bucket for reports: "3-4".
    [[nodiscard]] static const char* label(std::size_t bucket);
};

struct Comparison {
    std::uint64_t elements = 0;
    /// The number of elements beyond the tolerance.
    std::uint64_t beyond = 0;
    /// The element with the largest distance in ULPs. Only elements beyond the tolerance are considered if there are
    /// any. Empty if all elements are equal.
    std::optional<ElementReport> worst;
    /// The largest share of the tolerance that an element within it used; 1 is all of it. Empty for an exact tolerance.
    std::optional<double> largest_fraction;
    UlpHistogram histogram;

    [[nodiscard]] bool passed() const { return beyond == 0; }
};

/// Compares the addressed elements of two tensors of the same type and sizes. Their strides may differ. `slack` has the
/// bounds for element_slack tolerances and may be null for others.
[[nodiscard]] Comparison compare(const core::Tensor& expected, const core::Tensor& actual, const Criteria& tolerance,
                                 const core::ElementSlack* slack);

/// Converts a row-major index to coordinates.
[[nodiscard]] core::Dimensions coordinates_of(std::uint64_t index, const core::Dimensions& sizes);

}  // namespace dmlconform::compare
