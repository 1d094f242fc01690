// The Mann-Whitney U test: whether one sample tends to be larger than another, without assuming how either is
// distributed.
#pragma once

#include <span>

namespace dmlconform::bench {

/// The two-sided p-value: how probable so uneven a mixture of ranks is when both samples come from one distribution.
/// 1 when either is empty. Exact without ties for up to 400 pairs, otherwise by the normal approximation, with
/// corrections for ties and continuity.
[[nodiscard]] double mann_whitney_p(std::span<const double> a, std::span<const double> b);

}  // namespace dmlconform::bench
