// The ranges of eight sums at a time: SumRanges::quick_range for exact factors and a factor of 1, in FP32.
#pragma once

#include <cstring>

#include "engine/core/floating_format.h"
#include "engine/cpu/eight_intervals.h"
#include "engine/cpu/product/sum_range.h"

#if DMLCONFORM_HAS_WIDE_REGISTERS

namespace dmlconform::cpu::product {

class SumEights {
public:
    /// The row must outlive this object, and its addend must be ordinary.
    explicit SumEights(const RowOfSums& row) : row_(row) {}

    /// The ranges of the eight sums from sum i.
    DMLCONFORM_EIGHT EightIntervals operator()(std::size_t i, Seen& seen) const {
        constexpr double one_rounding = core::float32.one_rounding;
        Eight value;
        Eight bound;
        Eight terms;
        Eight error_of_all;
        load(row_.values, i, value);
        load(row_.bounds, i, bound);
        load(row_.terms, i, terms);
        load(row_.errors, i, error_of_all);
        seen.note(bound * 4);  // Bounds near FP32's end are special.
        Eight squares;
        add_partial_squares(i, value, bound, terms, squares);
        const Eight lost = terms * row_.flush;
        const Eight variance_of_terms = lost * lost / 3;
        const Eight flush = row_.flush * terms;
        Eight error = error_of_all * (bound + magnitude(value)) / 2 + one_rounding * bound + flush;
        error = bound <= row_.largest_exact ? Eight{} : error;
        const EightIntervals sum = around(value, error, sequential(squares, value) + variance_of_terms, seen);
        if (!row_.addend) {
            return sum;
        }
        const double addend = *row_.addend;
        const Eight total = value + addend;
        const Eight total_bound = bound + std::fabs(addend);
        seen.note(total_bound * 4);
        load(row_.errors_with_addend, i, error_of_all);
        error = error_of_all * (total_bound + magnitude(total)) / 2 + 2 * one_rounding * total_bound + flush +
                core::float32.smallest_normal;
        error = total_bound <= row_.largest_exact_with_addend ? Eight{} : error;
        const Eight with_addend = squares + terms * addend * addend / 2;
        return hull(sum + EightIntervals(row_.range_of_addend),
                    around(total, error, sequential(with_addend, total) + variance_of_terms, seen));
    }

private:
    DMLCONFORM_EIGHT static void load(const double* from, std::size_t i, Eight& to) {
        std::memcpy(&to, from + i, sizeof to);
    }
    DMLCONFORM_EIGHT static Eight magnitude(const Eight& x) { return x < 0 ? -x : x; }
    DMLCONFORM_EIGHT static Eight sequential(const Eight& partial_squares, const Eight& total) {
        return core::float32.half_rounding * core::float32.half_rounding / 3 * (partial_squares + total * total);
    }
    DMLCONFORM_EIGHT static EightIntervals around(const Eight& value, const Eight& error, const Eight& variance,
                                                  Seen& seen) {
        EightIntervals range;
        range.low = value - error;
        range.high = value + error;
        range.value = value;
        range.variance = variance;
        range.follow(seen);
        return range + EightIntervals(0.0);
    }
    /// See SumRanges::partial_squares.
    DMLCONFORM_EIGHT void add_partial_squares(std::size_t i, const Eight& value, const Eight& bound, const Eight& terms,
                                              Eight& result) const {
        load(row_.partial_squares, i, result);
        result = result * terms / row_.depth;
        Eight mean_square = bound * bound / (terms * terms);
        mean_square = terms == 0 ? Eight{} : mean_square;
        const Eight in_any_order = terms * (terms * mean_square / 2 + value * value / 3);
        result = result < in_any_order ? in_any_order : result;
    }

    const RowOfSums& row_;
};

}  // namespace dmlconform::cpu::product

#endif
