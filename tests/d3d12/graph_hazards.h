// Checks that the barriers among a graph's dispatches are those that its memory needs. Derives them from the recorded
// addresses, independently of the engine.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "engine/d3d12/planning/graph_plan.h"
#include "tests/d3d12/recording_list.h"

namespace dmlconform::tests {

/// A dispatch's access to memory.
struct MemoryAccess {
    D3D12_GPU_VIRTUAL_ADDRESS begin = 0;
    D3D12_GPU_VIRTUAL_ADDRESS end = 0;
    bool writes = false;
};

/// The accesses of each dispatch.
inline std::vector<std::vector<MemoryAccess>> accesses_of(const std::vector<RecordedCommand>& commands,
                                                          const d3d12::GraphPlan& graph) {
    using RefKind = d3d12::BufferRef::Kind;
    std::vector<std::vector<MemoryAccess>> all;
    for (const RecordedCommand& command : commands) {
        if (command.kind != RecordedCommand::Kind::dispatch) {
            continue;
        }
        const auto& refs = graph.plan.dispatches.at(all.size()).buffers;
        auto& own = all.emplace_back();
        for (std::size_t i = 0; i < refs.size(); ++i) {
            if (refs[i].kind == RefKind::absent) {
                continue;
            }
            const std::uint64_t bytes = refs[i].kind == RefKind::input    ? graph.inputs[refs[i].index]->total_bytes
                                        : refs[i].kind == RefKind::output ? graph.outputs[refs[i].index]->total_bytes
                                                                          : graph.plan.temporaries[refs[i].index];
            own.push_back({command.buffers.at(i), command.buffers.at(i) + bytes, refs[i].may_be_written()});
        }
    }
    return all;
}

inline bool conflict(const std::vector<MemoryAccess>& first, const std::vector<MemoryAccess>& second) {
    for (const MemoryAccess& a : first) {
        for (const MemoryAccess& b : second) {
            if ((a.writes || b.writes) && a.begin < b.end && b.begin < a.end) {
                return true;
            }
        }
    }
    return false;
}

/// Expects that conflicting dispatches are in different groups, which barriers separate, and that each group has a
/// dispatch that conflicts with one of the preceding group. Otherwise the barrier would be superfluous.
inline void expect_barriers_where_needed(const std::vector<RecordedCommand>& commands, const d3d12::GraphPlan& graph) {
    const auto accesses = accesses_of(commands, graph);
    ASSERT_EQ(accesses.size(), graph.plan.dispatches.size());
    std::vector<std::vector<std::size_t>> groups(1);
    std::optional<std::size_t> first_dispatch;
    std::size_t dispatch = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (commands[i].kind == RecordedCommand::Kind::dispatch) {
            first_dispatch = first_dispatch.value_or(i);
            groups.back().push_back(dispatch++);
        } else if (commands[i].kind == RecordedCommand::Kind::unordered_access_barrier) {
            EXPECT_EQ(commands[i].resource, nullptr) << "a barrier for something in particular";
            groups.emplace_back();
        } else if (first_dispatch && dispatch < accesses.size()) {
            ADD_FAILURE() << "something else between dispatches";
        }
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
        for (const std::size_t a : groups[g]) {
            for (const std::size_t b : groups[g]) {
                EXPECT_FALSE(a < b && conflict(accesses[a], accesses[b])) << "no barrier between " << a << " and " << b;
            }
        }
        if (g > 0) {
            ASSERT_FALSE(groups[g].empty());
            const auto& first = accesses[groups[g].front()];
            EXPECT_TRUE(std::ranges::any_of(groups[g - 1],
                                            [&](std::size_t before) { return conflict(accesses[before], first); }))
                << "a barrier before dispatch " << groups[g].front() << " that nobody needs";
        }
    }
}

}  // namespace dmlconform::tests
