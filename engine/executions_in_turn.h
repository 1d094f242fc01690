// Submits many executions at once, for engines whose device would otherwise be idle between them.
#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace dmlconform {

/// An optional interface of executables.
class ExecutionsInTurn {
public:
    ExecutionsInTurn() = default;
    ExecutionsInTurn(const ExecutionsInTurn&) = delete;
    ExecutionsInTurn& operator=(const ExecutionsInTurn&) = delete;
    virtual ~ExecutionsInTurn() = default;

    /// The maximum number of times that one call can return.
    [[nodiscard]] virtual std::size_t most_times() const = 0;

    /// Submits executions together; they run one after another. All executables must belong to the same engine and may
    /// be listed repeatedly. Groups of `per_time` executions, which must divide their number, are timed together by the
    /// device's clock, to reduce the cost of reading it. Returns the mean time of each group. For measuring only: it is
    /// undefined which execution a later read() sees.
    [[nodiscard]] virtual core::Result<std::vector<std::chrono::nanoseconds>> execute_in_turn(
        std::span<Executable* const> turn, std::size_t per_time) = 0;
};

}  // namespace dmlconform
