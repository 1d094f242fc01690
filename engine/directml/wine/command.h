// Runs DirectML without Windows: in a worker that is the Windows program under Wine.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/worker/child_process.h"

namespace dmlconform::directml::wine {

/// The command that starts the worker, with the arguments for its engine. Fails if scripts/setup-directml has not been
/// run in the checkout that this program was built from, or that the environment variable DMLCONFORM_ROOT names.
[[nodiscard]] core::Result<worker::WorkerCommand> worker_command(const std::vector<std::string>& arguments);

/// The default time limit of a case: sorting a million elements takes a minute on two processors.
inline constexpr std::chrono::seconds case_limit{300};

/// The file in that checkout with the known failures of such an engine: cases/expectations/directml-1.15.4-wine.json
/// for DirectML 1.15.4 under Wine. Empty for other engines.
[[nodiscard]] std::optional<std::string> default_expectations(const EngineInfo& engine);

}  // namespace dmlconform::directml::wine
