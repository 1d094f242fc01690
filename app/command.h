// What the subcommands share: how one is added to the command line, and what exit codes mean.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.h"
#include "app/shape_options.h"
#include "engine/cases/corpus.h"
#include "engine/run/engine_list.h"
#include "engine/run/selection.h"

namespace dmlconform::app {

/// The documented exit codes.
enum ExitCode : int {
    exit_ok = 0,             // everything as expected
    exit_unexpected = 1,     // unexpected results
    exit_usage = 2,          // the command line or an input file is wrong
    exit_not_run = 3,        // the run itself could not be done
    exit_interrupted = 130,  // by Ctrl-C
    exit_terminated = 143,   // by SIGTERM
};

/// What the program was told: its own words, for "run again" lines and results.
struct Invocation {
    std::vector<std::string> words;
};

/// Adds a subcommand. When it is chosen, `exit_code` is set to what it returns.
void add_run_command(Command app, const Invocation& invocation, int& exit_code);
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
    /// Added to the hint that no case has the tag: what else the command could do.
    std::string without_tag{};
    /// Where there is any, the paths are names of operators. Only for commands that add its options.
    ShapeOptions shape{};

    void add_to(Command command);
};

/// Adds --feature-level; `level` keeps its value where the option is not given.
void add_feature_level(Command command, core::FeatureLevel& level);

/// Adds the options by which engines are set up: --adapter, --feature-level, and DirectML's own where there is that
/// engine.
void add_engine_options(Command command, run::EngineOptions& options);

/// Loads and selects cases. Prints every problem to stderr and returns nothing then, as when no case is selected.
struct Selection {
    cases::Corpus corpus;
    run::Selector selector;
    /// How many cases are selected.
    std::size_t count = 0;
    /// Filters and exclusions that match none of the cases.
    std::vector<std::string> unmatched{};
    std::vector<std::string> unmatched_excludes{};
    /// run::id_hash of each, if they were to be kept; in their order.
    std::vector<std::uint64_t> ids{};

    /// In their order.
    void for_each(const std::function<void(const cases::Case&)>& visit) const;
};
[[nodiscard]] std::optional<Selection> load_selection(const CaseOptions& options, bool keep_ids = false);

/// The program's own version first, then everything that is linked in.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> versions();

}  // namespace dmlconform::app
