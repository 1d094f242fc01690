// What `dmlconform run` and `dmlconform judge` have in common: everything but which engines there are.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/against_option.h"
#include "app/command.h"
#include "app/engine_choice.h"
#include "app/expectation_options.h"
#include "app/run_outputs.h"
#include "app/shard_options.h"
#include "engine/run/runner.h"

namespace dmlconform::app {

struct RunOptions {
    CaseOptions cases;
    EngineChoice engines;
    AgainstOption against;
    /// A result whose failures are run again; empty: none.
    std::string rerun_failed;
    /// What that result says besides: see FailedBefore.
    std::vector<std::string> doubts;
    /// Engines on which cases failed.
    std::vector<std::string> engines_before;
    ExpectationOptions expectations;
    RunOutputOptions outputs;
    ShardOptions shards;
    run::RunSettings settings;
    /// Cases at a time; 0: as many as suit the engines.
    std::size_t jobs = 0;
    /// The seed, or CLI11's word for an option without one.
    std::string shuffle;
    /// In seconds; nothing: the run takes as long as it takes.
    std::optional<double> deadline;
    /// Nodes of graphs that can be judged by themselves are.
    bool with_nodes = true;
    /// What a run does not show is a failure.
    bool strict = false;
    bool fail_on_skip = false;
    bool quiet = false;
    bool verbose = false;
    bool no_color = false;
};

/// Runs the cases, writes the reports, and returns the exit code.
int run_selected(RunOptions& options, const Invocation& invocation);

/// Options about when a run ends early, and about its memory.
void add_limit_options(Command command, RunOptions& options);

/// Options about what decides whether a run fails, and about what is printed.
void add_verdict_options(Command command, RunOptions& options);

}  // namespace dmlconform::app
