// Computes noise ranges of elements and draws random numbers within them.
#include "engine/cpu/node_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "engine/core/hash.h"
#include "engine/core/strided.h"
#include "engine/cpu/eight_intervals.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>
#endif

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

/// Two runs share the hash of an element: each of them has one half.
std::uint32_t half_of(std::uint64_t hash, std::size_t run) {
    return static_cast<std::uint32_t>(run % 2 == 0 ? hash : hash >> 32);
}

constexpr double normal_mean = 2 * 255.0;
/// One divided by the standard deviation of the sum, the root of 4 * (256^2 - 1) / 12.
constexpr double normal_scale = 1 / 147.80054127099805;

/// The sum of four bytes: nearly a normal distribution of variance 1, within 3.5 standard deviations.
double normal_number(std::uint32_t bits) {
    double sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += static_cast<double>(bits >> (8 * i) & 0xff);
    }
    return (sum - normal_mean) * normal_scale;
}

constexpr double uniform_scale = 0x1p-32;

double drawn(const NoiseRange& range, std::uint32_t bits) {
    if (range.sigma > 0) {
        return std::clamp(range.sigma * normal_number(bits), -range.below, range.above);
    }
    // Without a bound, noise would reveal nothing.
    if (!std::isfinite(range.below) || !std::isfinite(range.above)) {
        return 0;
    }
    const double fraction = bits * uniform_scale;
    return -range.below + fraction * (range.below + range.above);
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
// By reference, because functions that are compiled for other processors pass such vectors differently.
template <class Vector, class Element>
DMLCONFORM_EIGHT void load(Vector& vector, const Element* from) {
    std::memcpy(&vector, from, sizeof vector);
}

/// What the slack says of eight elements.
struct EightRanges {
    Eight below;
    Eight above;
    Eight sigma;
    bool have_sigma = false;
    /// Fewer than eight elements if a row ends.
    __mmask8 elements = all_eight;
};

/// How many hashes are computed at a time: a loop of scalars, which GCC vectorises.
constexpr std::size_t hashes_at_once = 64;

DMLCONFORM_EIGHT void load_some(__mmask8 elements, const double* from, Eight& to) {
    to = static_cast<Eight>(_mm512_maskz_loadu_pd(elements, from));
}

DMLCONFORM_EIGHT void load_ranges(const core::ElementSlack& slack, std::size_t first, std::size_t count,
                                  EightRanges& ranges) {
    const Eight zero = {};
    ranges.elements = static_cast<__mmask8>(count < 8 ? (1U << count) - 1 : all_eight);
    load_some(ranges.elements, slack.below.data() + first, ranges.below);
    load_some(ranges.elements, slack.above.data() + first, ranges.above);
    load_some(ranges.elements, slack.sigma.data() + first, ranges.sigma);
    ranges.below = ranges.below > zero ? ranges.below : zero;
    ranges.above = ranges.above > zero ? ranges.above : zero;
    const __mmask8 positive =
        _mm512_cmp_pd_mask(static_cast<__m512d>(ranges.sigma), static_cast<__m512d>(zero), _CMP_GT_OQ);
    ranges.have_sigma = positive == ranges.elements;
}

/// The larger or smaller number; the second one if one of them is NaN, or if they are equal.
DMLCONFORM_EIGHT void raise(Eight& number, const Eight& least) {
    number = reinterpret_cast<const Eight&>(static_cast<const __m512d&>(_mm512_maskz_max_pd(
        all_eight, reinterpret_cast<const __m512d&>(least), reinterpret_cast<const __m512d&>(number))));
}
DMLCONFORM_EIGHT void lower(Eight& number, const Eight& greatest) {
    number = reinterpret_cast<const Eight&>(static_cast<const __m512d&>(_mm512_maskz_min_pd(
        all_eight, reinterpret_cast<const __m512d&>(greatest), reinterpret_cast<const __m512d&>(number))));
}

/// The sums of the eight bytes of each number.
DMLCONFORM_EIGHT void add_bytes(const EightBits& numbers, EightBits& sums) {
    sums = reinterpret_cast<const EightBits&>(
        static_cast<const __m512i&>(_mm512_sad_epu8(reinterpret_cast<const __m512i&>(numbers), __m512i{})));
}

/// What NodeNoise::add_to_element does to FP32 elements whose only tolerance is their own range, eight at a time. GCC
/// does not vectorise loops with comparisons of numbers that may be NaN.
DMLCONFORM_EIGHT void add_noise_to_eight(float* elements, const EightBits& bits, const EightRanges& ranges) {
    constexpr double largest = std::numeric_limits<double>::max();
    const Eight zero = {};
    const auto given = static_cast<EightFloats>(_mm256_maskz_loadu_ps(ranges.elements, elements));
    EightBits sum;
    add_bytes(bits, sum);
    const Eight total = __builtin_convertvector(__builtin_bit_cast(EightIntegers, sum), Eight);
    Eight normal = ranges.sigma * ((total - normal_mean) * normal_scale);
    raise(normal, -ranges.below);
    lower(normal, ranges.above);
    Eight element;
    widen(given, element);
    Eight result;
    if (ranges.have_sigma) {
        // Most eights. Sums of infinities and NaN stay what they are.
        const Eight moved_by = element + normal;
        result = normal != zero ? moved_by : element;
    } else {
        const Eight fraction = __builtin_convertvector(__builtin_bit_cast(EightIntegers, bits), Eight) * uniform_scale;
        Eight uniform = fraction * (ranges.below + ranges.above) - ranges.below;
        uniform = ranges.below <= largest ? uniform : zero;
        uniform = ranges.above <= largest ? uniform : zero;
        const Eight by = ranges.sigma > zero ? normal : uniform;
        const Eight moved_by = element + by;
        result = by != zero ? moved_by : element;
        result = element <= largest ? result : element;
        result = element >= -largest ? result : element;
    }
    EightFloats stored;
    narrow(result, stored);
    _mm256_mask_storeu_ps(elements, ranges.elements, static_cast<__m256>(stored));
}

/// For elements first … end - 1. The ranges of some are loaded once for all runs, and hashes once for two adjacent
/// ones.
DMLCONFORM_EIGHT void add_noise_in_eights(std::span<const RowOfRun> rows, std::size_t first, std::size_t end,
                                          const core::ElementSlack& slack) {
    std::array<EightRanges, hashes_at_once / 8> ranges;
    std::array<std::uint64_t, hashes_at_once> hashes{};
    for (; first < end; first += hashes_at_once) {
        const std::size_t count = std::min(hashes_at_once, end - first);
        for (std::size_t i = 0; i < count; i += 8) {
            load_ranges(slack, first + i, count - i, ranges[i / 8]);
        }
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const std::uint64_t key = rows[row].key;
            if (row == 0 || key != rows[row - 1].key) {
                const std::uint64_t from = key + first;
                for (std::size_t k = 0; k < (count + 7) / 8 * 8; ++k) {
                    hashes[k] = core::mixed(from + k);
                }
            }
            float* const elements = rows[row].elements + first;
            for (std::size_t i = 0; i < count; i += 8) {
                EightBits bits;
                load(bits, hashes.data() + i);
                const EightBits half = rows[row].run % 2 == 0 ? bits & 0xffffffff : bits >> 32;
                add_noise_to_eight(elements + i, half, ranges[i / 8]);
            }
        }
    }
}
#endif

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
            steps.turns = static_cast<std::uint64_t>(steps.down + steps.up + 1);
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

std::uint64_t NodeNoise::key_of(std::size_t run) const {
    return core::mixed(seed_ ^ core::mixed(run / 2 + 1));
}

bool NodeNoise::has_rows(const core::TensorDesc& desc) const {
    return desc.data_type == core::DataType::float32 && core::is_packed(desc) && !moves_nothing(tolerance_) &&
           !tolerance_.alternatives;
}

RowOfRun NodeNoise::row_of(core::Tensor& output, std::size_t run) const {
    return {output.as<float>().data(), run, key_of(run)};
}

void NodeNoise::add_to_rows(std::span<const RowOfRun> rows, std::size_t first, std::size_t count) const {
    const std::size_t end = first + count;
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if (has_avx512() && has_ranges_alone(tolerance_, slack_)) {
        add_noise_in_eights(rows, first, std::clamp(slack_.meaningful, first, end), slack_);
        return;
    }
#endif
    for (const RowOfRun& row : rows) {
        for (std::size_t i = first; i < end; ++i) {
            add_to_element(row.elements[i], i, row.run, row.key);
        }
    }
}

void NodeNoise::add_to_whole_rows(std::span<const RowOfRun> rows, std::int64_t count) const {
    // The slack of a block stays in the caches until all runs have it.
    constexpr std::int64_t block = 2048;
    const std::int64_t blocks = (count + block - 1) / block;
    const auto cost = static_cast<std::int64_t>(rows.size()) * block * 20;
    parallel_for(blocks, cost, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first * block; i < std::min(count, last * block); i += block) {
            add_to_rows(rows, static_cast<std::size_t>(i), static_cast<std::size_t>(std::min(block, count - i)));
        }
    });
}

void NodeNoise::add_to_all(std::span<core::Tensor* const> runs) const {
    const core::TensorDesc& desc = runs.front()->desc;
    std::vector<RowOfRun> rows;
    for (std::size_t run = 0; run < runs.size(); ++run) {
        if (has_rows(desc)) {
            rows.push_back(row_of(*runs[run], run));
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
        const RowOfRun row = row_of(output, run);
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
