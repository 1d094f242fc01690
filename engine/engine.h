// What an engine is: something that can run an operator. The interface follows the life of a DirectML operator.
//
// An engine knows nothing of case files, expectations or reports. An engine is used by one thread at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/guard.h"
#include "engine/core/hresult.h"
#include "engine/core/tensor.h"
#include "engine/operators/descriptor.h"
#include "engine/operators/rules.h"

namespace dmlconform {

/// Whatever makes a result reproducible.
struct EngineInfo {
    /// As given to --engine; for one that a command started, "exec:" and what it calls itself.
    std::string name;
    /// The device: an adapter's name, or a description of the processor.
    std::string adapter;
    /// Name and version of the driver; empty for an engine without one.
    std::string driver;
    /// Libraries the engine runs on, with their versions.
    std::vector<std::pair<std::string, std::string>> libraries;
    core::FeatureLevel feature_level;
    /// The command that the user gave to start it (`--engine exec:COMMAND`); empty for the engines of this program.
    std::string command{};
    /// Tensors are sent to it, so that there are more copies of them.
    bool in_own_process = false;
    /// Its answers are the exact ones, with which others are compared where a case expects no values. It runs on the
    /// processor, so that neither adapter nor driver need be asked for.
    bool is_reference = false;
};

/// Why there is no executable: the engine rejected the descriptor, or it broke.
struct CompileFailure {
    enum class Kind : std::uint8_t {
        rejected,  // the descriptor is not legal: what CreateOperator answers with an HRESULT
        broken,    // the engine failed on a legal descriptor
    };
    Kind kind = Kind::rejected;
    operators::Rejection rejection;
};

/// The failure of the engine `name` on a descriptor that may well be legal.
[[nodiscard]] inline CompileFailure broken(std::string name, const core::Error& error) {
    CompileFailure failure;
    failure.kind = CompileFailure::Kind::broken;
    failure.rejection.code = core::HResult::fail;
    failure.rejection.rule = std::move(name);
    failure.rejection.message = error.hint.empty() ? error.message : error.message + " (" + error.hint + ")";
    return failure;
}

/// An operator made ready for one engine, with memory for its tensors.
class Executable {
public:
    Executable() = default;
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;
    virtual ~Executable() = default;

    /// Makes the inputs known, uploading them where that is needed. One entry for each of Descriptor::inputs(), null
    /// for an absent one. The tensors must outlive the executions. The engine's memory for the outputs, and for the
    /// guards behind them, is filled with core::untouched: what an operator before left there might be right.
    [[nodiscard]] virtual core::Result<void> bind(std::span<const core::Tensor* const> inputs) = 0;

    /// Computes the outputs once. Returns when they are there.
    [[nodiscard]] virtual core::Result<void> execute() = 0;

    /// Copies the outputs out with their guards: one tensor for each of Descriptor::outputs(), made by
    /// core::output_tensor from that descriptor; null for an absent one or one that nobody wants. Bytes within the
    /// total size that belong to no element are left as they are or overwritten.
    [[nodiscard]] virtual core::Result<void> read(std::span<core::Tensor* const> outputs) = 0;

    /// How long the last execution took by the device's own clock; nothing for an engine that cannot measure itself.
    [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> device_time() const { return std::nullopt; }

    /// How long the last execute() took where it ran, if that is not here; otherwise the caller measures it.
    [[nodiscard]] virtual std::optional<std::chrono::nanoseconds> execute_time() const { return std::nullopt; }
};

/// The fastest that an engine's device moves and computes, as simple kernels reach it.
struct Roofline {
    /// Bytes read and written by a copy of a buffer much larger than the caches.
    double bytes_per_second = 0;
    /// FP32 multiplications and additions, a multiply-add being two.
    double operations_per_second = 0;
};

class Engine {
public:
    Engine() = default;
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    virtual ~Engine() = default;

    [[nodiscard]] virtual const EngineInfo& info() const = 0;

    /// Nothing when the engine can run such a descriptor; otherwise the reason why not, which makes a case skipped.
    [[nodiscard]] virtual std::optional<std::string> unsupported(const operators::Descriptor& descriptor) const = 0;

    /// The descriptor must outlive the executable. Only for descriptors that are not unsupported.
    [[nodiscard]] virtual tl::expected<std::unique_ptr<Executable>, CompileFailure> compile(
        const operators::Descriptor& descriptor) = 0;

    /// One more of this engine on the same device, for another thread. An error when there cannot be one.
    [[nodiscard]] virtual core::Result<std::unique_ptr<Engine>> another() const {
        return core::fail(info().name + " runs one case at a time");
    }

    /// Measures; takes about a second. An error when the engine has no such kernels.
    [[nodiscard]] virtual core::Result<Roofline> measure_roofline() {
        return core::fail("the engine has no kernels to measure a roofline with");
    }
};

}  // namespace dmlconform
