// Numbers in an order of chance that takes no memory.
#pragma once

#include <cstdint>

namespace dmlconform::run {

/// A permutation of 0 … count - 1 that `seed` chooses; the same on every machine.
class Shuffle {
public:
    Shuffle(std::uint64_t count, std::uint64_t seed);

    [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const;

private:
    [[nodiscard]] std::uint64_t permute(std::uint64_t value) const;

    std::uint64_t count_;
    std::uint64_t seed_;
    /// Half of the bits of the numbers that are permuted: at least as many as are wanted.
    unsigned half_bits_ = 1;
};

}  // namespace dmlconform::run
