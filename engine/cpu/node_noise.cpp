// Computes noise ranges of elements and draws random numbers within them.
#include "engine/cpu/node_noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/core/hash.h"
#include "engine/core/strided.h"
#include "engine/cpu/eight_intervals.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/prefetch.h"
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

/// The range of an FP32 element, whose noise is drawn in FP32.
struct SingleRange {
    float below = 0;
    float above = 0;
    /// What a sum of bytes is multiplied by; not positive if only the range is known.
    float scale = 0;
};

constexpr float largest_single = std::numeric_limits<float>::max();
/// So that products with sums of bytes are finite.
constexpr double greatest_scale = double{largest_single} / 1024;

SingleRange single_range(const NoiseRange& range) {
    return {static_cast<float>(range.below), static_cast<float>(range.above),
            static_cast<float>(std::min(range.sigma * normal_scale, greatest_scale))};
}

float sum_of_bytes(std::uint32_t bits) {
    std::uint32_t sum = 0;
    for (int i = 0; i < 4; ++i) {
        sum += bits >> (8 * i) & 0xff;
    }
    return static_cast<float>(sum);
}

constexpr auto single_mean = static_cast<float>(normal_mean);
constexpr auto single_uniform_scale = static_cast<float>(uniform_scale);

float drawn(const SingleRange& range, std::uint32_t bits) {
    if (range.scale > 0) {
        return std::min(std::max(range.scale * (sum_of_bytes(bits) - single_mean), -range.below), range.above);
    }
    // Without a bound, noise would reveal nothing.
    if (range.below > largest_single || range.above > largest_single) {
        return 0;
    }
    const float fraction = static_cast<float>(bits) * single_uniform_scale;
    return fraction * range.above - (1 - fraction) * range.below;
}

/// Noise of a standard deviation below half a unit of FP32 is mostly lost, since sums are rounded to nearest.
constexpr auto lost_scale = static_cast<float>(normal_scale / 2);
/// Below one unit, one of 16 runs may miss the neighbours.
constexpr auto unit_scale = static_cast<float>(normal_scale);

constexpr std::uint32_t sign_of_single = 0x80000000;
constexpr std::uint32_t greatest_of_single = 0x7f7fffff;

/// What an FP32 element becomes whose noise is below a unit: in two of 16 runs one of its neighbours, and both in turn
/// if its range has both. That alone is a spread of 0.35 units, and of one rounding 0.29, so that noise below half a
/// unit is left out. Empty if noise is to be added. SixteenRanges has the same for sixteen elements.
std::optional<float> neighbour_in_turn(float element, const SingleRange& range, std::uint64_t run) {
    const auto bits = std::bit_cast<std::uint32_t>(element);
    const std::uint32_t magnitude = bits & ~sign_of_single;
    if (!(range.scale > 0) || magnitude == 0 || magnitude >= greatest_of_single) {
        return std::nullopt;
    }
    const std::uint64_t turn = run % monte_carlo_runs;
    float outer = std::bit_cast<float>(bits + 1);
    if (!(range.scale < std::fabs(outer - element) * (turn < 2 ? unit_scale : lost_scale))) {
        return std::nullopt;
    }
    const auto in_range = [&](float neighbour) {
        return element - neighbour <= range.below && neighbour - element <= range.above;
    };
    float inner = std::bit_cast<float>(bits - 1);
    inner = in_range(inner) ? inner : element;
    outer = in_range(outer) ? outer : element;
    return turn > 1 ? element : (turn == 0 && outer != element) || inner == element ? outer : inner;
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
// By reference, because functions that are compiled for other processors pass such vectors differently.
constexpr __mmask16 all_sixteen = 0xffff;

/// SingleRange of sixteen elements.
struct SixteenRanges {
    __m512 below{};
    __m512 above{};
    __m512 scale{};
    __mmask16 have_scale = 0;
    /// Fewer than sixteen elements if a row ends.
    __mmask16 elements = all_sixteen;
};

/// How many hashes are computed at a time: a loop of scalars, which GCC vectorises.
constexpr std::size_t hashes_at_once = 64;
constexpr std::size_t singles_at_once = 16;

/// The halves of hashes, one for each of two runs.
struct HashHalves {
    alignas(register_bytes) std::array<std::uint32_t, hashes_at_once> low;
    alignas(register_bytes) std::array<std::uint32_t, hashes_at_once> high;
};

/// Stores sixteen numbers times a factor, but at most `most`, in FP32.
DMLCONFORM_EIGHT void load_singles(__mmask16 elements, const double* from, double factor, double most, __m512& to) {
    const __m512d limit = _mm512_set1_pd(most);
    __m256 halves[2];
    for (int half = 0; half < 2; ++half) {
        const auto some = static_cast<__mmask8>(elements >> (8 * half));
        const __m512d numbers = _mm512_maskz_loadu_pd(some, from + std::ptrdiff_t{8} * half);
        // The second one of these is the result if it is NaN.
        const __m512d limited = _mm512_maskz_min_pd(all_eight, limit, _mm512_mul_pd(numbers, _mm512_set1_pd(factor)));
        halves[half] = _mm512_maskz_cvtpd_ps(all_eight, limited);
    }
    to = _mm512_maskz_insertf32x8(all_sixteen, _mm512_castps256_ps512(halves[0]), halves[1], 1);
}

DMLCONFORM_EIGHT void load_ranges(const core::ElementSlack& slack, std::size_t first, std::size_t count,
                                  SixteenRanges& ranges) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const __m512 zero = _mm512_setzero_ps();
    ranges.elements = static_cast<__mmask16>(count < singles_at_once ? (1U << count) - 1 : all_sixteen);
    load_singles(ranges.elements, slack.below.data() + first, 1, infinity, ranges.below);
    load_singles(ranges.elements, slack.above.data() + first, 1, infinity, ranges.above);
    load_singles(ranges.elements, slack.sigma.data() + first, normal_scale, greatest_scale, ranges.scale);
    ranges.below = _mm512_maskz_max_ps(all_sixteen, ranges.below, zero);
    ranges.above = _mm512_maskz_max_ps(all_sixteen, ranges.above, zero);
    ranges.have_scale = _mm512_cmp_ps_mask(ranges.scale, zero, _CMP_GT_OQ);
}

/// What elements move by whose scale is not known.
DMLCONFORM_EIGHT void draw_uniform(const __m512i& bits, const SixteenRanges& ranges, __m512& by) {
    const __m512 fraction =
        _mm512_mul_ps(_mm512_maskz_cvtepu32_ps(all_sixteen, bits), _mm512_set1_ps(single_uniform_scale));
    const __m512 rest = _mm512_sub_ps(_mm512_set1_ps(1), fraction);
    const __m512 uniform = _mm512_sub_ps(_mm512_mul_ps(fraction, ranges.above), _mm512_mul_ps(rest, ranges.below));
    const __m512 largest = _mm512_set1_ps(largest_single);
    const auto are_bounded = static_cast<__mmask16>(_mm512_cmp_ps_mask(ranges.below, largest, _CMP_LE_OQ) &
                                                    _mm512_cmp_ps_mask(ranges.above, largest, _CMP_LE_OQ));
    by = _mm512_mask_blend_ps(ranges.have_scale, _mm512_maskz_mov_ps(are_bounded, uniform), by);
}

/// The bits of numbers without their signs.
DMLCONFORM_EIGHT void clear_signs(const __m512& numbers, __m512i& magnitudes) {
    const __m512i signs = _mm512_set1_epi32(static_cast<int>(sign_of_single));
    magnitudes = _mm512_maskz_andnot_epi32(all_sixteen, signs, _mm512_castps_si512(numbers));
}

/// Which elements may move by this.
DMLCONFORM_EIGHT void find_legal(const __m512& steps, const SixteenRanges& ranges, __mmask16& legal) {
    const __m512 down = _mm512_sub_ps(_mm512_setzero_ps(), steps);
    legal = static_cast<__mmask16>(_mm512_cmp_ps_mask(down, ranges.below, _CMP_LE_OQ) &
                                   _mm512_cmp_ps_mask(steps, ranges.above, _CMP_LE_OQ));
}

/// neighbour_in_turn of sixteen elements: replaces what they move by, where noise is that small.
DMLCONFORM_EIGHT void step_in_turn(const __m512& given, const SixteenRanges& ranges, const __m512i& turns, __m512& by) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i bits = _mm512_castps_si512(given);
    __m512i magnitudes;
    clear_signs(given, magnitudes);
    const __m512 outwards = _mm512_sub_ps(_mm512_castsi512_ps(_mm512_add_epi32(bits, one)), given);
    const __m512 inwards = _mm512_sub_ps(_mm512_castsi512_ps(_mm512_sub_epi32(bits, one)), given);
    __m512i units;
    clear_signs(outwards, units);
    const __m512i turn =
        _mm512_maskz_and_epi32(all_sixteen, turns, _mm512_set1_epi32(static_cast<int>(monte_carlo_runs - 1)));
    const __mmask16 is_outer = _mm512_cmpeq_epi32_mask(turn, zero);
    const __mmask16 is_inner = _mm512_cmpeq_epi32_mask(turn, one);
    const __m512 scales = _mm512_mask_blend_ps(static_cast<__mmask16>(is_outer | is_inner), _mm512_set1_ps(lost_scale),
                                               _mm512_set1_ps(unit_scale));
    const __m512 limits = _mm512_mul_ps(_mm512_castsi512_ps(units), scales);
    const auto small = static_cast<__mmask16>(
        ranges.have_scale & _mm512_cmpneq_epi32_mask(magnitudes, zero) &
        _mm512_cmplt_epi32_mask(magnitudes, _mm512_set1_epi32(static_cast<int>(greatest_of_single))) &
        _mm512_cmp_ps_mask(ranges.scale, limits, _CMP_LT_OQ));
    if (small == 0) {
        return;
    }
    __mmask16 has_outer = 0;
    find_legal(outwards, ranges, has_outer);
    __mmask16 has_inner = 0;
    find_legal(inwards, ranges, has_inner);
    const auto takes_outer = static_cast<__mmask16>(has_outer & (is_outer | (is_inner & ~has_inner)));
    const auto takes_inner = static_cast<__mmask16>(has_inner & (is_inner | (is_outer & ~has_outer)));
    const __m512 steps = _mm512_mask_mov_ps(_mm512_maskz_mov_ps(takes_outer, outwards), takes_inner, inwards);
    by = _mm512_mask_blend_ps(small, by, steps);
}

/// What NodeNoise::add_to_element does to FP32 elements whose only tolerance is their own range, sixteen at a time. GCC
/// does not vectorise loops with comparisons of numbers that may be NaN.
DMLCONFORM_EIGHT void add_noise_to_sixteen(float* elements, const std::uint32_t* hashes, const __m512i& turns,
                                           const SixteenRanges& ranges) {
    const __m512i bits = _mm512_load_si512(hashes);
    const __m512i pairs = _mm512_maddubs_epi16(bits, _mm512_set1_epi8(1));
    const __m512i sums = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
    const __m512 total = _mm512_sub_ps(_mm512_maskz_cvtepi32_ps(all_sixteen, sums), _mm512_set1_ps(single_mean));
    __m512 by = _mm512_mul_ps(ranges.scale, total);
    by = _mm512_maskz_max_ps(all_sixteen, by, _mm512_sub_ps(_mm512_setzero_ps(), ranges.below));
    by = _mm512_maskz_min_ps(all_sixteen, by, ranges.above);
    if (ranges.have_scale != ranges.elements) {
        draw_uniform(bits, ranges, by);
    }
    const __m512 given = _mm512_maskz_loadu_ps(ranges.elements, elements);
    step_in_turn(given, ranges, turns, by);
    // Infinities and NaN stay what they are, because no number that is added is infinite.
    const __mmask16 moving = _mm512_mask_cmp_ps_mask(ranges.elements, by, _mm512_setzero_ps(), _CMP_NEQ_UQ);
    _mm512_mask_storeu_ps(elements, moving, _mm512_add_ps(given, by));
}

/// For elements first … end - 1, with which rows start. The ranges of some are loaded once for all runs, and hashes
/// once for two adjacent ones. The turns of elements follow from the seed.
DMLCONFORM_EIGHT void add_noise_in_sixteens(std::span<const RowOfRun> rows, std::size_t first, std::size_t end,
                                            const core::ElementSlack& slack, std::uint64_t seed) {
    alignas(register_bytes) std::array<std::uint32_t, hashes_at_once> turns{};
    std::array<SixteenRanges, hashes_at_once / singles_at_once> ranges;
    HashHalves hashes{};
    for (std::size_t done = 0; first < end; first += hashes_at_once, done += hashes_at_once) {
        const std::size_t count = std::min(hashes_at_once, end - first);
        for (std::size_t i = 0; i < count; i += singles_at_once) {
            load_ranges(slack, first + i, count - i, ranges[i / singles_at_once]);
        }
        for (std::size_t k = 0; k < count; ++k) {
            turns[k] = static_cast<std::uint32_t>(core::mixed(seed + first + k));
        }
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const std::uint64_t key = rows[row].key;
            if (row == 0 || key != rows[row - 1].key) {
                const std::uint64_t from = key + first;
                for (std::size_t k = 0; k < (count + 7) / 8 * 8; ++k) {
                    const std::uint64_t hash = core::mixed(from + k);
                    hashes.low[k] = half_of(hash, 0);
                    hashes.high[k] = half_of(hash, 1);
                }
            }
            float* const elements = rows[row].elements + done;
            const auto& halves = rows[row].run % 2 == 0 ? hashes.low : hashes.high;
            for (std::size_t i = 0; i < count; i += singles_at_once) {
                const __m512i of_run = _mm512_add_epi32(_mm512_load_si512(turns.data() + i),
                                                        _mm512_set1_epi32(static_cast<int>(rows[row].run)));
                add_noise_to_sixteen(elements + i, halves.data() + i, of_run, ranges[i / singles_at_once]);
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
