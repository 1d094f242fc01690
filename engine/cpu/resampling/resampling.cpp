// Positions and weights of resampling. What comments say about DirectML 1.15.4 is undocumented and was measured on it.
#include "engine/cpu/resampling/resampling.h"
#include "engine/core/floating_format.h"
#include "engine/operators/enumerators.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace dmlconform::cpu::window {
namespace {

double number_of(const operators::Descriptor& descriptor, std::string_view field, std::size_t d, double otherwise) {
    return !descriptor.has_field(field) ? otherwise : double{descriptor.get<std::vector<float>>(field)[d]};
}

/// The attributes that map positions along a dimension.
struct Mapping {
    double scale;
    double input_offset;
    double output_offset;

    /// The centre of an element is half an element from its edges.
    Mapping(const operators::Descriptor& descriptor, std::size_t d)
        : scale(number_of(descriptor, "Scales", d, 1)),
          input_offset(number_of(descriptor, "InputPixelOffsets", d, 0.5)),
          output_offset(number_of(descriptor, "OutputPixelOffsets", d, -0.5)) {}

    [[nodiscard]] double position(std::int64_t output) const { return before_input_offset(output) - input_offset; }
    [[nodiscard]] double before_input_offset(std::int64_t output) const {
        return (static_cast<double>(output) - output_offset) / scale;
    }

    /// The FP32 range: with a division or a reciprocal, with separate or combined offsets. Division by powers of two is
    /// exact.
    [[nodiscard]] Interval position_in_fp32(std::int64_t output) const {
        const Interval offset = -(Interval(output_offset) * inverse()) - Interval(input_offset);
        return hull(shifted_in_fp32(output) - Interval(input_offset),
                    in_fp32(static_cast<double>(output)) * inverse() + offset);
    }
    [[nodiscard]] Interval before_input_offset_in_fp32(std::int64_t output) const {
        return hull(shifted_in_fp32(output),
                    in_fp32(static_cast<double>(output)) * inverse() - Interval(output_offset) * inverse());
    }

private:
    [[nodiscard]] bool is_power_of_two() const {
        int exponent = 0;
        return std::frexp(scale, &exponent) == 0.5;
    }
    [[nodiscard]] Interval inverse() const {
        return is_power_of_two() ? Interval(1 / scale) : Interval(1) / Interval(scale);
    }
    [[nodiscard]] Interval shifted_in_fp32(std::int64_t output) const {
        const Interval shifted = in_fp32(static_cast<double>(output)) - Interval(output_offset);
        return is_power_of_two() ? shifted * inverse() : hull(shifted / Interval(scale), shifted * inverse());
    }
};

Reading reading_of(const operators::Descriptor& descriptor) {
    if (is_linear(descriptor)) {
        return Reading::linear;
    }
    if (!descriptor.has_field("RoundingDirection")) {
        return Reading::nearest;
    }
    const auto direction = enumerator<operators::AxisDirection>(descriptor, "RoundingDirection");
    return direction == operators::AxisDirection::increasing ? Reading::above : Reading::below;
}

// ---- antialiasing ------------------------------------------------------------------------------------------------

/// The condition in the documentation.
bool is_antialiased(const operators::Descriptor& descriptor, std::size_t d) {
    return descriptor.has_field("Antialiased") && descriptor.uint("Antialiased") != 0 && is_linear(descriptor) &&
           1 / number_of(descriptor, "Scales", d, 1) > 2;
}

/// The linear filter, widened to reach 1 / scale in both directions. Beyond the outermost elements these repeat, as in
/// ONNX's Resize, whose wording the documentation uses.
class Filter {
public:
    Filter(double scale, std::int64_t size) : scale_(scale), size_(size) {}

    [[nodiscard]] double weight(std::int64_t element, double position) const {
        double weight = std::max(0.0, 1 - std::fabs(static_cast<double>(element) - position) * scale_);
        if (element == 0) {
            weight += before(position);
        }
        if (element == size_ - 1) {
            weight += before(static_cast<double>(size_ - 1) - position);
        }
        return weight;
    }

private:
    /// The total weight of all positions from this distance on, one element apart.
    [[nodiscard]] double from(double distance) const {
        const double count = std::floor(1 / scale_ - distance) + 1;
        return count <= 0 ? 0 : count * (1 - distance * scale_) - scale_ * count * (count - 1) / 2;
    }

    /// The total weight of all positions before element 0.
    [[nodiscard]] double before(double position) const {
        if (position >= -1) {
            return from(position + 1);
        }
        // At infinite distance, the whole filter lies before the element.
        const double rest = std::isinf(position) ? 0 : position - std::floor(position);
        return from(rest) + from(1 - rest) - from(-position);
    }

    double scale_;
    std::int64_t size_;
};

/// FP32 sums one weight for each position that the filter covers.
std::vector<Weight> filtered(const Mapping& mapping, const Sample& sample, std::int64_t size, bool bounded) {
    const Filter filter(mapping.scale, size);
    std::vector<Weight> weights;
    double sum = 0;
    for (std::int64_t element = 0; element < size; ++element) {
        const auto position = static_cast<double>(element);
        const double value = filter.weight(element, sample.position);
        double low = value;
        double high = value;
        for (const double other :
             {sample.range.low, sample.range.high,
              std::clamp(position, sample.range.low, std::max(sample.range.low, sample.range.high))}) {
            low = std::min(low, filter.weight(element, other));
            high = std::max(high, filter.weight(element, other));
        }
        // Three roundings of numbers up to 2, or up to 1 for each position beyond an outermost element.
        const bool outermost = element == 0 || element == size - 1;
        const double error = core::float32.one_rounding * (4 + (outermost ? 4 * high * (2 / mapping.scale + 1) : 0));
        if (high > 0) {
            weights.push_back({element, value, {std::max(0.0, low - error), high + error, false}});
            sum += value;
        }
    }
    reduction::SumRange range;
    for (const Weight& weight : weights) {
        range.add(weight.range);
    }
    for (Weight& weight : weights) {
        weight.value /= sum;
        weight.range = bounded ? weight.range / range.result() : Interval(weight.value);
    }
    return weights;
}

/// An element and the next one, both of which are clamped to the input, and the distances of two positions from it.
Between pair_at(double first, double low, double high, std::int64_t size) {
    const auto inside = [size](double element) {
        return std::isnan(element) ? std::int64_t{0}
                                   : static_cast<std::int64_t>(std::clamp(element, 0.0, static_cast<double>(size - 1)));
    };
    return {inside(first), inside(first + 1), low - first, high - first};
}

/// The pairs whose first element is one of a range, for a range of positions. Those beyond the input are one.
std::vector<Between> pairs_at(const Interval& first, const Interval& position, std::int64_t size) {
    std::vector<Between> pairs;
    const double lowest = std::floor(first.low);
    const double highest = std::floor(first.high);
    const auto end = static_cast<double>(size);
    const auto add = [&](double from, double to) {
        if (from <= to) {
            pairs.push_back(pair_at(from, position.low - (to - from), position.high, size));
        }
    };
    add(lowest, std::min(highest, -1.0));
    for (double at = std::max(lowest, 0.0); at <= std::min(highest, end - 1); ++at) {
        add(at, at);
    }
    add(std::max(lowest, end), highest);
    return pairs;
}

}  // namespace

/// Tolerances are computed for descriptors without attributes, too.
bool is_linear(const operators::Descriptor& descriptor) {
    using operators::InterpolationMode;
    return !std::holds_alternative<operators::Null>(descriptor.value("InterpolationMode")) &&
           enumerator<InterpolationMode>(descriptor, "InterpolationMode") == InterpolationMode::linear;
}

bool is_antialiased(const operators::Descriptor& descriptor) {
    // Tolerances are computed for descriptors without attributes, too.
    const auto* scales = std::get_if<std::vector<float>>(&descriptor.value("Scales"));
    for (std::size_t d = 0; scales != nullptr && d < scales->size(); ++d) {
        if (is_antialiased(descriptor, d)) {
            return true;
        }
    }
    return false;
}

namespace {

std::vector<Sample> samples_read(const operators::Descriptor& descriptor, const Line& line, Reading reading,
                                 bool bounded) {
    const Mapping mapping(descriptor, line.dimension);
    std::vector<Sample> samples(static_cast<std::size_t>(line.outputs));
    for (std::int64_t output = 0; output < line.outputs; ++output) {
        Sample& sample = samples[static_cast<std::size_t>(output)];
        sample.position = mapping.position(output);
        sample.range = bounded ? mapping.position_in_fp32(output) : Interval(sample.position);
        find_neighbours(sample, line.size, reading, bounded);
    }
    return samples;
}

}  // namespace

std::vector<Sample> samples_along(const operators::Descriptor& descriptor, const Line& line, bool bounded) {
    return samples_read(descriptor, line, reading_of(descriptor), bounded);
}

std::vector<Sample> samples_below(const operators::Descriptor& descriptor, const Line& line, bool bounded) {
    return samples_read(descriptor, line, is_linear(descriptor) ? Reading::linear : Reading::below, bounded);
}

constexpr double beyond_int32 = 0x1p31;

std::vector<Sample> samples_with_clamped_offset(const operators::Descriptor& descriptor, const Line& line,
                                                bool bounded) {
    const Mapping mapping(descriptor, line.dimension);
    const double clamped = std::clamp(mapping.input_offset, 0.0, 1.0);
    std::vector<Sample> samples(static_cast<std::size_t>(line.outputs));
    for (std::int64_t output = 0; output < line.outputs; ++output) {
        Sample& sample = samples[static_cast<std::size_t>(output)];
        sample.position = mapping.position(output);
        const double first = std::floor(mapping.before_input_offset(output) - clamped);
        sample.at = pair_at(first, sample.position, sample.position, line.size);
        sample.at.from = sample.at.first == sample.at.second ? 0 : sample.at.from;
        if (!bounded) {
            continue;
        }
        sample.range = mapping.position_in_fp32(output);
        const Interval chosen = mapping.before_input_offset_in_fp32(output) - Interval(clamped);
        sample.anywhere = sample.range.nan || chosen.nan || !sample.range.has_numbers() || !chosen.has_numbers() ||
                          !std::isfinite(sample.position);
        if (sample.anywhere) {
            continue;
        }
        sample.around = pairs_at(chosen, sample.range, line.size);
        std::ranges::copy(between(sample.range.low, sample.range.high, line.size), std::back_inserter(sample.around));
        if (mapping.scale == 1 && mapping.input_offset == -mapping.output_offset) {
            sample.around.push_back({sample.at.first, sample.at.first, 0, 0});
        }
        // The first element's number is an INT32, which wraps around: the last element is followed by the first one.
        if (chosen.low <= -beyond_int32 || chosen.high >= beyond_int32 - 1) {
            sample.around.push_back({line.size - 1, 0, sample.range.low - std::floor(chosen.high),
                                     sample.range.high - std::floor(chosen.low)});
        }
    }
    return samples;
}

std::vector<std::vector<Weight>> weights_along(const operators::Descriptor& descriptor, const Line& line,
                                               bool bounded) {
    const Mapping mapping(descriptor, line.dimension);
    const bool antialiased = is_antialiased(descriptor, line.dimension);
    std::vector<std::vector<Weight>> weights;
    for (const Sample& sample : samples_along(descriptor, line, bounded)) {
        weights.push_back(antialiased && !sample.anywhere ? filtered(mapping, sample, line.size, bounded)
                                                          : weights_of(sample));
    }
    return weights;
}

}  // namespace dmlconform::cpu::window
