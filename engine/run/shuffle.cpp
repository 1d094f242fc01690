// A Feistel network: a permutation of numbers with an even number of bits, for any round function. If the result is out
// of range, the permutation is applied again until it is in range (cycle walking).
#include "engine/run/shuffle.h"

#include "engine/core/hash.h"

namespace dmlconform::run {
namespace {

constexpr unsigned rounds = 6;

}  // namespace

Shuffle::Shuffle(std::uint64_t count, std::uint64_t seed)
    : count_(count), seed_(core::mixed(seed + 0x9e3779b97f4a7c15u)) {
    while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < count) {
        ++half_bits_;
    }
}

std::uint64_t Shuffle::permute(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (unsigned round = 0; round < rounds; ++round) {
        const std::uint64_t next = left ^ (core::mixed(right ^ core::mixed(seed_ + round)) & mask);
        left = right;
        right = next;
    }
    return (left << half_bits_) | right;
}

std::uint64_t Shuffle::operator()(std::uint64_t index) const {
    std::uint64_t value = permute(index);
    while (value >= count_) {
        value = permute(value);
    }
    return value;
}

}  // namespace dmlconform::run
