// Many executions at once, for engines whose device would otherwise be idle between them.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace dmlconform {

/// What an executable may be besides.
class ExecutionsInTurn {
public:
    ExecutionsInTurn() = default;
    ExecutionsInTurn(const ExecutionsInTurn&) = delete;
    ExecutionsInTurn& operator=(const ExecutionsInTurn&) = delete;
    virtual ~ExecutionsInTurn() = default;

    /// The most times that a turn can be asked for.
    [[nodiscard]] virtual std::size_t most_times() const = 0;

    /// Executes one after another what the device is given at once: executables of the same engine, each as often as it
    /// stands there. `per_time` of them, which divides their number, are timed together by the device's own clock, so
    /// that reading the clock costs each of them less. Returns the mean of each such group. For measuring: nothing says
    /// which of the executions a later read() sees.
    [[nodiscard]] virtual core::Result<std::vector<std::chrono::nanoseconds>> execute_in_turn(
        std::span<Executable* const> turn, std::size_t per_time) = 0;
};

}  // namespace dmlconform
