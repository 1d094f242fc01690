// Memory layout for buffers that can share memory because they are not needed at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dmlconform::d3d12 {

/// A buffer that is needed from one step to another, both included.
struct Tenant {
    std::uint64_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

struct ArenaLayout {
    struct Position {
        std::size_t arena = 0;
        std::uint64_t offset = 0;
    };
    /// One for each tenant.
    std::vector<Position> positions;
    /// The required size of each arena.
    std::vector<std::uint64_t> arenas;

    [[nodiscard]] std::uint64_t bytes() const;
};

/// Offsets are multiples of `alignment`. An arena has at most `most_bytes`, unless a single tenant needs more; such an
/// arena holds only tenants of that kind.
[[nodiscard]] ArenaLayout lay_out(std::span<const Tenant> tenants, std::uint64_t alignment, std::uint64_t most_bytes);

/// A lower bound for any layout: the maximum over all steps of the memory that is needed at the same time.
[[nodiscard]] std::uint64_t least_bytes(std::span<const Tenant> tenants, std::uint64_t alignment);

}  // namespace dmlconform::d3d12
