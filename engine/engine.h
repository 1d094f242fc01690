// The engine interface: an engine runs operators. The interface follows the life cycle of a DirectML operator.
//
// An engine knows nothing about case files, expectations or reports. It is used by one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/guard.h"
#include "engine/core/hresult.h"
#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"
#include "engine/operators/rules.h"

namespace dmlconform {

/// What the name of an engine begins with that has outputs from files; their folder follows.
inline constexpr std::string_view outputs_prefix = "outputs:";

/// Whatever makes a result reproducible.
struct EngineInfo {
    /// As given to --engine; for an engine that a command started, "exec:" and the name it reports.
    std::string name;
    /// The adapter's name, or a description of the processor.
    std::string adapter;
    /// Name and version of the driver; empty for an engine without one.
    std::string driver;
    /// Libraries that the engine uses, with their versions.
    std::vector<std::pair<std::string, std::string>> libraries;
    core::FeatureLevel feature_level;
    /// The command that the user gave to start it (`--engine exec:COMMAND`); empty for the engines of this program.
    std::string command{};
    /// True if tensors are sent to another process, so that there are additional copies.
    bool in_own_process = false;
    /// True for the reference, whose exact outputs are the expected values of cases without any. It runs on the
    /// processor, so it has neither adapter nor driver.
    bool is_reference = false;

    /// Whether it only has outputs that were computed elsewhere, so that nobody knows which descriptors it rejects.
    [[nodiscard]] bool has_only_outputs() const { return name.starts_with(outputs_prefix); }
};

/// Why there is no executable: the engine rejected the descriptor, or failed.
struct CompileFailure {
    enum class Kind : std::uint8_t {
        rejected,  // the descriptor is illegal: CreateOperator would return an HRESULT
        broken,    // the engine failed on a legal descriptor
    };
    Kind kind = Kind::rejected;
    operators::Rejection rejection;
};

/// The failure of the engine `name` on a descriptor that may be legal.
[[nodiscard]] inline CompileFailure broken(std::string name, const core::Error& error) {
    CompileFailure failure;
    failure.kind = CompileFailure::Kind::broken;
    failure.rejection.code = core::HResult::fail;
    failure.rejection.rule = std::move(name);
    failure.rejection.message = error.hint.empty() ? error.message : error.message + " (" + error.hint + ")";
    return failure;
}

/// An operator that is ready to run on one engine, with memory for its tensors.
class Executable {
public:
    Executable() = default;
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;
    virtual ~Executable() = default;

    /// Promises, before bind(), that there will be one execution and one reading. So an engine elsewhere can be told
    /// early that what it compiled may go.
    virtual void execute_only_once() {}

    /// Binds the inputs, and uploads them if necessary. There is one entry for each of Descriptor::inputs(), null for
    /// an absent one. The tensors must outlive the executions. The engine's memory for outputs and guards is filled
    /// with core::untouched, because results of an earlier execution might be mistaken for this one's.
    [[nodiscard]] virtual core::Result<void> bind(std::span<const core::Tensor* const> inputs) = 0;

    /// Computes the outputs once. Returns when they are complete.
    [[nodiscard]] virtual core::Result<void> execute() = 0;

    /// Copies the outputs and their guards. There is one tensor for each of Descriptor::outputs(), made by
    /// core::output_tensor; null for outputs that are absent or not wanted. Bytes within the total size that belong to
    /// no element are undefined.
    [[nodiscard]] virtual core::Result<void> read(std::span<core::Tensor* const> outputs) = 0;

    /// The duration of the last execution by the device's clock; empty if the engine cannot measure it.
    [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> device_time() const { return std::nullopt; }

    /// The duration of the last execute() if the engine ran elsewhere; otherwise the caller measures it.
    [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> execute_time() const { return std::nullopt; }

    /// For a graph: the duration of each node in the last execution, in the order of Graph::nodes; empty if it was not
    /// measured.
    [[nodiscard]] virtual std::vector<std::chrono::nanoseconds> node_times() const { return {}; }
};

/// Peak bandwidth and throughput of an engine's device, as simple kernels reach them.
struct Roofline {
    /// Bytes read and written while copying a buffer much larger than the caches.
    double bytes_per_second = 0;
    /// FP32 multiplications and additions; a multiply-add counts as two.
    double operations_per_second = 0;
};

class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    [[nodiscard]] virtual const EngineInfo& info() const = 0;

    /// Called before each case. Most engines need not know which case a descriptor comes from.
    virtual void next_case(const std::string& /*id*/) {}

    /// Called after each case, when its executables are gone: waits until the engine has released them. Fails if it
    /// could not.
    [[nodiscard]] virtual core::Result<void> end_case() { return {}; }

    /// Nothing when the engine can run such a descriptor; otherwise the reason why not, which makes a case skipped.
    [[nodiscard]] virtual std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const = 0;

    /// Compiles a descriptor, which must be supported and must outlive the executable.
    [[nodiscard]] virtual tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) = 0;

    /// The same for descriptors with Descriptor::graph. By default, graphs are run node by node through the engine's
    /// own interface, with intermediate values in host memory: see graph_by_nodes.h.
    [[nodiscard]] virtual std::optional<std::string> unsupported_graph(const operators::Descriptor& graph) const;
    [[nodiscard]] virtual tl::expected<std::unique_ptr<Executable>, CompileFailure> compile_graph(
        const operators::Descriptor& graph);

    /// Creates another instance of this engine on the same device, for another thread.
    [[nodiscard]] virtual core::Result<std::unique_ptr<Engine>> another() const {
        return core::fail(info().name + " runs one case at a time");
    }

    /// Measures the roofline, which takes about a second. Fails if the engine has no such kernels.
    [[nodiscard]] virtual core::Result<Roofline> measure_roofline() {
        return core::fail("the engine has no kernels to measure a roofline with");
    }
};

}  // namespace dmlconform
