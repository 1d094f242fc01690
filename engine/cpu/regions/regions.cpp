// Positions of samples in regions. What comments say about DirectML 1.15.4 is undocumented and was measured on it.
#include "engine/cpu/regions/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "engine/core/floating_format.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/movement/indices.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::window {
namespace {

/// Limit for the samples along an axis of a region; more would exhaust the memory and are probably a mistake.
constexpr std::int64_t most_samples = 1 << 20;

double number_of(const operators::Descriptor& descriptor, std::string_view field, double otherwise) {
    return descriptor.has_field(field) ? double{descriptor.number(field)} : otherwise;
}

/// A division, or a multiplication by the reciprocal. Division by powers of two is exact.
Interval quotient(const Interval& a, double divisor) {
    int exponent = 0;
    return std::frexp(divisor, &exponent) == 0.5 ? a * Interval(1 / divisor) : divided(a, divisor);
}

}  // namespace

RegionRules::RegionRules(const operators::Descriptor& descriptor)
    : scale_x(number_of(descriptor, "SpatialScaleX", 1)),
      scale_y(number_of(descriptor, "SpatialScaleY", 1)),
      input_offset(number_of(descriptor, "InputPixelOffset", 0.5)),
      output_offset(number_of(descriptor, "OutputPixelOffset", -0.5)),
      minimum_samples(descriptor.uint("MinimumSamplesPerOutput")),
      maximum_samples(descriptor.uint("MaximumSamplesPerOutput")),
      to_corners(descriptor.has_field("AlignRegionsToCorners") && descriptor.uint("AlignRegionsToCorners") != 0),
      linear(enumerator<operators::InterpolationMode>(descriptor, "InterpolationMode") ==
             operators::InterpolationMode::linear),
      maximum(enumerator<operators::ReduceFunction>(descriptor, "ReductionFunction") ==
              operators::ReduceFunction::max) {}

RegionAxis::RegionAxis(const RegionRules& rules, double scale, double start, double end, std::int64_t outputs,
                       std::int64_t size)
    : rules_(rules),
      outputs_(outputs),
      size_(size),
      start_(start * scale),
      end_(end * scale),
      length_(end_ - start_),
      start_range_(Interval(start) * Interval(scale)),
      end_range_(Interval(end) * Interval(scale)),
      length_range_(end_range_ - start_range_),
      shifted_start_(start_range_ - Interval(rules.input_offset)),
      shifted_length_((end_range_ - Interval(rules.input_offset)) - shifted_start_) {
    const Interval ratio = quotient(abs(length_range_), static_cast<double>(outputs));
    counts_.push_back(count_of(std::fabs(length_) / static_cast<double>(outputs)));
    for (const double other : {ratio.low, ratio.high}) {
        if (const std::int64_t count = count_of(other);
            ratio.has_numbers() && std::ranges::count(counts_, count) == 0) {
            counts_.push_back(count);
        }
    }
}

/// Measured on DirectML 1.15.4: rounded up, whatever the direction of the region.
std::int64_t RegionAxis::count_of(double ratio) const {
    const auto least = static_cast<double>(rules_.minimum_samples);
    const auto most = static_cast<double>(rules_.maximum_samples);
    return static_cast<std::int64_t>(std::isnan(ratio) ? least : std::clamp(std::ceil(ratio), least, most));
}

/// The position of sample `number` of `all`. Measured on DirectML 1.15.4: with aligned corners there is one step less
/// than samples, and a single sample is in the middle.
double RegionAxis::position(double number, double all) const {
    if (rules_.to_corners && all == 1) {
        return (start_ + end_) / 2 - rules_.input_offset;
    }
    const double steps = rules_.to_corners ? all - 1 : all;
    return (number - rules_.output_offset) * length_ / steps + start_ - rules_.input_offset;
}

/// With or without a common step; with the offset subtracted from the sum, from the start or from both corners; with
/// the output's offset before or after the multiplication by the step.
Interval RegionAxis::position_in_fp32(double number, double all) const {
    const Interval offset(rules_.input_offset);
    if (rules_.to_corners && all == 1) {
        const Interval half(0.5);
        return hull(hull((start_range_ + end_range_) * half - offset, start_range_ + length_range_ * half - offset),
                    shifted_start_ + shifted_length_ * half);
    }
    const double steps = rules_.to_corners ? all - 1 : all;
    const Interval shifted = in_fp32(number) - Interval(rules_.output_offset);
    const auto steps_along = [&](const Interval& length) {
        return hull(shifted * quotient(length, steps), quotient(shifted * length, steps));
    };
    const Interval way = steps_along(length_range_);
    const Interval step = quotient(length_range_, steps);
    const Interval before = start_range_ - Interval(rules_.output_offset) * step;
    const Interval apart = in_fp32(number) * step;
    Interval result = hull(hull((way + start_range_) - offset, way + (start_range_ - offset)),
                           hull((apart + before) - offset, apart + (before - offset)));
    // The length that is lost beside an infinite offset does not count.
    if (std::isfinite(rules_.input_offset)) {
        result = hull(result, steps_along(shifted_length_) + shifted_start_);
    }
    // Infinities of opposite signs may meet.
    const double farthest =
        std::max({std::fabs(start_), std::fabs(end_), std::fabs((number - rules_.output_offset) * length_)});
    result.nan = result.nan || farthest > core::float32.largest;
    return result;
}

/// Measured on DirectML 1.15.4: a sample is inside if it is less than one element away from the input; with aligned
/// corners, if it is between the centres of the outermost elements. NaN counts as inside.
void RegionAxis::mark_inside(Sample& sample) const {
    const double last = static_cast<double>(size_ - 1);
    const Interval& range = sample.range;
    if (rules_.to_corners) {
        sample.is_inside = !(sample.position < 0 || sample.position > last);
        sample.inside = !(range < Interval(0) || range > Interval(last));
    } else {
        sample.is_inside = !(sample.position <= -1 || sample.position >= last + 1);
        sample.inside = !(range <= Interval(-1) || range >= Interval(last + 1));
    }
}

std::vector<Sample> RegionAxis::samples(std::int64_t count, bool bounded) const {
    const std::int64_t all = outputs_ * count;
    if (count > most_samples || all > most_samples) {
        throw std::length_error(
            fmt::format("a region takes {} times {} samples along an axis; the reference takes {} at most", outputs_,
                        count, most_samples));
    }
    std::vector<Sample> samples(static_cast<std::size_t>(all));
    for (std::int64_t i = 0; i < all; ++i) {
        Sample& sample = samples[static_cast<std::size_t>(i)];
        sample.position = position(static_cast<double>(i), static_cast<double>(all));
        sample.range =
            bounded ? position_in_fp32(static_cast<double>(i), static_cast<double>(all)) : Interval(sample.position);
        mark_inside(sample);
        find_neighbours(sample, size_, rules_.linear ? Reading::linear : Reading::nearest, bounded);
    }
    return samples;
}

Regions::Regions(const operators::Descriptor& descriptor, const core::Tensor& regions, const core::Tensor& batches,
                 const core::Dimensions& outputs, const core::Dimensions& image)
    : rules_(descriptor),
      regions_(regions),
      batches_(batches),
      outputs_(outputs),
      image_(image),
      count_(std::int64_t{outputs[0]}) {}

Region Regions::region(std::int64_t number, bool bounded) const {
    const core::Strides strides = core::signed_strides(regions_.desc);
    std::array<double, 4> corners{};  // x1, y1, x2, y2
    element_wise::load(regions_.buffer.bytes(),
                       {regions_.desc.data_type, number * strides[strides.size() - 2], strides.back()}, corners.size(),
                       corners.data());
    const RegionAxis y(rules_, rules_.scale_y, corners[1], corners[3], outputs_[2], image_[2]);
    const RegionAxis x(rules_, rules_.scale_x, corners[0], corners[2], outputs_[3], image_[3]);
    const movement::Indices batches(batches_);
    Region region{.batch = batches.at(number * batches.strides().back()), .grids = {}};
    for (const std::int64_t rows : y.counts()) {
        for (const std::int64_t columns : x.counts()) {
            if (bounded || region.grids.empty()) {
                region.grids.push_back({rows, columns, y.samples(rows, bounded), x.samples(columns, bounded)});
            }
        }
    }
    return region;
}

}  // namespace dmlconform::cpu::window
