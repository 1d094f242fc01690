// A Feistel network: a permutation of numbers with an even number of bits, whatever its round function is. Where that
// gives a number that is not wanted, it is applied again, until it leads back into the range (cycle walking).
#include "engine/run/shuffle.h"

namespace dmlconform::run {
namespace {

constexpr unsigned rounds = 6;

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30u)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27u)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31u);
}

}  // namespace

Shuffle::Shuffle(std::uint64_t count, std::uint64_t seed) : count_(count), seed_(mix(seed + 0x9e3779b97f4a7c15u)) {
    while (half_bits_ < 32 && (std::uint64_t{1} << (2 * half_bits_)) < count) {
        ++half_bits_;
    }
}

std::uint64_t Shuffle::permute(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (unsigned round = 0; round < rounds; ++round) {
        const std::uint64_t next = left ^ (mix(right ^ mix(seed_ + round)) & mask);
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
