// Elements that are copied as bits: units of 2^n bytes, in dimensions that are shared with other arrays that determine
// their addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/d3d12/planning/strided_dimensions.h"

namespace dmlconform::d3d12 {

/// Strides of the first two arrays, source and target, are in units. Those of further arrays have other meanings.
struct MovedUnits {
    static constexpr std::size_t source = 0;
    static constexpr std::size_t target = 1;
    static constexpr std::size_t arrays = 11;
    static constexpr std::uint64_t most_bytes = 16;

    using Strides = std::array<std::int64_t, arrays>;

    std::uint64_t bytes = 0;
    std::array<std::int64_t, 2> starts{};
    StridedDimensions<arrays> dimensions;
    /// Additional strides in the source, which do not belong to a dimension.
    std::vector<std::int64_t> source_steps;

    explicit MovedUnits(core::DataType type);

    /// Adds a dimension. Dimensions may be added in any order.
    void add(std::uint64_t size, const Strides& strides) { dimensions.push_back({size, strides}); }

    /// Sorts the dimensions by the target's memory order.
    void arrange();
    /// Makes the units as large as the strides allow.
    void widen();

    /// True if the target's units are contiguous in memory, starting at a multiple of 16 bytes.
    [[nodiscard]] bool packed() const;

private:
    /// True if everything is a multiple of units of twice the size.
    [[nodiscard]] bool can_widen() const;
};

}  // namespace dmlconform::d3d12
