// Engines that run in processes of their own: this build's engines on request, and any command that speaks the worker
// protocol.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "engine/engine.h"
#include "engine/worker/worker_engine.h"

namespace dmlconform::run {

/// What the name of an engine begins with that is a command to start: "exec:ssh box dmlconform worker --engine cpu".
inline constexpr std::string_view exec_prefix = "exec:";

/// The command in `name`, which begins with exec_prefix; an error when it is none.
[[nodiscard]] core::Result<std::vector<std::string>> exec_words(const std::string& name);

/// Starts the command in `name`. The engine's own name gets the prefix too, so that a CPU engine somewhere else is not
/// taken for the reference, and a number where one of the `others` has that name already: "exec:cpu", "exec:cpu#2".
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_exec_engine(const std::string& name,
                                                                       const worker::WorkerSettings& settings,
                                                                       std::span<const std::unique_ptr<Engine>> others);

/// Starts this program as a worker, or another way to one of its engines.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_worker_engine(worker::WorkerCommand command,
                                                                         const worker::WorkerSettings& settings);

}  // namespace dmlconform::run
