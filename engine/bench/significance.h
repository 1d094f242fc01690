// Student's t-test, and the correction of p-values for the number of tests.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace dmlconform::bench {

/// The two-sided p-value of Student's t-distribution: the probability of a value at least as far from 0. `freedom`: the
/// degrees of freedom, at least 1.
[[nodiscard]] double student_p(double t, double freedom);

/// Holm's correction: if none of the hypotheses is wrong, the probability that any of the corrected p-values is below
/// some level is at most that level, however the tests depend on each other.
[[nodiscard]] std::vector<double> correct_for_number(std::span<const double> p);

}  // namespace dmlconform::bench
