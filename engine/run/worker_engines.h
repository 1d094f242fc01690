// Engines in other processes: engines of this build on request, and any command that speaks the worker protocol.
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

/// Prefix of engine names that are commands: "exec:ssh box dmlconform worker --engine cpu".
inline constexpr std::string_view exec_prefix = "exec:";

/// The words of the command in `name`, which begins with exec_prefix. Fails if they are not a command.
[[nodiscard]] core::Result<std::vector<std::string>> exec_words(const std::string& name);

/// Starts the command in `name`. The engine's name gets the prefix, so that a remote CPU engine is not mistaken for the
/// reference, and a number if one of `others` has the same name: "exec:cpu", "exec:cpu#2".
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_exec_engine(const std::string& name,
                                                                       const worker::WorkerSettings& settings,
                                                                       std::span<const std::unique_ptr<Engine>> others);

/// Starts this program, or another command for one of its engines, as a worker.
[[nodiscard]] core::Result<std::unique_ptr<Engine>> create_worker_engine(worker::WorkerCommand command,
                                                                         const worker::WorkerSettings& settings);

}  // namespace dmlconform::run
