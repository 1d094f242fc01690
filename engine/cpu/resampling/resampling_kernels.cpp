// RESAMPLE, RESAMPLE1, RESAMPLE2 and RESAMPLE3: read the input at positions between its elements, by nearest neighbour
// or linear interpolation. Comments on DirectML 1.15.4 are measurements. Equals definitions/resampling.cpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/resampling/resampling.h"
#include "engine/cpu/tensor_numbers.h"
#include "engine/cpu/variants.h"

namespace dmlconform::cpu::resampling_kernels {
namespace {

using movement::Coordinates;
using window::Between;
using window::Line;
using window::Sample;
using window::Weight;

constexpr double infinity = std::numeric_limits<double>::infinity();

Line line_of(const KernelArguments& arguments, std::size_t d) {
    return {d, std::int64_t{arguments.inputs[0]->desc.sizes[d]}, std::int64_t{arguments.outputs[0]->desc.sizes[d]}};
}

/// Chooses the elements that the outputs along a dimension are made of.
using FindSamples = std::vector<Sample> (*)(const operators::Descriptor&, const Line&, bool bounded);

/// For each dimension, a sample for each coordinate of the output.
std::vector<std::vector<Sample>> samples_of(const KernelArguments& arguments, bool bounded,
                                            FindSamples find = window::samples_along) {
    std::vector<std::vector<Sample>> samples;
    for (std::size_t d = 0; d < arguments.inputs[0]->desc.sizes.size(); ++d) {
        samples.push_back(find(arguments.descriptor, line_of(arguments, d), bounded));
    }
    return samples;
}

// ---- the nearest element -----------------------------------------------------------------------------------------

/// Lists the elements that are equally correct because FP32 cannot tell which one is nearest.
void list_alternatives(const KernelArguments& arguments, const std::vector<std::vector<Sample>>& samples) {
    const core::Tensor& input = *arguments.inputs[0];
    const core::Strides strides = core::signed_strides(input.desc);
    auto& alternatives = arguments.slack[0].alternatives;
    const movement::Rows rows(arguments.outputs[0]->desc);
    rows.for_each(0, rows.count(), [&](Coordinates coordinates, std::int64_t /*address*/, std::int64_t number) {
        std::vector<std::int64_t> addresses{0};
        for (std::size_t d = 0; d < coordinates.size(); ++d) {
            std::vector<std::int64_t> further;
            for (const std::int64_t address : addresses) {
                for (const Between& candidate : samples[d][static_cast<std::size_t>(coordinates[d])].around) {
                    further.push_back(address + candidate.first * strides[d]);
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

void take_nearest(const KernelArguments& arguments, FindSamples find = window::samples_along) {
    const std::vector<std::vector<Sample>> samples = samples_of(arguments, !arguments.slack.empty(), find);
    movement::Move move = movement::first_to_first(arguments);
    const core::Strides strides = core::signed_strides(move.from->desc);
    for (std::size_t d = 0; d < samples.size(); ++d) {
        for (const Sample& sample : samples[d]) {
            move.axes[d].offsets.push_back(sample.at.first * strides[d]);
        }
    }
    movement::carry_out(std::move(move));
    if (!arguments.slack.empty()) {
        list_alternatives(arguments, samples);
    }
}

// ---- means of the elements around --------------------------------------------------------------------------------

/// The elements that the output is read from and written to.
struct Ends {
    const core::Tensor& input;
    core::Tensor& output;
    core::ElementSlack* slack;
    core::Strides strides;

    explicit Ends(const KernelArguments& arguments)
        : input(*arguments.inputs[0]),
          output(*arguments.outputs[0]),
          slack(movement::wanted_slack(arguments)),
          strides(core::signed_strides(input.desc)) {}

    [[nodiscard]] double element(std::int64_t address) const {
        double element = 0;
        element_wise::load(input.buffer.bytes(), {input.desc.data_type, address, 0}, 1, &element);
        return element;
    }
};

/// The mean before it is truncated to an integer type. A mean that is an integer up to the rounding errors of a double
/// sum becomes that integer: a mean of 255s must not become 254.
double settled(core::DataType type, double mean) {
    constexpr double errors = 0x1p-32;
    const double whole = std::nearbyint(mean);
    return !core::is_floating_point(type) && std::fabs(mean - whole) < errors ? whole : mean;
}

class Means {
public:
    explicit Means(const KernelArguments& arguments, FindSamples find = window::samples_along)
        : ends_(arguments), samples_(samples_of(arguments, ends_.slack != nullptr, find)) {}

    void compute() const {
        const movement::Rows rows(ends_.output.desc);
        const auto one = [&](Coordinates coordinates, std::int64_t address, std::int64_t number) {
            const double value = settled(ends_.output.desc.data_type, mean(coordinates, 0, 0));
            movement::store_computed(ends_.output, address, number, value, ends_.slack,
                                     [&] { return range(coordinates, value); });
        };
        parallel_for(rows.count(), 64 * rows.length(),
                     [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, one); });
    }

private:
    [[nodiscard]] const Sample& sample(Coordinates coordinates, std::size_t d) const {
        return samples_[d][static_cast<std::size_t>(coordinates[d])];
    }

    /// The interpolated value. Neighbours with a weight of zero are ignored, even if they are infinite.
    [[nodiscard]] double mean(Coordinates coordinates, std::size_t d, std::int64_t address) const {
        if (d == coordinates.size()) {
            return ends_.element(address);
        }
        const Between& at = sample(coordinates, d).at;
        const double first = mean(coordinates, d + 1, address + at.first * ends_.strides[d]);
        if (at.from == 0) {
            return first;
        }
        return first * (1 - at.from) + mean(coordinates, d + 1, address + at.second * ends_.strides[d]) * at.from;
    }

    /// The smallest and the largest mean at the positions that rounding may lead to.
    [[nodiscard]] Interval extremes(Coordinates coordinates, std::size_t d, std::int64_t address,
                                    window::Around& around) const {
        if (d == coordinates.size()) {
            const double here = ends_.element(address);
            around.add(here);
            return here;
        }
        Interval result(infinity, -infinity, false);
        for (const Between& at : sample(coordinates, d).around) {
            const Interval first = extremes(coordinates, d + 1, address + at.first * ends_.strides[d], around);
            const Interval second = extremes(coordinates, d + 1, address + at.second * ends_.strides[d], around);
            for (const double way : {at.from, at.to}) {
                const Interval mean = window::mean_at(way, first, second);
                result.low = std::min(result.low, mean.low);
                result.high = std::max(result.high, mean.high);
            }
        }
        return result;
    }

    [[nodiscard]] bool is_at_element(Coordinates coordinates) const {
        std::size_t d = 0;
        return std::ranges::all_of(coordinates,
                                   [&](auto /*coordinate*/) { return sample(coordinates, d++).is_at_element(); });
    }

    /// The sum of all weights' magnitudes: 1 for positions between elements.
    [[nodiscard]] double gain(Coordinates coordinates) const {
        double product = 1;
        for (std::size_t d = 0; d < coordinates.size(); ++d) {
            double most = 1;
            for (const Between& at : sample(coordinates, d).around) {
                for (const double way : {at.from, at.to}) {
                    most = std::max(most, std::fabs(1 - way) + std::fabs(way));
                }
            }
            product *= most;
        }
        return product;
    }

    [[nodiscard]] Interval range(Coordinates coordinates, double value) const {
        for (std::size_t d = 0; d < coordinates.size(); ++d) {
            if (sample(coordinates, d).anywhere) {
                return {-infinity, infinity, true};
            }
        }
        window::Around around;
        around.gain = gain(coordinates);
        around.keeps_equal =
            around.gain == 1 && (!core::is_floating_point(ends_.output.desc.data_type) || is_at_element(coordinates));
        const Interval means = extremes(coordinates, 0, 0, around);
        return window::interpolated_range(means, around, value, coordinates.size());
    }

    Ends ends_;
    std::vector<std::vector<Sample>> samples_;
};

// ---- antialiased means -------------------------------------------------------------------------------------------

/// Computes weighted sums of all elements with a weight.
class WeightedMeans {
public:
    explicit WeightedMeans(const KernelArguments& arguments) : ends_(arguments) {
        for (std::size_t d = 0; d < ends_.strides.size(); ++d) {
            weights_.push_back(
                window::weights_along(arguments.descriptor, line_of(arguments, d), ends_.slack != nullptr));
        }
    }

    void compute() const {
        const movement::Rows rows(ends_.output.desc);
        window::with_sum(ends_.slack != nullptr, [&]<class Sum>() {
            const auto one = [&](Coordinates coordinates, std::int64_t address, std::int64_t number) {
                Total<Sum> total;
                add(coordinates, 0, 0, {0, 1, 1}, total);
                const double value = settled(ends_.output.desc.data_type, total.sum.value);
                movement::store_computed(ends_.output, address, number, value, ends_.slack,
                                         [&] { return total.range(); });
            };
            parallel_for(rows.count(), 1024 * rows.length(),
                         [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, one); });
        });
    }

private:
    template <class Sum>
    struct Total {
        Sum sum;
        double magnitude = 0;

        /// Implementations may divide by the sum of the weights at the end. Before that, weights are up to 1, and sums
        /// may overflow.
        [[nodiscard]] Interval range() const {
            return magnitude > core::float32.largest ? Interval(-infinity, infinity, true) : sum.range();
        }
    };

    template <class Sum>
    void add(Coordinates coordinates, std::size_t d, std::int64_t address, const Weight& so_far,
             Total<Sum>& total) const {
        if (d == coordinates.size()) {
            const double element = ends_.element(address);
            const double term = so_far.value == 0 ? 0 : element * so_far.value;
            total.magnitude += std::isfinite(term) ? std::fabs(element) : 0;
            total.sum.add(term, [&] { return window::weighted(element, so_far.range); });
            return;
        }
        for (const Weight& weight : weights_[d][static_cast<std::size_t>(coordinates[d])]) {
            const Weight product{0, so_far.value * weight.value,
                                 ends_.slack == nullptr ? Interval(0) : so_far.range * weight.range};
            add(coordinates, d + 1, address + weight.element * ends_.strides[d], product, total);
        }
    }

    Ends ends_;
    std::vector<std::vector<std::vector<Weight>>> weights_;
};

// ---- as DirectML computes them -----------------------------------------------------------------------------------

/// Numbers between and beyond the elements of the input, as far as weights of the given offsets lead beyond them. The
/// input is resampled to a power of two, and from there to the output.
Interval beyond_elements(const KernelArguments& arguments) {
    double gain = 1;
    for (const float offset : arguments.descriptor.get<std::vector<float>>("InputPixelOffsets")) {
        const double once = 1 + 2 * std::max({-double{offset}, double{offset} - 1, 0.0});
        gain *= once * once;
    }
    double low = infinity;
    double high = -infinity;
    for (const double element : numbers_of(*arguments.inputs[0])) {
        low = std::fmin(low, element);
        high = std::fmax(high, element);
    }
    const double middle = (low + high) / 2;
    const double reach = (high - low) / 2 * gain * (1 + 0x1p-9);
    return std::isfinite(reach) ? Interval(middle - reach, middle + reach, false) : Interval(-infinity, infinity, true);
}

void compute_with_clamped_offsets(const KernelArguments& arguments) {
    if (!window::is_linear(arguments.descriptor)) {
        return take_nearest(arguments);
    }
    if (!window::is_antialiased(arguments.descriptor)) {
        return Means(arguments, window::samples_with_clamped_offset).compute();
    }
    WeightedMeans(arguments).compute();
    core::Tensor& output = *arguments.outputs[0];
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    if (slack == nullptr) {
        return;
    }
    const Interval range =
        element_wise::stored_range(output.desc.data_type, beyond_elements(arguments), element_wise::Store::wrapping);
    const std::vector<double> values = numbers_of(output);
    for (std::size_t i = 0; i < values.size(); ++i) {
        note_accepted(*slack, i, output.desc.data_type, values[i], range);
    }
}

void compute_with_elements_below(const KernelArguments& arguments) {
    if (window::is_linear(arguments.descriptor)) {
        Means(arguments).compute();
    } else {
        take_nearest(arguments, window::samples_below);
    }
}

// ---- rows --------------------------------------------------------------------------------------------------------

void compute(const KernelArguments& arguments) {
    if (window::is_antialiased(arguments.descriptor)) {
        WeightedMeans(arguments).compute();
    } else if (window::is_linear(arguments.descriptor)) {
        Means(arguments).compute();
    } else {
        take_nearest(arguments);
    }
}

core::Tolerance tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& /*output*/) {
    if (window::is_antialiased(descriptor)) {
        return movement::computed_tolerance(
            true,
            "positions and weights as FP32 has them; one rounding of the sum of all magnitudes for each addition");
    }
    if (window::is_linear(descriptor)) {
        return movement::computed_tolerance(
            true, "positions as FP32 has them; 6 * 2^-23 of the largest element around for each dimension");
    }
    return {.exact = true, .ulp = {}, .abs = {}, .rel = {}, .alternatives = true};
}

}  // namespace

Kernels kernels() {
    Kernels rows;
    for (const std::string_view name : {"RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"}) {
        rows.push_back({.name = name, .compute = compute, .tolerance = tolerance});
    }
    return rows;
}

}  // namespace dmlconform::cpu::resampling_kernels

namespace dmlconform::cpu::variants_of_kernels {

void resample_with_clamped_offsets(const KernelArguments& arguments) {
    resampling_kernels::compute_with_clamped_offsets(arguments);
}

void resample_with_elements_below(const KernelArguments& arguments) {
    resampling_kernels::compute_with_elements_below(arguments);
}

}  // namespace dmlconform::cpu::variants_of_kernels
