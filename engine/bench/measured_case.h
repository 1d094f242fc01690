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

    /// One execution. The result is the device's own time where it has a clock, and wall-clock time elsewhere.
    [[nodiscard]] core::Result<std::chrono::nanoseconds> execute();

    /// Executes until the times have settled, or for a second: caches, clocks and code that is compiled late.
    [[nodiscard]] core::Result<void> warm_up();

private:
    MeasuredCase() = default;

    std::vector<core::Tensor> inputs_;
    std::vector<std::unique_ptr<Executable>> copies_;
    std::size_t next_ = 0;
};

}  // namespace dmlconform::bench
