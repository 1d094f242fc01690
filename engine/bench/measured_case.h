// A case made ready for being executed over and over on one engine, and its verification beforehand.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cases/case.h"
#include "engine/engine.h"
#include "engine/executions_in_turn.h"

namespace dmlconform::bench {

/// Executes a case; its inputs are made and uploaded once.
class MeasuredCase {
public:
    /// `working_set` bytes, if not 0: so many copies of the case's tensors are made and used in turn that together they
    /// are larger.
    [[nodiscard]] static core::Result<std::unique_ptr<MeasuredCase>> create(const cases::Case& subject, Engine& engine,
                                                                            double working_set);

    /// From now on, engines in this process are timed by the time that processors spend on them, and not by the wall
    /// clock. On a machine that others use too, only that time is the engine's own.
    void use_cpu_time() { cpu_time_ = true; }

    /// One execution. The result is the device's own time where it has a clock, what an engine in another process
    /// tells, and otherwise wall-clock time, or this process's CPU time. Where the device can be given several
    /// executions at once, it is, and most calls only tell the time of the next one: a device that is idle between
    /// executions lowers its clock.
    [[nodiscard]] core::Result<std::chrono::nanoseconds> execute();

    /// Executes until times no longer fall, and a device with a clock of its own has been busy for half a second:
    /// caches, clock rates, and code that is compiled late. It takes a second at most, on such a device three.
    [[nodiscard]] core::Result<void> warm_up();

private:
    MeasuredCase() = default;

    [[nodiscard]] core::Result<std::chrono::nanoseconds> execute_once();
    /// Executes as many times as fit into a short time, and notes the times, each of one execution or the mean of few.
    [[nodiscard]] core::Result<void> execute_in_turn(ExecutionsInTurn& first);
    [[nodiscard]] Executable& next_copy();

    /// By whichever clock is used.
    [[nodiscard]] std::chrono::nanoseconds now() const;

    std::vector<core::Tensor> inputs_;
    std::vector<std::unique_ptr<Executable>> copies_;
    std::size_t next_ = 0;
    bool cpu_time_ = false;
    /// How long the last execution took, if the device said so; it decides how many are done in turn.
    std::optional<std::chrono::nanoseconds> last_device_time_;
    /// Times of executions that nobody has asked for yet.
    std::deque<std::chrono::nanoseconds> told_later_;
};

}  // namespace dmlconform::bench
