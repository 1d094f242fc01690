// Assigns offsets greedily: the largest tenants first, each at the lowest offset that is free during all of its steps.
#include "engine/d3d12/planning/arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace dmlconform::d3d12 {
namespace {

std::uint64_t aligned(std::uint64_t bytes, std::uint64_t alignment) {
    return (bytes + alignment - 1) / alignment * alignment;
}

class Arena {
public:
    Arena(std::uint64_t most_bytes, bool is_oversized) : most_bytes_(most_bytes), is_oversized_(is_oversized) {}

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] bool is_oversized() const { return is_oversized_; }

    /// Empty if there is no room.
    std::optional<std::uint64_t> reserve(const Tenant& tenant, std::uint64_t room) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
        for (const Reserved& other : reserved_) {
            if (other.first <= tenant.last && tenant.first <= other.last) {
                taken.emplace_back(other.begin, other.end);
            }
        }
        std::ranges::sort(taken);
        std::uint64_t offset = 0;
        for (const auto& [begin, end] : taken) {
            if (begin >= offset + room) {
                break;
            }
            offset = std::max(offset, end);
        }
        if (offset + room > most_bytes_) {
            return std::nullopt;
        }
        reserved_.push_back({offset, offset + room, tenant.first, tenant.last});
        bytes_ = std::max(bytes_, offset + room);
        return offset;
    }

private:
    struct Reserved {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::size_t first = 0;
        std::size_t last = 0;
    };

    std::uint64_t most_bytes_;
    bool is_oversized_;
    std::uint64_t bytes_ = 0;
    std::vector<Reserved> reserved_;
};

}  // namespace

std::uint64_t ArenaLayout::bytes() const {
    return std::accumulate(arenas.begin(), arenas.end(), std::uint64_t{0});
}

ArenaLayout lay_out(std::span<const Tenant> tenants, std::uint64_t alignment, std::uint64_t most_bytes) {
    std::vector<std::size_t> order(tenants.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return tenants[a].bytes > tenants[b].bytes; });
    ArenaLayout layout;
    layout.positions.resize(tenants.size());
    std::vector<Arena> arenas;
    for (const std::size_t t : order) {
        const std::uint64_t room = aligned(tenants[t].bytes, alignment);
        const bool is_oversized = room > most_bytes;
        std::optional<std::uint64_t> offset;
        for (std::size_t a = 0; a < arenas.size() && !offset; ++a) {
            if (arenas[a].is_oversized() == is_oversized) {
                offset = arenas[a].reserve(tenants[t], room);
                layout.positions[t] = {a, offset.value_or(0)};
            }
        }
        if (!offset) {
            // Later tenants are not larger.
            arenas.emplace_back(is_oversized ? room : most_bytes, is_oversized);
            layout.positions[t] = {arenas.size() - 1, arenas.back().reserve(tenants[t], room).value()};
        }
    }
    for (const Arena& arena : arenas) {
        layout.arenas.push_back(arena.bytes());
    }
    return layout;
}

std::uint64_t least_bytes(std::span<const Tenant> tenants, std::uint64_t alignment) {
    // Changes at the beginning of a step. Unsigned sums wrap, but the totals are correct.
    std::map<std::size_t, std::uint64_t> changes;
    for (const Tenant& tenant : tenants) {
        changes[tenant.first] += aligned(tenant.bytes, alignment);
        changes[tenant.last + 1] -= aligned(tenant.bytes, alignment);
    }
    std::uint64_t needed = 0;
    std::uint64_t most = 0;
    for (const auto& [step, change] : changes) {
        needed += change;
        most = std::max(most, needed);
    }
    return most;
}

}  // namespace dmlconform::d3d12
