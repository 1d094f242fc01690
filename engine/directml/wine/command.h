// DirectML where there is no Windows: in a worker of the Windows program's, under Wine.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/worker/child_process.h"

namespace dmlconform::directml::wine {

/// The command that starts the worker, with the arguments for its engine. An error when scripts/setup-directml has not
/// been run in the checkout that this program was built from, or that the environment's DMLCONFORM_ROOT names.
[[nodiscard]] core::Result<worker::WorkerCommand> worker_command(const std::vector<std::string>& arguments);

/// What a case may take where the user says nothing: sorting a million elements takes two processors a minute.
inline constexpr std::chrono::seconds case_limit{300};

/// The file in that checkout which says how such an engine is known to differ:
/// cases/expectations/directml-1.15.4-wine.json for DirectML 1.15.4 under Wine. Nothing for engines without one.
[[nodiscard]] std::optional<std::string> default_expectations(const EngineInfo& engine);

}  // namespace dmlconform::directml::wine
