// A case made ready for being executed over and over on one engine, and its verification beforehand.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/engine.h"

namespace dmlconform::bench {

/// Executes a case; its inputs are made and uploaded once.
class MeasuredCase {
public:
    /// `working_set` bytes, if not 0: so many copies of the case's tensors are made and used in turn that together they
    /// are larger.
    [[nodiscard]] static core::Result<std::unique_ptr<MeasuredCase>> create(const cases::Case& subject, Engine& engine,
                                                                            double working_set);

    /// From now on, what an engine in this process does is timed by the time that the processors spend on it, not by
    /// the clock on the wall: on a machine that others use too, that is the time which is its own.
    void use_cpu_time() { cpu_time_ = true; }

    /// One execution. The result is the device's own time where it has a clock, what an engine in another process
    /// tells, and otherwise wall-clock time, or this process's CPU time.
    [[nodiscard]] core::Result<std::chrono::nanoseconds> execute();

    /// Executes until the times have settled, or for a second: caches, clocks and code that is compiled late.
    [[nodiscard]] core::Result<void> warm_up();

private:
    MeasuredCase() = default;

    /// By whichever clock is used.
    [[nodiscard]] std::chrono::nanoseconds now() const;

    std::vector<core::Tensor> inputs_;
    std::vector<std::unique_ptr<Executable>> copies_;
    std::size_t next_ = 0;
    bool cpu_time_ = false;
};

}  // namespace dmlconform::bench
