// Detects outputs that an engine did not write, or that are all zero.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor.h"

namespace dmlconform::run {

/// Reports an output that is wrong as a whole, whatever the tolerance accepts: the engine did not write it, or it is
/// all zero although `expected` is not. Subnormal expected values count as zero, because many devices
/// flush them, and so do integers of at most 1, because rounding may give 0. With `zeros_are_bounded`, zeros are
/// accepted, because each was compared with a bound of its own.
[[nodiscard]] std::optional<std::string> blank_output(const core::Tensor& expected, const core::Tensor& actual,
                                                      bool zeros_are_bounded = false);

/// True if each element has the bits of memory that nobody wrote.
[[nodiscard]] bool is_untouched(const core::Tensor& tensor);

/// True if the output may be unsuitable for comparing others with it. Then unusable_answer needs the reference.
[[nodiscard]] bool looks_unwritten(const core::Tensor& actual);

/// Describes a part of the output that was not written. Elements that are expected to equal untouched memory do not
/// count. `expected` may be null. Only the first `meaningful` elements must be written.
[[nodiscard]] std::optional<std::string> unwritten_part(
    const core::Tensor& actual, const core::Tensor* expected,
    std::uint64_t meaningful = std::numeric_limits<std::uint64_t>::max());

/// Row-major indices of the elements that unwritten_part counts.
[[nodiscard]] std::vector<std::uint64_t> unwritten_at(
    const core::Tensor& actual, const core::Tensor& expected,
    std::uint64_t meaningful = std::numeric_limits<std::uint64_t>::max());

/// Describes why other outputs cannot be compared with this one: it is blank or all NaN, or a part of it was not
/// written. `reference` shows which values are correct all the same; it may be null. `is_accepted`:
/// the output is within the ranges of the reference, so that zeros and NaN are right. Only the first `meaningful`
/// elements must be written.
[[nodiscard]] std::optional<std::string> unusable_answer(
    const core::Tensor& actual, const core::Tensor* reference, bool is_accepted = false,
    std::uint64_t meaningful = std::numeric_limits<std::uint64_t>::max());

}  // namespace dmlconform::run
