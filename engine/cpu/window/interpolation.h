// Places between elements along one dimension: which elements lie around them, and which ones FP32 may take instead.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cpu/interval.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu::window {

/// Between two elements: how far from the first one, at least and at most.
struct Between {
    std::int64_t first = 0;
    std::int64_t second = 0;
    double from = 0;
    double to = 0;
};

/// The parts of the way from one place to another, each between two neighbours of `size` elements. Before the first
/// element and behind the last one there is nothing between.
[[nodiscard]] std::vector<Between> between(double low, double high, std::int64_t size);

/// The same with the elements that lie around the places themselves: before the first element and behind the last one
/// both are the outermost one.
[[nodiscard]] std::vector<Between> steps_between(double low, double high, std::int64_t size);

/// A place, and what FP32 may make of it.
struct Sample {
    double place = 0;
    Interval range = 0;
    /// Where there is an element, or something between two.
    bool is_inside = true;
    Choice inside = {true, false};
    /// At the place itself, and all that FP32 may have. The latter is left empty if nobody asks for bounds.
    Between at = {};
    std::vector<Between> around = {};
    /// Whether the place may lie beyond the outermost elements, between which nothing is interpolated. Implementations
    /// may keep the place there or take the outermost element for both neighbours, whose weights are 1 together.
    bool may_be_beyond = false;
};

/// What is read at a place. M: of two elements that are as near, the higher one. The documentation has an example of
/// the lower one, so that both are around.
enum class Reading : std::uint8_t { linear, nearest, below, above };

/// Sets what lies around the sample's place.
void find_neighbours(Sample& sample, std::int64_t size, Reading reading, bool bounded);

/// How much of an element is in what is interpolated.
struct Weight {
    std::int64_t element = 0;
    double value = 0;
    Interval range = 0;
};

/// Of all elements around, also of those without weight. An element is listed twice where FP32 may add two parts of it.
[[nodiscard]] std::vector<Weight> weights_of(const Sample& sample);

/// An element with that weight in FP32. Where the weight may be zero, nothing may be added, or an infinity times zero.
[[nodiscard]] Interval weighted(double element, const Interval& weight);

/// What the elements around a place are like.
struct Around {
    double largest = 0;
    bool finite = true;

    void add(double element);
};

/// What FP32 may interpolate in `dimensions` dimensions, `means` being the least and the greatest mean at the places
/// that rounding may lead to, and `value` the exact one. Whatever the order of the dimensions: at each there are a
/// difference or a complement, a product and a sum, each of numbers that are no more than twice the largest element.
[[nodiscard]] Interval interpolated_range(const Interval& means, const Around& around, double value,
                                          std::size_t dimensions);

}  // namespace dmlconform::cpu::window
