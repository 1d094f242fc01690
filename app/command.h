// Common declarations of the subcommands: how they are added, and exit codes.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.h"
#include "app/model_options.h"
#include "app/shape_options.h"
#include "engine/cases/corpus.h"
#include "engine/run/engine_list.h"
#include "engine/run/selection.h"

namespace dmlconform::app {

/// The documented exit codes.
enum ExitCode : int {
    exit_ok = 0,             // everything is as expected
    exit_unexpected = 1,     // unexpected results
    exit_usage = 2,          // the command line or an input file is wrong
    exit_not_run = 3,        // the run itself could not be done
    exit_cannot_tell = 4,    // nothing is known to be wrong, but it is not known either that nothing is
    exit_hung_up = 129,      // by SIGHUP: the terminal or the connection was closed
    exit_interrupted = 130,  // by Ctrl-C
    exit_terminated = 143,   // by SIGTERM
};

/// The words of the command line, for "run again" lines and results.
struct Invocation {
    std::vector<std::string> words;
};

/// Each function adds a subcommand. When it is chosen, `exit_code` is set to its result.
void add_run_command(Command app, const Invocation& invocation, int& exit_code);
void add_judge_command(Command app, const Invocation& invocation, int& exit_code);
#if DMLCONFORM_HAS_BENCH
void add_bench_command(Command app, const Invocation& invocation, int& exit_code);
#endif
void add_merge_command(Command app, int& exit_code);
void add_diff_command(Command app, int& exit_code);
void add_fuzz_command(Command app, const Invocation& invocation, int& exit_code);
void add_reduce_command(Command app, const Invocation& invocation, int& exit_code);
void add_import_command(Command app, int& exit_code);
void add_export_command(Command app, int& exit_code);
void add_compare_command(Command app, int& exit_code);
#if DMLCONFORM_HAS_HISTORY
void add_history_command(Command app, int& exit_code);
#endif
void add_report_command(Command app, int& exit_code);
void add_validate_command(Command app, int& exit_code);
void add_schema_command(Command app, int& exit_code);
void add_coverage_command(Command app, int& exit_code);
void add_list_command(Command app, int& exit_code);
void add_adapters_command(Command app, int& exit_code);
void add_describe_command(Command app, int& exit_code);
void add_new_command(Command app, int& exit_code);
void add_worker_command(Command app, int& exit_code);
void add_completion_command(Command app, int& exit_code);
void add_manual_command(Command app, int& exit_code);

/// Options that choose cases, shared by the commands that read case files.
struct CaseOptions {
    std::vector<std::string> paths;
    run::Selector selector;
    bool allow_external_data = false;
    /// cases::ReadOptions::without_expected.
    bool without_expected = false;
    /// Whether nodes of graphs are also run as separate cases.
    bool with_nodes = false;
    /// Part of the hint if no case has the tag: what else the command can do.
    std::string without_tag{};
    /// cases::ReadOptions::threads.
    std::size_t threads = 1;
    /// If it has any values, the paths are names of operators. Only for commands that add its options.
    ShapeOptions shape{};
    ModelFileOptions models{};

    void add_to(Command command);
};

/// Adds --feature-level; `level` keeps its value if the option is not given.
void add_feature_level(Command command, core::FeatureLevel& level);

/// Adds the options that set up engines: --adapter, --feature-level, and DirectML's options in builds with that engine.
void add_engine_options(Command command, run::EngineOptions& options);

/// Loads and selects cases. Prints every problem to stderr. Empty if there are problems or no case is selected.
struct Selection {
    cases::Corpus corpus;
    run::Selector selector;
    /// The number of selected cases.
    std::size_t count = 0;
    /// Filters and exclusions that match no case.
    std::vector<std::string> unmatched{};
    std::vector<std::string> unmatched_excludes{};
    /// Requested ids that no case has.
    std::set<std::string> lost_ids{};
    /// run::id_hash of each selected case in order, if they were requested.
    std::vector<std::uint64_t> ids{};

    /// The paths of all files that the cases are in.
    [[nodiscard]] std::vector<std::string> files() const;
    /// Visits the selected cases in order.
    void for_each(const std::function<void(const cases::Case&)>& visit) const;
    /// Visits the cases of the selected nodes of graphs, as far as the reference computes what they read.
    void for_each_node(const std::function<void(const cases::Case&)>& visit) const;
};
[[nodiscard]] std::optional<Selection> load_selection(const CaseOptions& options, bool keep_ids = false);

/// The program's version, followed by those of linked libraries.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> versions();

}  // namespace dmlconform::app
