// An engine in another process, which is restarted after a crash.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "engine/engine.h"
#include "engine/processor_measurements.h"
#include "engine/worker/child_process.h"
#include "engine/worker/connection.h"
#include "engine/worker/wanted_model.h"

namespace dmlconform::worker {

struct WorkerSettings {
    /// Time limit of the process for one descriptor, from compiling to releasing it. Each execution after the first
    /// gets the same time again. Only the time that is spent waiting counts.
    std::chrono::nanoseconds case_limit = std::chrono::seconds(60);
    /// Time limit for starting and answering the first request.
    std::chrono::nanoseconds start_limit = std::chrono::seconds(60);
    /// After this many cases without an answer in time, the process is no longer used. 0: no limit.
    std::size_t most_hangs = 5;
    /// True if the user interrupts the run: then waiting ends after a moment. Null: never.
    std::function<bool()> interrupted{};
    /// For a worker that wants models; null: there is nothing to make them with.
    ModelMaker model_maker{};
};

/// Every call may throw EngineLost. Then the process has ended; the next descriptor starts a new one.
///
/// unsupported() already compiles: compile() only hands out what came of it, so that a case costs one round trip less.
/// The same goes for graphs, if the worker takes them; otherwise it gets their nodes one by one. A worker that wants
/// models gets one of each descriptor, and one of each graph as a whole.
class WorkerEngine final : public Engine, public ProcessorMeasurements {
public:
    /// Fails if the process does not start, violates the protocol, or has no engine.
    [[nodiscard]] static core::Result<std::unique_ptr<WorkerEngine>> start(WorkerCommand command,
                                                                           const WorkerSettings& settings);

    [[nodiscard]] const EngineInfo& info() const override { return info_; }
    [[nodiscard]] std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const override;
    [[nodiscard]] core::Result<void> end_case() override;
    [[nodiscard]] core::Result<Roofline> measure_roofline() override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) override;
    [[nodiscard]] std::optional<std::string> unsupported_graph(const operators::Descriptor& graph) const override;
    [[nodiscard]] tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph) override;
    [[nodiscard]] std::optional<core::ProcessorUse> processor_use() const override;
    /// Starts another process.
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> another() const override;

    /// For an engine that a user's command started: its name in reports, and that command.
    void set_origin(std::string name, std::string command) {
        info_.name = std::move(name);
        info_.command = std::move(command);
    }
    /// Only for this program's own reference: the claims of a process are untrusted.
    void set_reference(bool is_reference) { info_.is_reference = is_reference; }

private:
    class Process;

    WorkerEngine(WorkerCommand command, const WorkerSettings& settings, std::shared_ptr<Connection> connection);

    EngineInfo info_;
    /// A pointer, because asking whether a descriptor is supported is const but changes the process's state.
    std::shared_ptr<Process> process_;
};

}  // namespace dmlconform::worker
