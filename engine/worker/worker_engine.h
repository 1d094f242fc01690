// An engine that runs in another process, and outlives its crashes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "engine/worker/child_process.h"
#include "engine/worker/connection.h"

namespace dmlconform::worker {

struct WorkerSettings {
    /// What the process has for one descriptor: from compiling it to reading what it computes. Each execution after the
    /// first has as much again. The time in which nothing is awaited does not count.
    std::chrono::nanoseconds case_limit = std::chrono::seconds(60);
    /// What it has to start and tell who it is.
    std::chrono::nanoseconds start_limit = std::chrono::seconds(60);
    /// Whether the user wants the run to end: then no answer is waited for any more, but for a moment. Null: never.
    std::function<bool()> interrupted{};
};

/// Every call may throw EngineLost. Then the process has ended; the next descriptor is given to a new one.
///
/// unsupported() already compiles: compile() only hands out what came of it, so that a case costs one round trip less.
class WorkerEngine final : public Engine {
public:
    /// An error when the process does not start, does not keep to the protocol, or has no engine to offer.
    [[nodiscard]] static core::Result<std::unique_ptr<WorkerEngine>> start(WorkerCommand command,
                                                                           const WorkerSettings& settings);

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override;
    [[nodiscard]] core::Result<Roofline> measure_roofline() override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override;
    /// Starts one more process.
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override;

    /// For an engine that a command of the user's started: how reports call it, and that command.
    void set_origin(std::string name, std::string command) {
        info_.name = std::move(name);
        info_.command = std::move(command);
    }
    /// Only for this program's own reference: what a process says of itself is not believed.
    void set_reference(bool is_reference) { info_.is_reference = is_reference; }

private:
    class Process;

    WorkerEngine(WorkerCommand command, const WorkerSettings& settings, std::shared_ptr<Connection> connection);

    EngineInfo info_;
    /// Behind a pointer, because asking whether something is supported changes nothing for the one who asks.
    std::shared_ptr<Process> process_;
};

}  // namespace dmlconform::worker
