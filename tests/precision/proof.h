// The two halves of the proof for one operator: correct arithmetic raises no alarm, and lower precision does.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/precision/judging.h"

namespace dmlconform::precision {

struct HonestRow {
    Way way;
    Tally tally;
};

/// FP32 in every order, with and without flushing subnormals, with random shapes and data that are the same for all
/// rows.
[[nodiscard]] std::vector<HonestRow> honest_rows(const Subject& subject, std::size_t tensors);

struct ReducedRow {
    Way way;
    std::size_t terms = 0;
    bool half = false;
    /// False if correct FP32 may have errors of the same size: see docs/precision.md.
    bool can_be_told = true;
    Tally tally;

    /// The number of tensors recognised as lower precision: by Q, or by the bias if sums are rounded towards zero.
    [[nodiscard]] std::size_t found() const { return way.format == Format::toward_zero ? tally.told : tally.alarms; }
    /// Whether at least 99 % of the tensors are detected.
    [[nodiscard]] bool is_found() const { return tally.tensors > 0 && found() * 100 >= tally.tensors * 99; }
};

/// Lower precision than FP32, on normal data of 1,024 elements, for numbers of terms up to `most_terms`. With more than
/// 1,024 terms, there are fewer tensors.
[[nodiscard]] std::vector<ReducedRow> reduced_rows(const Subject& subject, std::size_t tensors,
                                                   std::size_t most_terms = 65536);

/// FP32 that rounds towards zero, in one order of the terms and with one kind of data.
struct TruncatingRow {
    Way way;
    std::size_t terms = 0;
    Data data = Data::normal;
    std::size_t tensors = 0;
    /// The largest Q, and the largest one in relation to compare::highest_truncating_q.
    double greatest_q = 0;
    double greatest_share = 0;
};

/// FLOAT32 tensors of sums that round towards zero, with and without their terms, in every order. The first output
/// counts.
[[nodiscard]] std::vector<TruncatingRow> truncating_rows(const Subject& subject, std::size_t tensors,
                                                         std::size_t terms);

}  // namespace dmlconform::precision
