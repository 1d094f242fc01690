// Runs trials: each is computed in many ways and compared with one reference.
#include "tests/precision/proof.h"

#include <algorithm>

#include "engine/operators/rounded_sums.h"

namespace dmlconform::precision {
namespace {

/// A seed that differs between operators, but not between runs.
std::uint32_t seed_of(const Subject& subject) {
    std::uint32_t seed = 17;
    for (const char letter : subject.name) {
        seed = seed * 31 + static_cast<std::uint32_t>(letter);
    }
    return seed;
}

void add(Tally& tally, const std::vector<Verdict>& verdicts) {
    std::ranges::for_each(verdicts, [&](const Verdict& verdict) { tally.add(verdict); });
}

/// Computes all rows of one shape together, because the reference takes longest.
void try_rows(const Subject& subject, const Shape& shape, Draw& draw, std::size_t tensors, std::span<ReducedRow> rows) {
    for (std::size_t i = 0; i < tensors; ++i) {
        const Trial trial = subject.make(draw, shape);
        const cpu::Reference reference = reference_of(trial);
        for (ReducedRow& row : rows) {
            // Only the first output counts, because further outputs have fewer elements.
            row.tally.add(judge(trial, reference, subject.compute(trial, row.way)).front());
        }
    }
}

std::vector<Way> reduced_ways(const Subject& subject, bool half) {
    using enum Format;
    std::vector<Way> ways{{bf16}, {fp16_accumulation}};
    // FLOAT16 outputs have the same number of bits as TF32 and FP16, and their rounding hides the error of sums rounded
    // towards zero.
    if (!half) {
        ways.insert(ways.end(),
                    {{tf32}, {truncated_tf32}, {fp16}, {toward_zero}, {toward_zero, {Order::Kind::lanes, 8}}});
        for (int layer = 0; subject.layers > 1 && layer < subject.layers; ++layer) {
            ways.push_back({tf32, {}, layer});
        }
    }
    return ways;
}

}  // namespace

std::vector<HonestRow> honest_rows(const Subject& subject, std::size_t tensors) {
    std::vector<HonestRow> rows;
    for (const Format format : {Format::fp32, Format::flushed_fp32}) {
        for (const Order& order : all_orders()) {
            rows.push_back({.way = {format, order}, .tally = {}});
        }
    }
    Draw draw(seed_of(subject));
    for (std::size_t i = 0; i < tensors; ++i) {
        const Trial trial = subject.make(draw, random_shape(draw));
        const cpu::Reference reference = reference_of(trial);
        for (HonestRow& row : rows) {
            add(row.tally, judge(trial, reference, subject.compute(trial, row.way)));
        }
    }
    return rows;
}

std::vector<ReducedRow> reduced_rows(const Subject& subject, std::size_t tensors, std::size_t most_terms) {
    std::vector<ReducedRow> rows;
    Draw draw(seed_of(subject));
    for (const bool half : {false, true}) {
        for (std::size_t terms = 16; terms <= std::min(most_terms, subject.most_terms); terms *= 16) {
            const std::size_t first = rows.size();
            for (const Way& way : reduced_ways(subject, half)) {
                const bool can_be_told = subject.can_be_told == nullptr || subject.can_be_told(way, terms, half);
                rows.push_back({.way = way, .terms = terms, .half = half, .can_be_told = can_be_told, .tally = {}});
            }
            const std::size_t fewer = terms > 4096 ? 200 : terms > 1024 ? 20 : 1;
            try_rows(subject, {.elements = 1024, .terms = terms, .half = half, .data = Data::normal}, draw,
                     std::max<std::size_t>(2, tensors / fewer), std::span(rows).subspan(first));
        }
    }
    return rows;
}

std::vector<TruncatingRow> truncating_rows(const Subject& subject, std::size_t tensors, std::size_t terms) {
    std::vector<TruncatingRow> rows;
    Draw draw(seed_of(subject));
    for (const Data data : {Data::normal, Data::uniform, Data::magnitudes}) {
        const std::size_t first = rows.size();
        for (const Format format : {Format::toward_zero, Format::terms_toward_zero}) {
            for (const Order& order : all_orders()) {
                rows.push_back({.way = {format, order}, .terms = terms, .data = data});
            }
        }
        for (std::size_t i = 0; i < tensors; ++i) {
            const Trial trial = subject.make(draw, {.elements = 256, .terms = terms, .data = data});
            const cpu::Reference reference = reference_of(trial);
            const double limit = compare::highest_truncating_q(operators::rounded_sums(trial.descriptor));
            for (TruncatingRow& row : std::span(rows).subspan(first)) {
                const Verdict verdict = judge(trial, reference, subject.compute(trial, row.way)).front();
                if (verdict.can_tell()) {
                    ++row.tensors;
                    row.greatest_q = std::max(row.greatest_q, verdict.statistic.q());
                    row.greatest_share = std::max(row.greatest_share, verdict.statistic.q() / limit);
                }
            }
        }
    }
    return rows;
}

}  // namespace dmlconform::precision
