// What is copied as bits: units of 2^n bytes, in dimensions that are walked together with whatever decides their
// places.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/d3d12/strided_dimensions.h"

namespace dmlconform::d3d12 {

/// Strides of the first two arrays, source and target, count units. Those of others count something else.
struct MovedUnits {
    static constexpr std::size_t source = 0;
    static constexpr std::size_t target = 1;
    static constexpr std::size_t arrays = 11;
    static constexpr std::uint64_t most_bytes = 16;

    using Strides = std::array<std::int64_t, arrays>;

    std::uint64_t bytes = 0;
    std::array<std::int64_t, 2> starts{};
    StridedDimensions<arrays> dimensions;
    /// Strides in the source that are not those of dimensions.
    std::vector<std::int64_t> source_steps;

    explicit MovedUnits(core::DataType type);

    /// Dimensions may come in any order.
    void add(std::uint64_t size, const Strides& strides) { dimensions.push_back({size, strides}); }

    /// Brings the dimensions into the order of the target's memory.
    void arrange();
    /// Makes the units as large as the strides allow.
    void widen();

    /// True when the target's units follow one another in memory, from a multiple of 16 bytes on.
    [[nodiscard]] bool packed() const;

private:
    /// True when all of this is a whole number of units of twice the size.
    [[nodiscard]] bool can_widen() const;
};

}  // namespace dmlconform::d3d12
