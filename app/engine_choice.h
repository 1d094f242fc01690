// Which engines a command uses and whether in processes of their own: the options for that, and making the engines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/engine.h"
#include "engine/run/engine_list.h"
#include "engine/run/runner.h"

namespace dmlconform::app {

struct EngineChoice {
    /// Names, and commands with "exec:" in front; empty for all that are usable.
    std::vector<std::string> engines;
    /// One more engine that is asked for, whichever the others are; empty: none.
    std::string one_more;
    run::EngineOptions options;
    /// How many processes each engine gets of its own, or CLI11's word for an option without a number; empty: none.
    std::string isolate;
    /// In seconds; nothing: the default.
    std::optional<double> timeout;

    /// `purpose` completes "An engine to …".
    void add_to(Command command, const std::string& purpose);
    /// All engines that are asked for by name.
    [[nodiscard]] std::vector<std::string> asked() const;
    /// How many processes --isolate asks for; 0 without it, and for what is not such a number.
    [[nodiscard]] std::size_t processes() const;
    /// Options by which the same engines run in the same way, but for those that EngineInfo knows.
    [[nodiscard]] std::vector<std::string> words() const;
};

using Engines = run::EngineSet;

/// The engines asked for, or all that are usable: those of this program in their order, then commands as they were
/// given. Nothing when one that was asked for is not usable: then that is reported, and `exit_code` says of what kind
/// it is.
[[nodiscard]] std::optional<Engines> make_engines(const EngineChoice& choice, const Invocation& invocation,
                                                  int& exit_code);

/// In the same order.
[[nodiscard]] std::vector<EngineInfo> infos_of(const Engines& engines);

/// So many sets of engines, of which these are the first. Where there cannot be more of an engine, that is an error if
/// somebody asked for that many; otherwise there are fewer, and the console says why.
[[nodiscard]] core::Result<std::vector<run::EngineSet>> make_engine_sets(Engines engines, std::size_t count,
                                                                         bool asked);

/// Whether any of the engines chosen runs outside this process.
[[nodiscard]] bool has_processes(const EngineChoice& choice);

}  // namespace dmlconform::app
