// Executes compiled operators, and measures how long that takes.
#include "engine/run/timed_execution.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/cpu/distributed_loops.h"

namespace dmlconform::run {
namespace {

using Clock = std::chrono::steady_clock;

/// Limit for further executions: none starts after this time.
constexpr std::chrono::milliseconds longest_repetition{100};

}  // namespace

std::optional<std::string> execute_timed(Executable& executable, std::span<const core::Tensor* const> inputs,
                                         std::span<core::Tensor* const> outputs, Timing& timing) {
    const auto start = Clock::now();
    if (const auto bound = executable.bind(inputs); !bound) {
        return bound.error().message;
    }
    const std::uint64_t loops = cpu::distributed_loops();
    const auto execution = Clock::now();
    if (const auto executed = executable.execute(); !executed) {
        return executed.error().message;
    }
    const auto executed = Clock::now();
    timing.on_several_threads = cpu::distributed_loops() != loops;
    if (const auto read = executable.read(outputs); !read) {
        return read.error().message;
    }
    timing.total = Clock::now() - start;
    const auto measured = executable.execute_time();
    timing.measured_there = measured.has_value();
    timing.execute = measured.value_or(executed - execution);
    timing.device = executable.device_time();
    return std::nullopt;
}

std::optional<std::string> execute_again(Executable& executable, std::size_t most, Timing& timing) {
    std::vector<std::chrono::nanoseconds> times;
    const auto end = Clock::now() + longest_repetition;
    while (times.size() < most && (times.empty() || Clock::now() < end)) {
        const auto start = Clock::now();
        if (const auto executed = executable.execute(); !executed) {
            return executed.error().message;
        }
        const std::chrono::nanoseconds wall = Clock::now() - start;
        times.push_back(executable.device_time().value_or(executable.execute_time().value_or(wall)));
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    timing.steady = *middle;
    return std::nullopt;
}

}  // namespace dmlconform::run
