// RESAMPLE, RESAMPLE1 and RESAMPLE2: elements of the input at places between its elements, the nearest one or a mean of
// those around. "M" marks what no documentation says and DirectML 1.15.4 does.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu {
namespace {

using movement::Coordinates;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Values of DML_INTERPOLATION_MODE.
bool is_linear(const operators::Descriptor& descriptor) {
    const auto* mode = std::get_if<std::uint32_t>(&descriptor.value("InterpolationMode"));
    return mode != nullptr && *mode == 1;
}

/// How a place becomes the number of an element. M: of two that are as near, RESAMPLE and RESAMPLE1 take the higher one.
enum class Nearest : std::uint8_t { half_up, half_down, below, above };

Nearest nearest_of(const operators::Descriptor& descriptor) {
    if (descriptor.schema->find_field("RoundingDirection") == nullptr) {
        return Nearest::half_up;
    }
    return descriptor.uint("RoundingDirection") == 0 ? Nearest::above : Nearest::below;
}

/// A dimension, and where its outputs lie in it: (output - output offset) / scale - input offset.
class Line {
public:
    Line(const operators::Descriptor& descriptor, std::size_t d, std::int64_t size, std::int64_t outputs)
        : size_(size), outputs_(outputs), scale_(of(descriptor, "Scales", d, 1)) {
        // Centres of elements lie half an element from their edges.
        input_offset_ = of(descriptor, "InputPixelOffsets", d, 0.5);
        output_offset_ = of(descriptor, "OutputPixelOffsets", d, -0.5);
    }

    [[nodiscard]] std::int64_t outputs() const { return outputs_; }

    [[nodiscard]] double place(std::int64_t output) const {
        return (static_cast<double>(output) - output_offset_) / scale_ - input_offset_;
    }

    /// As FP32 may have it: with a division or a reciprocal, with offsets one by one or as one. Powers of two divide
    /// exactly.
    [[nodiscard]] Interval place_in_fp32(std::int64_t output) const {
        int exponent = 0;
        const bool is_power = std::frexp(scale_, &exponent) == 0.5;
        const Interval number = window::in_fp32(static_cast<double>(output));
        const Interval inverse = is_power ? Interval(1 / scale_) : Interval(1) / Interval(scale_);
        const Interval shifted = number - Interval(output_offset_);
        const Interval quotient = is_power ? shifted * inverse : hull(shifted / Interval(scale_), shifted * inverse);
        const Interval offset = -(Interval(output_offset_) * inverse) - Interval(input_offset_);
        return hull(quotient - Interval(input_offset_), number * inverse + offset);
    }

    /// The element there, or the last one on the way there.
    [[nodiscard]] std::int64_t element(double place, Nearest how) const {
        const double number = how == Nearest::half_up     ? std::floor(place + 0.5)
                              : how == Nearest::half_down ? std::ceil(place - 0.5)
                              : how == Nearest::below     ? std::floor(place)
                                                          : std::ceil(place);
        return std::isnan(number) ? 0 : static_cast<std::int64_t>(clamped(number));
    }

    /// Within the outermost elements.
    [[nodiscard]] double clamped(double place) const { return std::clamp(place, 0.0, static_cast<double>(size_ - 1)); }
    [[nodiscard]] std::int64_t next(std::int64_t element) const { return std::min(element + 1, size_ - 1); }

private:
    static double of(const operators::Descriptor& descriptor, std::string_view field, std::size_t d, double otherwise) {
        return descriptor.schema->find_field(field) == nullptr ? otherwise
                                                               : double{descriptor.get<std::vector<float>>(field)[d]};
    }

    std::int64_t size_;
    std::int64_t outputs_;
    double scale_;
    double input_offset_ = 0;
    double output_offset_ = 0;
};

std::vector<Line> lines_of(const KernelArguments& arguments) {
    std::vector<Line> lines;
    for (std::size_t d = 0; d < arguments.inputs[0]->desc.sizes.size(); ++d) {
        lines.emplace_back(arguments.descriptor, d, std::int64_t{arguments.inputs[0]->desc.sizes[d]},
                           std::int64_t{arguments.outputs[0]->desc.sizes[d]});
    }
    return lines;
}

// ---- the nearest element -----------------------------------------------------------------------------------------

/// Of each output along a line, the first and the last element that may be the nearest one: both of two that are as
/// near, since the documentation has an example of the lower one.
using Candidates = std::vector<std::pair<std::int64_t, std::int64_t>>;

Candidates candidates_of(const Line& line, Nearest how) {
    Candidates candidates;
    for (std::int64_t i = 0; i < line.outputs(); ++i) {
        const Interval place = line.place_in_fp32(i);
        const std::int64_t element = line.element(line.place(i), how);
        const bool halves = how == Nearest::half_up;
        candidates.emplace_back(std::min(element, line.element(place.low, halves ? Nearest::half_down : how)),
                                std::max(element, line.element(place.high, halves ? Nearest::half_up : how)));
    }
    return candidates;
}

/// Lists the other elements that an output may be where FP32 does not tell which one is nearest.
void list_alternatives(const KernelArguments& arguments, const std::vector<Line>& lines, Nearest how) {
    const core::Tensor& input = *arguments.inputs[0];
    const core::Strides strides = core::signed_strides(input.desc);
    std::vector<Candidates> candidates;
    for (const Line& line : lines) {
        candidates.push_back(candidates_of(line, how));
    }
    auto& alternatives = arguments.slack[0].alternatives;
    const movement::Rows rows(arguments.outputs[0]->desc);
    rows.for_each(0, rows.count(), [&](Coordinates place, std::int64_t /*address*/, std::int64_t number) {
        std::vector<std::int64_t> addresses{0};
        for (std::size_t d = 0; d < place.size(); ++d) {
            const auto [first, last] = candidates[d][static_cast<std::size_t>(place[d])];
            std::vector<std::int64_t> further;
            for (const std::int64_t address : addresses) {
                for (std::int64_t element = first; element <= last; ++element) {
                    further.push_back(address + element * strides[d]);
                }
            }
            addresses = std::move(further);
        }
        for (std::size_t i = 0; addresses.size() > 1 && i < addresses.size(); ++i) {
            Unsigned bits;
            element_wise::load_bits(input.buffer.bytes(), {input.desc.data_type, addresses[i], 0}, 1, &bits);
            alternatives.emplace_back(static_cast<std::uint64_t>(number), bits.bits());
        }
    });
    std::sort(alternatives.begin(), alternatives.end());
    alternatives.erase(std::unique(alternatives.begin(), alternatives.end()), alternatives.end());
}

void take_nearest(const KernelArguments& arguments) {
    const Nearest how = nearest_of(arguments.descriptor);
    const std::vector<Line> lines = lines_of(arguments);
    movement::Move move = movement::first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    for (std::size_t d = 0; d < lines.size(); ++d) {
        for (std::int64_t i = 0; i < lines[d].outputs(); ++i) {
            move.axes[d].offsets.push_back(lines[d].element(lines[d].place(i), how) * strides[d]);
        }
    }
    movement::carry_out(std::move(move));
    if (!arguments.slack.empty()) {
        list_alternatives(arguments, lines, how);
    }
}

// ---- means of the elements around --------------------------------------------------------------------------------

/// Between two elements: how far from the first one, at least and at most.
struct Between {
    std::int64_t first = 0;
    std::int64_t second = 0;
    double from = 0;
    double to = 0;
};

/// Outside the outermost elements there is nothing between. One or two: rounding may lead past an element.
std::vector<Between> between(const Line& line, double low, double high) {
    const double from = line.clamped(low);
    const double to = line.clamped(high);
    std::vector<Between> result;
    for (double first = std::floor(from); first <= to; ++first) {
        const auto element = static_cast<std::int64_t>(first);
        result.push_back({element, line.next(element), std::max(0.0, from - first), std::min(1.0, to - first)});
    }
    return result;
}

/// What the elements around a place are like.
struct Around {
    double low = infinity;
    double high = -infinity;
    double largest = 0;
    bool finite = true;

    void add(double element) {
        largest = std::max(largest, std::fabs(element));
        finite = finite && std::isfinite(element);
    }
};

class Means {
public:
    explicit Means(const KernelArguments& arguments)
        : input_(*arguments.inputs[0]),
          output_(*arguments.outputs[0]),
          slack_(movement::wanted_slack(arguments)),
          strides_(core::signed_strides(input_.desc)) {
        for (const Line& line : lines_of(arguments)) {
            auto& exact = exact_.emplace_back();
            auto& ranges = ranges_.emplace_back();
            for (std::int64_t i = 0; i < line.outputs(); ++i) {
                const double place = std::isnan(line.place(i)) ? 0 : line.place(i);
                exact.push_back(between(line, place, place).front());
                const Interval range = hull(place, line.place_in_fp32(i));
                ranges.push_back(slack_ == nullptr ? std::vector<Between>() : between(line, range.low, range.high));
            }
        }
    }

    void compute() const {
        const movement::Rows rows(output_.desc);
        const auto one = [&](Coordinates place, std::int64_t address, std::int64_t number) {
            const double value = mean(place, 0, 0);
            movement::store_computed(output_, address, number, value, slack_, [&] { return range(place, value); });
        };
        parallel_for(rows.count(), 64 * rows.length(),
                     [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, one); });
    }

private:
    [[nodiscard]] double element(std::int64_t address) const {
        double element = 0;
        element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, 0}, 1, &element);
        return element;
    }

    /// Weighted by how near they are. Without a way to go, what lies beyond does not matter, be it infinite.
    [[nodiscard]] double mean(Coordinates place, std::size_t d, std::int64_t address) const {
        if (d == place.size()) {
            return element(address);
        }
        const Between& at = exact_[d][static_cast<std::size_t>(place[d])];
        const double first = mean(place, d + 1, address + at.first * strides_[d]);
        if (at.from == 0) {
            return first;
        }
        return first * (1 - at.from) + mean(place, d + 1, address + at.second * strides_[d]) * at.from;
    }

    /// The least and the greatest mean at the places that rounding may lead to.
    [[nodiscard]] Interval extremes(Coordinates place, std::size_t d, std::int64_t address, Around& around) const {
        if (d == place.size()) {
            const double here = element(address);
            around.add(here);
            return here;
        }
        Interval result(infinity, -infinity, false);
        for (const Between& at : ranges_[d][static_cast<std::size_t>(place[d])]) {
            const Interval first = extremes(place, d + 1, address + at.first * strides_[d], around);
            const Interval second = extremes(place, d + 1, address + at.second * strides_[d], around);
            for (const double way : {at.from, at.to}) {
                result.low = std::min(result.low, first.low * (1 - way) + second.low * way);
                result.high = std::max(result.high, first.high * (1 - way) + second.high * way);
            }
        }
        return result;
    }

    /// Whatever the order of the dimensions: at each there are a difference or a complement, a product and a sum, each
    /// of numbers that are no more than twice the largest element.
    [[nodiscard]] Interval range(Coordinates place, double value) const {
        Around around;
        const Interval means = extremes(place, 0, 0, around);
        if (!around.finite) {
            // An infinity with a weight of 0 is NaN, and a place past an element brings in others.
            return std::isfinite(value) ? Interval(-infinity, infinity, true) : Interval(value, value, true);
        }
        if (2 * around.largest > double{std::numeric_limits<float>::max()}) {
            return {-infinity, infinity, true};
        }
        const double error = means.low == means.high && means.low == value && around.largest == std::fabs(value)
                                 ? 0
                                 : 6 * 0x1p-23 * static_cast<double>(place.size()) * around.largest;
        return Interval(means.low - error, means.high + error, false) + Interval(0);
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
    core::Strides strides_;
    /// For each dimension and coordinate.
    std::vector<std::vector<Between>> exact_;
    std::vector<std::vector<std::vector<Between>>> ranges_;
};

// ---- rows --------------------------------------------------------------------------------------------------------

void compute(const KernelArguments& arguments) {
    if (is_linear(arguments.descriptor)) {
        Means(arguments).compute();
    } else {
        take_nearest(arguments);
    }
}

core::Tolerance tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& /*output*/) {
    if (is_linear(descriptor)) {
        return movement::computed_tolerance(
            true, "places as FP32 has them; 6 * 2^-23 of the largest element around for each dimension");
    }
    return {.exact = true, .ulp = {}, .abs = {}, .rel = {}, .alternatives = true};
}

}  // namespace

Kernels window_resampling_kernels() {
    Kernels rows;
    for (const std::string_view name : {"RESAMPLE", "RESAMPLE1", "RESAMPLE2"}) {
        rows.push_back({.name = name, .compute = compute, .tolerance = tolerance});
    }
    return rows;
}

}  // namespace dmlconform::cpu
