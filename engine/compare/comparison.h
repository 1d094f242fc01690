// Comparing an output with what it should be, element by element, within a tolerance.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// One element of an output.
struct ElementReport {
    /// Row-major index.
    std::uint64_t index = 0;
    std::uint64_t expected_bits = 0;
    std::uint64_t actual_bits = 0;
    /// Nothing when exactly one of the two is NaN.
    std::optional<std::uint64_t> ulp;
    /// How far below and above the expected value the element might lie, where the tolerance has an element_slack.
    struct Slack {
        double below = 0;
        double above = 0;
    };
    std::optional<Slack> slack;
};

/// Elements by their ULP distance: 0, 1, 2, 3–4, 5–8, …, 33–64, more, and those without a distance.
struct UlpHistogram {
    static constexpr std::size_t bucket_count = 10;
    std::array<std::uint64_t, bucket_count> counts{};

    [[nodiscard]] static std::size_t bucket_of(std::optional<std::uint64_t> ulp);
    /// "3-4": for reports.
    [[nodiscard]] static const char* label(std::size_t bucket);
};

struct Comparison {
    std::uint64_t elements = 0;
    /// How many elements are beyond the tolerance.
    std::uint64_t beyond = 0;
    /// The element furthest from what is expected, in ULPs, among those beyond the tolerance if there are any; nothing
    /// when all are equal.
    std::optional<ElementReport> worst;
    /// The largest part of the tolerance that an element within it used: 1 is all of it. Nothing for an exact
    /// tolerance.
    std::optional<double> largest_fraction;
    UlpHistogram histogram;

    [[nodiscard]] bool passed() const { return beyond == 0; }
};

/// Compares the addressed elements of two tensors of the same type and sizes; each may have strides of its own.
/// `slack` holds the bounds for element_slack tolerances and may be null for others.
[[nodiscard]] Comparison compare(const core::Tensor& expected, const core::Tensor& actual,
                                 const core::Tolerance& tolerance, const core::ElementSlack* slack);

/// Row-major index to coordinates.
[[nodiscard]] core::Dimensions coordinates_of(std::uint64_t index, const core::Dimensions& sizes);

}  // namespace dmlconform::compare
