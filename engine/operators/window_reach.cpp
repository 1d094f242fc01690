// Counts runs of equally distant elements, one for each element of the window or for each of its positions.
#include "engine/operators/window_reach.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace dmlconform::operators {
namespace {

/// Numbers from `begin` to before `end`. Runs of different groups have none in common.
struct OffsetRun {
    std::uint64_t group = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

std::uint64_t rounded_up(std::uint64_t number, std::uint64_t divisor) {
    return (number + divisor - 1) / divisor;
}

/// How many numbers are in at least one of the runs.
double size_of_union(std::vector<OffsetRun> runs) {
    std::ranges::sort(runs, {}, [](const OffsetRun& run) { return std::tuple(run.group, run.begin); });
    std::uint64_t size = 0;
    std::uint64_t group = 0;
    std::uint64_t end = 0;
    for (const OffsetRun& run : runs) {
        const std::uint64_t begin = run.group == group ? std::max(run.begin, end) : run.begin;
        size += run.end - std::min(begin, run.end);
        end = run.group == group ? std::max(run.end, end) : run.end;
        group = run.group;
    }
    return static_cast<double>(size);
}

/// With `outer` as the positions and `inner` as the window, or the other way round. Takes time for each outer offset.
WindowReach reach_by_runs(const Offsets& outer, const Offsets& inner, std::uint64_t padding, std::uint64_t size) {
    WindowReach reach;
    std::vector<OffsetRun> inner_runs;
    std::vector<OffsetRun> element_runs;
    for (std::uint64_t i = 0; i < outer.count && i * outer.step < padding + size; ++i) {
        const std::uint64_t offset = i * outer.step;
        const std::uint64_t begin = offset < padding ? rounded_up(padding - offset, inner.step) : 0;
        const std::uint64_t end = std::min(rounded_up(padding + size - offset, inner.step), inner.count);
        if (begin >= end) {
            continue;
        }
        reach.pairs += static_cast<double>(end - begin);
        reach.positions += 1;
        inner_runs.push_back({0, begin, end});
        const std::uint64_t first = offset + begin * inner.step - padding;
        const std::uint64_t steps = first / inner.step;
        element_runs.push_back({first % inner.step, steps, steps + (end - begin)});
    }
    reach.window = size_of_union(std::move(inner_runs));
    reach.elements = size_of_union(std::move(element_runs));
    return reach;
}

}  // namespace

WindowReach window_reach(const Offsets& positions, const Offsets& window, std::uint64_t padding, std::uint64_t size) {
    constexpr std::uint64_t most_counted = 65'536;
    if (std::min(positions.count, window.count) > most_counted) {
        const auto all_positions = static_cast<double>(positions.count);
        const auto elements = static_cast<double>(window.count);
        return {all_positions * elements, static_cast<double>(size), all_positions, elements};
    }
    if (positions.count <= window.count) {
        return reach_by_runs(positions, window, padding, size);
    }
    WindowReach reach = reach_by_runs(window, positions, padding, size);
    std::swap(reach.positions, reach.window);
    return reach;
}

}  // namespace dmlconform::operators
