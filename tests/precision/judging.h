// Compares the results of an implementation for a trial with the reference, as `dmlconform run` does.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/compare/precision.h"
#include "engine/cpu/reference.h"
#include "tests/precision/trial.h"

namespace dmlconform::precision {

/// The reference's results for a trial. Throws if the descriptor is illegal.
[[nodiscard]] cpu::Reference reference_of(const Trial& trial);

/// The verdict on one output of a trial.
struct Verdict {
    /// Whether the reference states the expected error of correct implementations.
    bool has_sigma = false;
    compare::PrecisionStatistic statistic;

    [[nodiscard]] bool can_tell() const { return has_sigma && statistic.can_tell(); }
    /// Whether errors are larger than those of correct FP32.
    [[nodiscard]] bool is_alarm() const { return can_tell() && statistic.q() > compare::highest_honest_q; }
};

/// Returns one verdict per output.
[[nodiscard]] std::vector<Verdict> judge(const Trial& trial, const cpu::Reference& reference, const Outputs& outputs);

/// A random shape of 64 to 128 elements and 16 to 1024 terms, with any kind of data.
[[nodiscard]] Shape random_shape(Draw& draw);

/// Counts the verdicts for many tensors.
struct Tally {
    std::size_t tensors = 0;
    std::size_t alarms = 0;
    double least_q = 0;
    double greatest_q = 0;
    double sum_of_q = 0;
    /// The number of tensors with an alarm, or with errors biased towards zero.
    std::size_t told = 0;

    void add(const Verdict& verdict);
};

}  // namespace dmlconform::precision
