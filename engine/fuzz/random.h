// Random choices that are the same on every machine: integer arithmetic on Philox instead of the standard library's
// distributions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cases/philox.h"

namespace dmlconform::fuzz {

class Random {
public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}

    [[nodiscard]] std::uint64_t bits() { return cases::random_bits(seed_, index_++); }

    /// From 0 to `limit` - 1; `limit` must be at least 1.
    [[nodiscard]] std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>((bits() >> 32) * limit >> 32);
    }

    /// From `low` to `high`, including both.
    [[nodiscard]] std::uint32_t pick(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>((bits() >> 32) * (std::uint64_t{high} - low + 1) >> 32);
    }

    /// True with a probability of `times` / `out_of`.
    [[nodiscard]] bool chance(std::uint32_t times, std::uint32_t out_of) { return below(out_of) < times; }

    /// From 0 up to, but not including, 1.
    [[nodiscard]] double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

    template <class List>
    [[nodiscard]] const auto& one_of(const List& list) {
        return list[below(static_cast<std::uint32_t>(list.size()))];
    }

private:
    std::uint64_t seed_;
    std::uint64_t index_ = 0;
};

}  // namespace dmlconform::fuzz
