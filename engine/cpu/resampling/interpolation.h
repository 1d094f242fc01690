// Positions between elements along one dimension: the elements around them, and those that FP32 may use instead.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/interval.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu::window {

/// Two neighbouring elements, and the smallest and largest distance from the first one.
struct Between {
    std::int64_t first = 0;
    std::int64_t second = 0;
    double from = 0;
    double to = 0;
};

/// Splits the interval between two positions at the elements, of which there are `size`. Before the first and after the
/// last element, both neighbours are the same.
[[nodiscard]] std::vector<Between> between(double low, double high, std::int64_t size);

/// The same. Before the first and after the last element, both neighbours are the outermost element.
[[nodiscard]] std::vector<Between> steps_between(double low, double high, std::int64_t size);

/// A position, and what FP32 may compute for it.
struct Sample {
    double position = 0;
    Interval range = 0;
    /// True if the position is at an element or between two.
    bool is_inside = true;
    Choice inside = {true, false};
    /// The neighbours of the exact position, and of all positions that FP32 may compute. The latter are empty if bounds
    /// are not wanted.
    Between at = {};
    std::vector<Between> around = {};
    /// True if the position may be beyond the outermost elements, where nothing is interpolated. Implementations may
    /// keep the position, or use the outermost element as both neighbours, whose weights add up to 1.
    bool may_be_beyond = false;
    /// True if the position may be NaN, so that the result is unspecified.
    bool anywhere = false;

    /// True if FP32 can only read one element, with a weight of 1.
    [[nodiscard]] bool is_at_element() const { return around.size() == 1 && around[0].from == 0 && around[0].to == 0; }
};

/// How a position is read. Measured on DirectML 1.15.4: of two elements at the same distance the higher one is nearest.
/// The documentation's example uses the lower one, so there are two modes.
enum class Reading : std::uint8_t { linear, nearest, below, above };

/// Sets the neighbours of the sample's position.
void find_neighbours(Sample& sample, std::int64_t size, Reading reading, bool bounded);

/// The weight of an element in an interpolated value.
struct Weight {
    std::int64_t element = 0;
    double value = 0;
    Interval range = 0;
};

/// The weights of all neighbours, including those of 0. An element is listed twice if FP32 may add two shares of it.
[[nodiscard]] std::vector<Weight> weights_of(const Sample& sample);

/// The weighted element in FP32. If the weight may be zero, the element may be skipped, or infinity may be multiplied
/// by zero.
[[nodiscard]] Interval weighted(double element, const Interval& weight);

/// Properties of the elements around a position.
struct Around {
    double largest = 0;
    /// The sum of the magnitudes of their weights: more than 1 if the result lies beyond two elements.
    double gain = 1;
    bool finite = true;
    /// True if equal elements must give exactly that element: those of integer types, because truncation would take one
    /// off, and a single element with a weight of 1. Otherwise implementations may round shares of equal elements.
    bool keeps_equal = false;

    void add(double element);
};

/// The mean of two elements at a distance from the first one. Below 0 and above 1 one of the weights is negative.
[[nodiscard]] Interval mean_at(double way, const Interval& first, const Interval& second);

/// The range that FP32 may compute by interpolation in `dimensions` dimensions. `means` are the smallest and largest
/// mean at the positions that rounding may lead to, `value` is the exact result. In any order of dimensions, each takes
/// a difference or complement, a product and a sum of numbers that are at most twice the largest element.
[[nodiscard]] Interval interpolated_range(const Interval& means, const Around& around, double value,
                                          std::size_t dimensions);

}  // namespace dmlconform::cpu::window
