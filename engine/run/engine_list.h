// The engines of this build, by name.
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
    /// A part of the adapter's name, in any case. Empty for the engine's default.
    std::string adapter{};
    core::FeatureLevel feature_level = core::highest_feature_level;
    /// Path of DirectML.dll. If empty, the environment variable DMLCONFORM_DIRECTML is used, otherwise the library that
    /// Windows finds.
    std::string directml{};
    /// DML_EXECUTION_FLAGS for the DirectML engine.
    std::uint32_t execution_flags = 0;
    /// Settings for an engine in another process.
    worker::WorkerSettings worker{};
};

/// DML_EXECUTION_FLAGS by the last part of their names.
[[nodiscard]] const std::map<std::string, std::uint32_t>& execution_flags();

/// Command-line arguments that give another process of this program the same engine options.
[[nodiscard]] std::vector<std::string> engine_arguments(const EngineOptions& options);

/// The name of the engine that has EngineInfo::is_reference.
inline constexpr std::string_view reference_engine = "cpu";

/// The engines' names in the order in which they run a case: the reference first.
[[nodiscard]] std::span<const std::string> engine_names();

/// True for an engine that never runs in this process: DirectML on systems other than Windows. It is slow, so it only
/// runs if it is asked for.
[[nodiscard]] bool runs_in_own_process(std::string_view name);

/// Creates an engine. Fails if its name is unknown, or if it is not usable on this machine.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_engine(const std::string& name,
                                                                  const EngineOptions& options);

/// The engines of this build that implement the operator, whether they are usable on this machine or not.
[[nodiscard]] std::vector<std::string> engines_for(const operators::OperatorSchema& schema);

/// A device that an engine can use, or why there is none.
struct AdapterLine {
    std::string engine;
    /// Empty if the engine is not usable.
    std::string adapter{};
    std::string driver;
    /// True for the adapter that is used by default.
    bool is_default = false;
    /// Why the engine is not usable; empty if it is.
    std::string problem;
};

/// Returns at least one line for each engine.
[[nodiscard]] std::vector<AdapterLine> list_adapters();

}  // namespace dmlconform::run
