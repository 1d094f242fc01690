// Which engines a command uses and whether in processes of their own: the options for that, and making the engines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/engine.h"
#include "engine/run/engine_list.h"

namespace dmlconform::app {

struct EngineChoice {
    /// Names, and commands with "exec:" in front; empty for all that are usable.
    std::vector<std::string> engines;
    run::EngineOptions options;
    bool isolate = false;
    /// In seconds; nothing: the default.
    std::optional<double> timeout;

    /// `purpose` completes "An engine to …".
    void add_to(CLI::App& command, const std::string& purpose);
    /// Options by which the same engines run in the same way, but for those that EngineInfo knows.
    [[nodiscard]] std::vector<std::string> words() const;
};

using Engines = std::vector<std::unique_ptr<Engine>>;

/// The engines asked for, or all that are usable: those of this program in their order, then commands as they were
/// given. Nothing when one that was asked for is not usable: then that is reported, and `exit_code` says of what kind
/// it is.
[[nodiscard]] std::optional<Engines> make_engines(const EngineChoice& choice, const Invocation& invocation,
                                                  int& exit_code);

}  // namespace dmlconform::app
