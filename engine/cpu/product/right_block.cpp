// Finds the elements of eight columns at a time, and loads them into registers where they are equally far apart.
#include "engine/cpu/product/right_block.h"

#include <algorithm>
#include <type_traits>

#include "engine/cpu/wide_registers.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS
#include <immintrin.h>
#endif

namespace dmlconform::cpu::product {
namespace {

constexpr std::int64_t lanes = 8;
constexpr std::uint32_t all_present = 0xff;
/// Rows that are kept for others, which repeat them.
constexpr std::int64_t most_rows = 256;

bool has(const EightColumns& eight, std::int64_t lane) {
    return (eight.present >> lane & 1U) != 0;
}

/// Goes through row i of a block, eight columns at a time. No tile is empty, and all but the last have a multiple of
/// eight columns. Calls no function for each eight: GCC does not inline code for wide registers into a function that is
/// compiled without.
class EightsOfRow {
public:
    EightsOfRow(const TilesOfBlock& to, std::int64_t i) : to_(to), i_(i) { enter(); }

    [[nodiscard]] bool is_there() const { return tile_ < to_.count; }
    void advance() {
        ++number_;
        target_ += lanes;
        if (target_ >= end_) {
            ++tile_;
            enter();
        }
    }

    [[nodiscard]] std::int64_t number() const { return number_; }
    [[nodiscard]] double* target() const { return target_; }

private:
    void enter() {
        if (!is_there()) {
            return;
        }
        const std::int64_t width = tile_ + 1 == to_.count ? to_.width_of_last : to_.width;
        target_ = to_.first + tile_ * to_.distance + i_ * width;
        end_ = target_ + width;
    }

    const TilesOfBlock& to_;
    std::int64_t i_;
    std::int64_t tile_ = 0;
    std::int64_t number_ = 0;
    double* target_ = nullptr;
    double* end_ = nullptr;
};

template <class T>
void load_eight(const T* from, const EightColumns& eight, const std::int64_t* elements, double* to) {
    if (eight.present == all_present && eight.step == 1) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            to[lane] = double{from[eight.element + lane]};
        }
        return;
    }
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const std::int64_t element =
            eight.step == 0 ? elements[eight.element + lane] : eight.element + lane * eight.step;
        to[lane] = has(eight, lane) ? double{from[element]} : 0;
    }
}

#if DMLCONFORM_HAS_WIDE_REGISTERS
/// Every second of 16 numbers; `present` has a bit for each of the eight.
[[gnu::always_inline, gnu::target("avx512f,avx512dq,avx512vl")]] inline __m256 every_second(const float* from,
                                                                                            std::uint32_t present) {
    std::uint32_t bits = present;
    bits = (bits | bits << 4) & 0x0f0fU;
    bits = (bits | bits << 2) & 0x3333U;
    bits = (bits | bits << 1) & 0x5555U;
    const __m256 first = _mm256_maskz_loadu_ps(static_cast<__mmask8>(bits), from);
    const __m256 second = _mm256_maskz_loadu_ps(static_cast<__mmask8>(bits >> 8), from + lanes);
    return _mm256_permutex2var_ps(first, _mm256_set_epi32(14, 12, 10, 8, 6, 4, 2, 0), second);
}

/// Adjacent elements, with zeros behind the last one.
[[gnu::target("avx512f,avx512dq,avx512vl")]] void load_adjacent_with_avx512(const float* from, std::int64_t columns,
                                                                            std::int64_t i, const TilesOfBlock& to) {
    constexpr __mmask8 all = 0xff;  // GCC 12 warns of what the conversion without a mask leaves undefined.
    for (EightsOfRow at(to, i); at.is_there(); at.advance()) {
        const std::int64_t first = at.number() * lanes;
        const std::int64_t left = columns - first;
        const auto mask = static_cast<__mmask8>(left >= lanes ? all : left > 0 ? (1 << left) - 1 : 0);
        const __m256 floats = _mm256_maskz_loadu_ps(mask, from + first);
        _mm512_storeu_pd(at.target(), _mm512_maskz_cvtps_pd(all, floats));
    }
}

/// Of elements that are not present, nothing is read.
[[gnu::always_inline, gnu::target("avx512f,avx512dq,avx512vl")]] inline __m256 eight_floats(
    const float* from, const EightColumns& eight, const std::int64_t* elements) {
    const auto mask = static_cast<__mmask8>(eight.present);
    if (eight.step == 1) {
        return _mm256_maskz_loadu_ps(mask, from + eight.element);
    }
    if (eight.step == 2) {
        return every_second(from + eight.element, eight.present);
    }
    const __m512i offsets =
        eight.step == 0 ? _mm512_loadu_si512(elements + eight.element)
                        : _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(eight.step));
    const float* const first = eight.step == 0 ? from : from + eight.element;
    return _mm512_mask_i64gather_ps(_mm256_setzero_ps(), mask, offsets, first, sizeof(float));
}

[[gnu::target("avx512f,avx512dq,avx512vl")]] void load_floats_with_avx512(const float* from, const EightColumns* eights,
                                                                          const std::int64_t* elements, std::int64_t i,
                                                                          const TilesOfBlock& to) {
    constexpr __mmask8 all = 0xff;  // GCC 12 warns of what the conversion without a mask leaves undefined.
    for (EightsOfRow at(to, i); at.is_there(); at.advance()) {
        const __m256 floats = eight_floats(from, eights[at.number()], elements);
        _mm512_storeu_pd(at.target(), _mm512_maskz_cvtps_pd(all, floats));
    }
}
#endif

}  // namespace

RightBlock::RightBlock(const Factors& factors) : factors_(factors), repetition_(factors.repetition()) {
    rows_.resize(repetition_.rows <= most_rows ? static_cast<std::size_t>(repetition_.rows) : 1);
}

void RightBlock::select(std::int64_t batch, std::int64_t first_column, std::int64_t columns) {
    batch_ = batch;
    if (first_column == first_column_ && columns == columns_) {
        return;
    }
    first_column_ = first_column;
    columns_ = columns;
    for (FoundRow& row : rows_) {
        row.is_found = false;
    }
}

RightBlock::Row RightBlock::row(std::int64_t k) {
    const bool is_kept = repetition_.rows <= most_rows;
    FoundRow& found = rows_[is_kept ? static_cast<std::size_t>(k % repetition_.rows) : 0];
    if (!is_kept || !found.is_found) {
        find(k % repetition_.rows, found);
    }
    return {found.eights.data(), found.elements.data(),
            batch_ * repetition_.batch_distance + k / repetition_.rows * repetition_.distance, found.is_adjacent};
}

/// Finds the elements of a row of the first batch.
void RightBlock::find(std::int64_t k, FoundRow& found) {
    segments_.clear();
    factors_.find_right(0, k, first_column_, columns_, segments_);
    // A tile may have eight more columns than the block.
    found.eights.assign(static_cast<std::size_t>((columns_ + lanes - 1) / lanes + 1), {});
    found.elements.clear();
    for (const RightSegment& segment : segments_) {
        // Elements of positions that are not adjacent are found one by one.
        const std::int64_t length = segment.position_step == 1 ? segment.count : 1;
        for (std::int64_t done = 0; done < segment.count; done += length) {
            found.add(segment.position + done * segment.position_step, segment.element + done * segment.element_step,
                      segment.element_step, length);
        }
    }
    found.is_found = true;
    found.is_adjacent = segments_.size() == 1 && segments_[0].count == columns_ && segments_[0].position_step == 1 &&
                        segments_[0].element_step == 1;
}

void RightBlock::FoundRow::add(std::int64_t column, std::int64_t element, std::int64_t step, std::int64_t count) {
    for (std::int64_t done = 0; done < count;) {
        const std::int64_t lane = (column + done) % lanes;
        const std::int64_t here = std::min(lanes - lane, count - done);
        EightColumns& eight = eights[static_cast<std::size_t>((column + done) / lanes)];
        const std::uint32_t present = (all_present >> (lanes - here)) << lane;
        const std::int64_t first = element + (done - lane) * step;
        if (eight.present == 0) {
            eight = {.element = first, .step = step};
        } else if (eight.step != step || eight.element != first) {
            list(eight);
            for (std::int64_t i = lane; i < lane + here; ++i) {
                elements[static_cast<std::size_t>(eight.element + i)] = first + i * step;
            }
        }
        eight.present |= present;
        done += here;
    }
}

/// Replaces the step by a list.
void RightBlock::FoundRow::list(EightColumns& eight) {
    if (eight.step == 0) {
        return;
    }
    const auto start = static_cast<std::int64_t>(elements.size());
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        elements.push_back(eight.element + lane * eight.step);
    }
    eight.element = start;
    eight.step = 0;
}

template <class T>
void RightBlock::load_row(const T* from, std::int64_t columns, const Row& row, std::int64_t i, const TilesOfBlock& to) {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    if constexpr (std::is_same_v<T, float>) {
        if (has_avx512()) {
            if (row.is_adjacent) {
                load_adjacent_with_avx512(from + row.eights->element, columns, i, to);
                return;
            }
            load_floats_with_avx512(from, row.eights, row.elements, i, to);
            return;
        }
    }
#endif
    in_wide_registers([&] {
        for (EightsOfRow at(to, i); at.is_there(); at.advance()) {
            load_eight(from, row.eights[at.number()], row.elements, at.target());
        }
    });
}

void RightBlock::load(Part part, std::int64_t k, std::int64_t count, const TilesOfBlock& to) {
    const Numbers& right = factors_.right();
    const bool is_plain = part == Part::values || right.bounds.empty();
    const Elements from = is_plain ? right.elements() : Elements(right.bounds);
    from.visit([&](const auto* elements) {
        for (std::int64_t i = 0; i < count; ++i) {
            const Row row = this->row(k + i);
            load_row(elements + row.distance, columns_, row, i, to);
        }
    });
    for (std::int64_t i = 0; part != Part::values && i < count; ++i) {
        for (EightsOfRow at(to, i); at.is_there(); at.advance()) {
            std::transform(at.target(), at.target() + lanes, at.target(),
                           [part](double x) { return in_part(part, x); });
        }
    }
}

}  // namespace dmlconform::cpu::product
