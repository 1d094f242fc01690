// The arithmetic of drawn_noise.h in AVX-512.
#include "engine/cpu/noise_in_sixteens.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <limits>

#include "engine/core/hash.h"
#include "engine/cpu/drawn_noise.h"
#include "engine/cpu/eight_intervals.h"

namespace dmlconform::cpu {
namespace {

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

}  // namespace

/// The ranges of some elements are loaded once for all runs, and hashes once for two adjacent ones.
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

}  // namespace dmlconform::cpu
#endif
