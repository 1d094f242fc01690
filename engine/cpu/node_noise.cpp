// Adds noise to tensors element by element, and to rows of FP32 in parts.
#include "engine/cpu/node_noise.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/core/hash.h"
#include "engine/core/strided.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/noise_in_sixteens.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/prefetch.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {

namespace {

/// The distance from a number to the next one in the type; at a power of two to the larger one.
template <class T>
double ulp_of(double value) {
    if constexpr (std::is_integral_v<T>) {
        return 1;
    } else {
        constexpr bool is_half = std::is_same_v<T, core::Float16>;
        constexpr int digits = is_half ? 11 : std::is_same_v<T, float> ? 24 : 53;
        constexpr int least = is_half ? -13 : std::is_same_v<T, float> ? -125 : -1021;
        int exponent = 0;
        std::frexp(value, &exponent);
        return std::ldexp(1.0, std::max(exponent, least) - digits);
    }
}

template <class T>
NoiseRange range_of(double value, std::size_t index, const core::Tolerance& tolerance,
                    const core::ElementSlack& slack) {
    NoiseRange range;
    double either = 0;
    if (tolerance.ulp) {
        either = static_cast<double>(*tolerance.ulp) * ulp_of<T>(value);
    }
    either = std::max({either, tolerance.abs.value_or(0), tolerance.rel.value_or(0) * std::fabs(value)});
    range.below = range.above = either;
    if (tolerance.element_slack && !slack.below.empty()) {
        range.below = std::max(range.below, slack.below[index]);
        range.above = std::max(range.above, slack.above[index]);
    }
    if (!slack.sigma.empty()) {
        range.sigma = slack.sigma[index];
    }
    return range;
}

/// From a number to its neighbour towards zero.
template <class T>
double inner_step(double value) {
    return ulp_of<T>(std::nextafter(value, 0.0));
}

/// How many steps of the type a run may take from an element. Each of them is taken in one of `turns` runs.
struct Steps {
    int down = 0;
    int up = 0;
    std::uint64_t turns = 1;

    [[nodiscard]] int of_turn(std::uint64_t turn) const {
        const auto at = static_cast<int>(turn % turns);
        return at < up ? at + 1 : at < up + down ? up - at - 1 : 0;
    }
};

/// Steps of FLOAT16 are taken in few runs: an element that only passes through then has a spread of a third of a step,
/// about that of rounding to nearest.
constexpr std::uint64_t turns_of_float16 = 8;

/// The neighbours that are as right as the element itself: FLOAT16 may be rounded to nearest or towards zero, and ties
/// of integers may go either way. Noise of the size of an error of FP32 would hardly ever reach them.
template <class T>
Steps steps_at_tie(double value, const NoiseRange& range) {
    Steps steps;
    if constexpr (std::is_integral_v<T>) {
        constexpr double most = 2;
        if (range.below <= most && range.above <= most) {
            steps.down = static_cast<int>(range.below);
            steps.up = static_cast<int>(range.above);
            steps.turns = static_cast<std::uint64_t>(steps.down) + static_cast<std::uint64_t>(steps.up) + 1;
        }
    } else if constexpr (std::is_same_v<T, core::Float16>) {
        const double outwards = ulp_of<T>(value);
        const double inwards = inner_step<T>(value);
        const bool noise_reaches_them =
            range.sigma > 0 ? range.sigma >= outwards : std::max(range.below, range.above) >= 2 * outwards;
        if (!noise_reaches_them) {
            steps.down = range.below >= (value > 0 ? inwards : outwards) ? 1 : 0;
            steps.up = range.above >= (value < 0 ? inwards : outwards) ? 1 : 0;
            steps.turns = turns_of_float16;
        }
    }
    return steps;
}

/// In the last run, all elements of FLOAT16 are rounded towards zero where that is legal, as on DirectML. Errors that
/// all have the same direction add up to more than random ones.
constexpr std::size_t run_towards_zero = monte_carlo_runs - 1;

/// How far rounding towards zero moves an element; 0 if the element is already rounded that way.
template <class T>
double move_towards_zero(double value, const NoiseRange& range) {
    if constexpr (std::is_same_v<T, core::Float16>) {
        const double inwards = value == 0 ? 0 : inner_step<T>(value);
        return value > 0 && range.below >= inwards ? -inwards : value < 0 && range.above >= inwards ? inwards : 0;
    } else {
        return 0;
    }
}

/// The element itself where the type ends.
template <class T>
T stepped(T element, int steps) {
    if constexpr (std::is_integral_v<T>) {
        const auto by = static_cast<T>(std::abs(steps));
        const bool fits = steps > 0 ? element <= static_cast<T>(std::numeric_limits<T>::max() - by)
                                    : element >= static_cast<T>(std::numeric_limits<T>::min() + by);
        return !fits ? element : static_cast<T>(steps > 0 ? element + by : element - by);
    } else {
        const auto value = static_cast<double>(element);
        return static_cast<T>(value + steps * ((steps > 0) == (value >= 0) ? ulp_of<T>(value) : inner_step<T>(value)));
    }
}

template <class T>
T moved(double value) {
    if constexpr (std::is_integral_v<T>) {
        constexpr auto least = static_cast<double>(std::numeric_limits<T>::min());
        constexpr auto greatest = static_cast<double>(std::numeric_limits<T>::max());
        return value <= least      ? std::numeric_limits<T>::min()
               : value >= greatest ? std::numeric_limits<T>::max()
                                   : static_cast<T>(std::nearbyint(value));
    } else {
        return static_cast<T>(value);
    }
}

/// True if no element may change, whatever the slack says.
bool moves_nothing(const core::Tolerance& tolerance) {
    return tolerance.exact || (!tolerance.element_slack && tolerance.ulp.value_or(0) == 0 &&
                               tolerance.abs.value_or(0) == 0 && tolerance.rel.value_or(0) == 0);
}

bool are_zero(std::span<const double> bounds) {
    constexpr std::size_t block = 4096;
    std::uint64_t any = 0;
    for (std::size_t first = 0; any == 0 && first < bounds.size(); first += block) {
        const auto part = bounds.subspan(first, std::min(block, bounds.size() - first));
        in_wide_registers([&] {
            std::uint64_t here = 0;
            for (const double bound : part) {
                here |= static_cast<std::uint64_t>(bound != 0);
            }
            any = here;
        });
    }
    return any == 0;
}

/// True if nothing but the slack of an element says how far it may move.
bool has_ranges_alone(const core::Tolerance& tolerance, const core::ElementSlack& slack) {
    return tolerance.element_slack && tolerance.ulp.value_or(0) == 0 && tolerance.abs.value_or(0) == 0 &&
           tolerance.rel.value_or(0) == 0 && !slack.below.empty() && !slack.sigma.empty();
}

}  // namespace

NoiseRange noise_range(core::DataType type, double value, std::size_t index, const core::Tolerance& tolerance,
                       const core::ElementSlack& slack) {
    return core::with_type(type, [&]<class T>() { return range_of<T>(value, index, tolerance, slack); });
}

bool NodeNoise::is_silent() const {
    if (tolerance_.alternatives && !slack_.alternatives.empty()) {
        return false;
    }
    if (moves_nothing(tolerance_)) {
        return true;
    }
    return tolerance_.element_slack && tolerance_.ulp.value_or(0) == 0 && tolerance_.abs.value_or(0) == 0 &&
           tolerance_.rel.value_or(0) == 0 && are_zero(slack_.below) && are_zero(slack_.above);
}

template <class T>
void NodeNoise::add_to_element(T& element, std::size_t index, std::size_t run, std::uint64_t key) const {
    const auto value = static_cast<double>(element);
    if (index >= slack_.meaningful || !std::isfinite(value)) {
        return;
    }
    const NoiseRange range = range_of<T>(value, index, tolerance_, slack_);
    if constexpr (std::is_same_v<T, float>) {
        const SingleRange single = single_range(range);
        if (const auto neighbour = neighbour_in_turn(element, single, core::mixed(seed_ + index) + run)) {
            element = *neighbour;
            return;
        }
        const float by = drawn(single, half_of(core::mixed(key + index), run));
        element = by == 0 ? element : element + by;
        return;
    }
    const double inwards = run == run_towards_zero ? move_towards_zero<T>(value, range) : 0;
    const Steps steps = steps_at_tie<T>(value, range);
    if (steps.down + steps.up != 0) {
        element = inwards != 0 ? moved<T>(value + inwards)
                               : stepped(element, steps.of_turn(core::mixed(seed_ + index) + run));
        return;
    }
    const double noise = drawn(range, half_of(core::mixed(key + index), run));
    const double by = std::clamp(noise + inwards, -range.below, range.above);
    element = by == 0 ? element : moved<T>(value + by);
}

RowOfRun NodeNoise::row_of(float* elements, std::size_t run) const {
    return {elements, run, key_of(run)};
}

std::uint64_t NodeNoise::key_of(std::size_t run) const {
    return core::mixed(seed_ ^ core::mixed(run / 2 + 1));
}

bool NodeNoise::has_rows(const core::TensorDesc& desc) const {
    return is_packed_float32(desc) && !moves_nothing(tolerance_) && !tolerance_.alternatives;
}

void NodeNoise::add_to_rows(std::span<const RowOfRun> rows, std::size_t first, std::size_t count) const {
    const std::size_t end = first + count;
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx512() && has_ranges_alone(tolerance_, slack_)) {
        add_noise_in_sixteens(rows, first, std::clamp(slack_.meaningful, first, end), slack_, seed_);
        return;
    }
#endif
    for (const RowOfRun& row : rows) {
        for (std::size_t i = first; i < end; ++i) {
            add_to_element(row.elements[i - first], i, row.run, row.key);
        }
    }
}

void NodeNoise::add_to_part(std::int64_t first, std::int64_t count, std::size_t runs, float* elements) const {
    std::vector<RowOfRun> rows;
    rows.reserve(runs);
    for (std::size_t run = 0; run < runs; ++run) {
        rows.push_back(row_of(elements + static_cast<std::int64_t>(run) * count, run));
    }
    add_to_rows(rows, static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

void NodeNoise::prefetch_part(std::int64_t first, std::int64_t count) const {
    for (const std::vector<double>* const bounds : {&slack_.below, &slack_.above, &slack_.sigma}) {
        if (!bounds->empty()) {
            prefetch_all(bounds->data() + first, count);
        }
    }
}

void NodeNoise::add_to_whole_rows(std::span<const RowOfRun> rows, std::int64_t count) const {
    // The slack of a block stays in the caches until all runs have it.
    constexpr std::int64_t block = 2048;
    const std::int64_t blocks = (count + block - 1) / block;
    const auto cost = static_cast<std::int64_t>(rows.size()) * block * 20;
    parallel_for(blocks, cost, [&](std::int64_t first, std::int64_t last) {
        std::vector<RowOfRun> here(rows.begin(), rows.end());
        for (std::int64_t i = first * block; i < std::min(count, last * block); i += block) {
            for (std::size_t run = 0; run < here.size(); ++run) {
                here[run].elements = rows[run].elements + i;
            }
            add_to_rows(here, static_cast<std::size_t>(i), static_cast<std::size_t>(std::min(block, count - i)));
        }
    });
}

void NodeNoise::add_to_all(std::span<core::Tensor* const> runs) const {
    const core::TensorDesc& desc = runs.front()->desc;
    std::vector<RowOfRun> rows;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        if (has_rows(desc)) {
            rows.push_back(row_of(runs[run]->as<float>().data(), run));
        } else {
            add_to(*runs[run], run);
        }
    }
    if (!rows.empty()) {
        add_to_whole_rows(rows, static_cast<std::int64_t>(*core::element_count(desc.sizes)));
    }
}

void NodeNoise::add_to(core::Tensor& output, std::size_t run) const {
    const core::TensorDesc& desc = output.desc;
    if (core::bytes_of(desc.data_type) == 0) {
        return;  // 4-bit integers are never rounded, because operators only copy them
    }
    if (has_rows(desc)) {
        const RowOfRun row = row_of(output.as<float>().data(), run);
        add_to_whole_rows({&row, 1}, static_cast<std::int64_t>(*core::element_count(desc.sizes)));
        return;
    }
    const core::StridedRuns<1> runs(desc.sizes, {core::signed_strides(desc)});
    const std::uint64_t key = key_of(run);
    core::with_type(desc.data_type, [&]<class T>() {
        T* const elements = output.as<T>().data();
        if (!moves_nothing(tolerance_)) {
            const std::int64_t length = runs.run_length();
            const std::int64_t step = runs.run_strides()[0];
            parallel_for(runs.run_count(), length * 20, [&](std::int64_t first, std::int64_t last) {
                std::int64_t index = first * length;
                runs.for_each_run(first, last, [&](const auto& offsets) {
                    for (std::int64_t i = 0; i < length; ++i, ++index) {
                        add_to_element(elements[offsets[0] + i * step], static_cast<std::size_t>(index), run, key);
                    }
                });
            });
        }
        if (!tolerance_.alternatives) {
            return;
        }
        // Runs use the alternatives in rotation. In the list, all values of an element are adjacent.
        const auto& all = slack_.alternatives;
        for (std::size_t first = 0; first < all.size();) {
            std::size_t last = first;
            while (last < all.size() && all[last].first == all[first].first) {
                ++last;
            }
            const std::size_t taken = first + (run + all[first].first) % (last - first);
            T& element = elements[runs.offsets_of(static_cast<std::int64_t>(all[first].first))[0]];
            std::memcpy(static_cast<void*>(&element), &all[taken].second, sizeof(T));
            first = last;
        }
    });
}

}  // namespace dmlconform::cpu
