// Tests of engine/d3d12/arena: memory that is in use at the same time does not overlap, and little memory is wasted.
#include "engine/d3d12/planning/arena.h"

#include <gtest/gtest.h>

#include "tests/d3d12/random_tensors.h"

namespace dmlconform::tests::arena_test {
namespace {

using d3d12::ArenaLayout;
using d3d12::lay_out;
using d3d12::least_bytes;
using d3d12::Tenant;

constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t most = std::uint64_t{1} << 30;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
}

void expect_apart(const std::vector<Tenant>& tenants, const ArenaLayout& layout) {
    ASSERT_EQ(layout.positions.size(), tenants.size());
    for (std::size_t a = 0; a < tenants.size(); ++a) {
        const auto& [arena, offset] = layout.positions[a];
        EXPECT_EQ(offset % alignment, 0u);
        ASSERT_LE(offset + tenants[a].bytes, layout.arenas[arena]);
        for (std::size_t b = 0; b < a; ++b) {
            const auto& other = layout.positions[b];
            const bool at_once = tenants[a].first <= tenants[b].last && tenants[b].first <= tenants[a].last;
            const bool overlap = arena == other.arena && offset < other.offset + tenants[b].bytes &&
                                 other.offset < offset + tenants[a].bytes;
            EXPECT_FALSE(at_once && overlap) << a << " and " << b;
        }
    }
}

TEST(Arena, AChainTakesTurnsInTwoPositions) {
    std::vector<Tenant> chain;
    for (std::size_t i = 0; i < 50; ++i) {
        chain.push_back({1000, i, i + 1});
    }
    const ArenaLayout layout = lay_out(chain, alignment, most);
    expect_apart(chain, layout);
    EXPECT_EQ(layout.bytes(), 2048u);
    EXPECT_EQ(least_bytes(chain, alignment), 2048u);
}

TEST(Arena, NothingIsSharedBetweenWhatIsNeededThroughout) {
    const std::vector<Tenant> tenants{{1, 0, 9}, {256, 0, 9}, {257, 0, 9}};
    const ArenaLayout layout = lay_out(tenants, alignment, most);
    expect_apart(tenants, layout);
    EXPECT_EQ(layout.bytes(), 4 * alignment);
    EXPECT_TRUE(lay_out({}, alignment, most).arenas.empty());
}

TEST(Arena, RandomTenants) {
    Random random(20261123);
    for (int round = 0; round < 200; ++round) {
        std::vector<Tenant> tenants(random.between(1, 60));
        std::uint64_t sum = 0;
        for (Tenant& tenant : tenants) {
            tenant.bytes = random.between(1, 5000);
            tenant.first = random.between(0, 40);
            tenant.last = tenant.first + random.between(0, random.chance(4) ? 40 : 3);
            sum += aligned(tenant.bytes);
        }
        const ArenaLayout layout = lay_out(tenants, alignment, most);
        expect_apart(tenants, layout);
        EXPECT_EQ(layout.arenas.size(), 1u);
        EXPECT_GE(layout.bytes(), least_bytes(tenants, alignment));
        EXPECT_LE(layout.bytes(), sum);
        // Measured: at most 1.3 times the minimum for these inputs.
        EXPECT_LE(static_cast<double>(layout.bytes()), 1.5 * static_cast<double>(least_bytes(tenants, alignment)));
    }
}

TEST(Arena, LimitedOnesAreSeveral) {
    const std::vector<Tenant> tenants{{600, 0, 1}, {500, 0, 1}, {400, 0, 1}, {5000, 0, 1}, {6000, 2, 3}, {100, 2, 3}};
    const ArenaLayout layout = lay_out(tenants, alignment, 1024);
    expect_apart(tenants, layout);
    EXPECT_EQ(layout.positions[3].arena, layout.positions[4].arena) << "too large ones take turns";
    EXPECT_NE(layout.positions[5].arena, layout.positions[4].arena) << "others do not join them";
    for (std::size_t a = 0; a < layout.arenas.size(); ++a) {
        EXPECT_TRUE(layout.arenas[a] <= 1024 || a == layout.positions[4].arena);
    }
}

}  // namespace
}  // namespace dmlconform::tests::arena_test
