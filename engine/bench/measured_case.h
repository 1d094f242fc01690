// A case that is prepared for repeated execution on one engine, and verified first.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/cases/case.h"
#include "engine/engine.h"
#include "engine/executions_in_turn.h"
#include "engine/processor_measurements.h"

namespace dmlconform::bench {

/// Executes a case whose inputs are created and uploaded once.
class MeasuredCase {
public:
    /// `working_set`, if not 0: the case's tensors are copied and used in rotation, so that together they exceed this
    /// many bytes.
    [[nodiscard]] static core::Result<std::unique_ptr<MeasuredCase>> create(const cases::Case& subject, Engine& engine,
                                                                            double working_set);

    /// Measures by CPU time instead of wall-clock time from now on, because only that time is independent of other load
    /// on the machine: that of this process, or of the process in which the engine runs.
    void use_cpu_time() { cpu_time_ = true; }

    /// Executes once. Returns the time by the device's clock if it has one, the time that an engine in another process
    /// reports, or wall-clock or CPU time. If the device accepts several executions at once, it gets them, and most
    /// calls only return the time of the next one, because an idle device lowers its clock.
    [[nodiscard]] core::Result<std::chrono::nanoseconds> execute();

    /// For a graph: the time of each node in the last execution, or in an additional one, in the order of Graph::nodes;
    /// empty if the engine does not measure that.
    [[nodiscard]] std::vector<std::chrono::nanoseconds> node_times();

    /// Executes until times no longer fall, and a device with a clock of its own has been busy for half a second:
    /// caches, clock rates, and code that is compiled late. It takes a second at most, on such a device three, and at
    /// most a quarter of `limit` seconds, if there is a limit; but there is always one execution.
    [[nodiscard]] core::Result<void> warm_up(std::optional<double> limit);

    /// The part of the time that passed while it was warmed up that the clock of the executions counted.
    [[nodiscard]] double own_share() const { return own_share_; }

private:
    MeasuredCase() = default;

    [[nodiscard]] core::Result<std::chrono::nanoseconds> execute_once();
    /// Executes several times between two readings of the processor's clock, and stores the mean.
    [[nodiscard]] core::Result<void> execute_between_readings();
    /// Executes as often as possible in a short time, and stores the times, each of one execution or the mean of a few.
    [[nodiscard]] core::Result<void> execute_in_turn(ExecutionsInTurn& first);
    [[nodiscard]] Executable& next_copy();

    /// The engine's other process; null if it runs in this one.
    const ProcessorMeasurements* other_process_ = nullptr;

    /// The current time of the clock that is used.
    [[nodiscard]] std::chrono::nanoseconds now() const;

    std::vector<core::Tensor> inputs_;
    std::vector<std::unique_ptr<Executable>> copies_;
    std::size_t next_ = 0;
    bool cpu_time_ = false;
    double own_share_ = 1;
    /// How long the last execution took, if the device said so; it decides how many are done in turn.
    std::optional<std::chrono::nanoseconds> last_device_time_;
    /// How much processor time the last execution took; 0 if nothing is known.
    std::chrono::nanoseconds last_cpu_time_{0};
    /// Times of executions that have not been returned yet.
    std::deque<std::chrono::nanoseconds> told_later_;
};

}  // namespace dmlconform::bench
