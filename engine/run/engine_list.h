// The engines that this build has, by name.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/worker/worker_engine.h"

namespace dmlconform::run {

struct EngineOptions {
    /// Part of an adapter's name, in any case; empty for the engine's own choice.
    std::string adapter{};
    core::FeatureLevel feature_level = core::highest_feature_level;
    /// Path of DirectML.dll; empty for the environment's DMLCONFORM_DIRECTML, or else the one that Windows finds.
    std::string directml{};
    /// DML_EXECUTION_FLAGS, for the DirectML engine.
    std::uint32_t execution_flags = 0;
    /// For an engine that runs in a process of its own.
    worker::WorkerSettings worker{};
};

/// DML_EXECUTION_FLAGS, by their suffixes.
[[nodiscard]] const std::map<std::string, std::uint32_t>& execution_flags();

/// The words that give another process of this program the same engine options.
[[nodiscard]] std::vector<std::string> engine_arguments(const EngineOptions& options);

/// The engine that has EngineInfo::is_reference.
inline constexpr std::string_view reference_engine = "cpu";

/// In the order in which engines run a case: the reference first.
[[nodiscard]] std::span<const std::string> engine_names();

/// True for the engine that never runs in this process: DirectML where there is no Windows. It is run only when it is
/// asked for, because it is slow.
[[nodiscard]] bool runs_in_own_process(std::string_view name);

/// An error when the engine is not usable on this machine, or when the name is unknown.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(const std::string& name,
                                                                  const EngineOptions& options);

/// The engines of this build that have a kernel or shader for the operator, usable here or not.
[[nodiscard]] std::vector<std::string> engines_for(const operators::OperatorSchema& schema);

/// A device that an engine could run on, or the reason why there is none.
struct AdapterLine {
    std::string engine;
    /// Empty when the engine is not usable.
    std::string adapter{};
    std::string driver;
    /// True for the adapter that is taken when none is asked for.
    bool is_default = false;
    /// Why the engine is not usable; empty when it is.
    std::string problem;
};

/// At least one line for each engine.
[[nodiscard]] std::vector<AdapterLine> list_adapters();

}  // namespace dmlconform::run
