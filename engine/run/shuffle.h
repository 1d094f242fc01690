// A random permutation of numbers that is computed without a table.
#pragma once

#include <cstdint>

namespace dmlconform::run {

/// A permutation of 0 … count - 1 that depends only on `seed`.
class Shuffle {
public:
    Shuffle(std::uint64_t count, std::uint64_t seed);

    [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const;

private:
    [[nodiscard]] std::uint64_t permute(std::uint64_t value) const;

    std::uint64_t count_;
    std::uint64_t seed_;
    /// Half of the bits of the permuted numbers.
    unsigned half_bits_ = 1;
};

}  // namespace dmlconform::run
