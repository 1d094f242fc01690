// Options that choose engines and isolate them in processes, and creation of these engines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command.h"
#include "engine/core/precision.h"
#include "engine/engine.h"
#include "engine/run/engine_list.h"
#include "engine/run/runner.h"

namespace dmlconform::app {

using Engines = run::EngineSet;

struct EngineChoice {
    /// Names, commands with "exec:" in front, and folders of outputs with "outputs:"; empty for all that are usable.
    std::vector<std::string> engines;
    /// An additional engine; empty: none.
    std::string one_more;
    run::EngineOptions options;
    /// The precision that all engines promise; see precisions().
    core::Precision precision = core::Precision::fp32;
    /// The number of processes for each engine, or CLI11's placeholder for an option without a value; empty: none.
    std::string isolate;
    /// In seconds; empty: the default.
    std::optional<double> timeout;
    /// Whether an engine may be a folder of outputs: there is nothing to time, and no other case to ask it for.
    bool takes_outputs = false;

    /// `purpose` completes the help text "An engine to …".
    void add_to(Command command, const std::string& purpose);
    /// --precision alone.
    void add_precision_to(Command command);
    /// All engines that are asked for by name.
    [[nodiscard]] std::vector<std::string> asked() const;
    /// The number of processes that --isolate requests; 0 without it, or if it is not a valid number.
    [[nodiscard]] std::size_t processes() const;
    /// The precision that each of these engines promises: that of --precision, or FP16 if DirectML may compute in it.
    [[nodiscard]] std::vector<core::Precision> precisions(const Engines& of) const;
    /// The options with which another command runs these engines in the same way. What EngineInfo has is not repeated.
    [[nodiscard]] std::vector<std::string> words() const;
};

/// False if options contradict each other or name unknown engines, which is reported.
[[nodiscard]] bool check_engines(const EngineChoice& choice);

/// The engines asked for, or all that are usable: those of this program in their order, then the others as they were
/// given. Nothing when one that was asked for is not usable: then that is reported, and `exit_code` says of what kind
/// it is.
[[nodiscard]] std::optional<Engines> make_engines(const EngineChoice& choice, const Invocation& invocation,
                                                  int& exit_code);

/// Information about the engines, in the same order.
[[nodiscard]] std::vector<EngineInfo> infos_of(const Engines& engines);

/// Creates `count` sets of engines, the first of which is given. If that is impossible, it is an error if the user
/// requested the number; otherwise there are fewer sets, and the console says why.
[[nodiscard]] core::Result<std::vector<run::EngineSet>> make_engine_sets(Engines engines, std::size_t count,
                                                                         bool asked);

/// True if any of the chosen engines runs outside this process.
[[nodiscard]] bool has_processes(const EngineChoice& choice);

}  // namespace dmlconform::app
