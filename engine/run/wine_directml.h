// DirectML where there is no Windows: in a worker of the Windows program's, under Wine.
#pragma once

#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/worker/child_process.h"

namespace dmlconform::run {

/// The command that starts the worker, with the arguments for its engine. An error when scripts/setup-directml has not
/// been run in the checkout that this program was built from, or that the environment's DMLCONFORM_ROOT names.
[[nodiscard]] core::Result<worker::WorkerCommand> wine_directml_command(const std::vector<std::string>& arguments);

}  // namespace dmlconform::run
