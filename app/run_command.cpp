// `dmlconform run`: runs cases on engines and reports.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <random>

#include "app/idle_engines.h"
#include "app/interrupt.h"
#include "app/messages.h"
#include "app/number_options.h"
#include "app/rerun_option.h"
#include "app/run_command.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/core/hardware_threads.h"
#include "engine/engine.h"
#include "engine/report/console_report.h"
#include "engine/report/failure_causes.h"
#include "engine/report/graph_table.h"
#include "engine/report/progress.h"
#include "engine/run/physical_memory.h"
#include "engine/run/runner.h"
#include "engine/run/worker_engines.h"

namespace dmlconform::app {
namespace {

/// The number of further executions with --times.
constexpr std::size_t further_executions = 5;

/// Further ones are printed in one line each, unless --verbose is given.
constexpr std::size_t most_blocks_of_a_cause = 10;

/// Prints results during the run.
class ConsoleObserver final : public run::Observer {
public:
    ConsoleObserver(const RunOptions& options, const run::EngineSet& engines, std::size_t case_count,
                    report::Caller caller, RunOutputs& outputs, run::ExpectationUpdate* update,
                    std::shared_ptr<const report::GraphTables> graphs)
        : options_(options),
          engines_(engines),
          case_count_(case_count),
          outputs_(outputs),
          update_(update),
          caller_(std::move(caller)),
          style_(use_color(options.no_color)),
          progress_(stderr, !options.quiet && shows_progress()),
          graphs_(std::move(graphs)) {}

    void on_case(const cases::Case& subject, std::size_t position) override {
        progress_.show(position, case_count_, failed_, subject.id);
    }

    void on_result(const run::CaseResult& result) override {
        outputs_.add(result);
        if (update_ != nullptr) {
            update_->add(result);
        }
        const EngineInfo& engine = engines_[result.engine]->info();
        const bool failed = run::is_failure(result.status);
        if (failed && (result.gated || options_.verbose)) {
            failed_ += result.gated ? 1 : 0;
            progress_.clear();
            // Many failures with a common cause say little more than a few.
            const std::size_t alike = result.gated ? causes_.add(result) : 0;
            const bool in_short = options_.quiet || (alike > most_blocks_of_a_cause && !options_.verbose);
            print(in_short ? report::result_line(result, engine, style_)
                           : report::failure_block(result, engine, caller_, style_) + core::show("\n"));
            in_short_ = in_short;
        } else if (options_.verbose) {
            progress_.clear();
            say("{}{}", report::result_line(result, engine, style_), report::comparison_lines(result));
        }
    }

    bool stop_requested() override { return interrupted() || is_late(); }

    /// True if the deadline has passed.
    [[nodiscard]] bool is_late() const {
        return options_.deadline &&
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= *options_.deadline;
    }

    void finish(const run::RunTotals& totals) {
        progress_.clear();
        if (options_.verbose || in_short_) {
            say("\n");
        }
        print(causes_.summary(totals.engines));
        if (!options_.quiet) {
            print(graphs_->text(style_, output_width(), options_.verbose));
        }
        print(report::summary(totals, style_, output_width(), options_.verbose));
    }

private:
    const RunOptions& options_;
    const run::EngineSet& engines_;
    std::size_t case_count_;
    RunOutputs& outputs_;
    run::ExpectationUpdate* update_;
    report::Caller caller_;
    report::ConsoleStyle style_;
    report::ProgressLine progress_;
    report::FailureCauses causes_;
    std::shared_ptr<const report::GraphTables> graphs_;
    std::size_t failed_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    /// True if the last failure was printed in one line.
    bool in_short_ = false;
};

/// More do not help on a graphics adapter (docs/running.md), and operators with large tensors use all threads anyway.
constexpr unsigned most_at_a_time = 8;

/// How to repeat a case in the same way.
report::Caller caller_of(const RunOptions& options, const Invocation& invocation) {
    report::Caller caller{invocation.words.front(), {}};
    if (options.cases.allow_external_data) {
        caller.options.emplace_back("--allow-external-data");
    }
    if (options.settings.cases.graph_mode == run::GraphMode::nodes) {
        caller.options.insert(caller.options.end(), {"--graph-mode", "nodes"});
    }
    if (options.settings.cases.further_executions != 0) {
        caller.options.emplace_back("--times");  // the failure may only occur in a further execution
    }
    for (const auto& words : {options.cases.shape.words(), options.cases.models.words(), options.engines.words(),
                              options.against.words(), options.expectations.words()}) {
        caller.options.insert(caller.options.end(), words.begin(), words.end());
    }
    return caller;
}

/// Options for a bundle's command besides the engine.
std::vector<std::string> bundle_options(const RunOptions& options) {
    std::vector<std::string> words = options.engines.words();
    const auto more = options.expectations.words_elsewhere();
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// The number of cases that run in parallel.
std::size_t cases_at_a_time(const RunOptions& options) {
    if (options.jobs != 0) {
        return options.jobs;
    }
    if (has_processes(options.engines)) {
        return std::max<std::size_t>(options.engines.processes(), 1);
    }
    return std::min(core::hardware_threads(), most_at_a_time);
}

void print_header(const RunOptions& options, const run::EngineSet& engines, std::size_t at_a_time,
                  const Selection& selection, const std::optional<run::ShardInfo>& shard) {
    say("{} on {}{}\n", selection.count == 1 ? "1 case" : fmt::format("{} cases", selection.count),
        engines.size() == 1 ? "1 engine" : fmt::format("{} engines", engines.size()),
        at_a_time == 1 ? "" : fmt::format(", {} at a time", at_a_time));
    std::size_t width = 8;
    for (const auto& engine : engines) {
        width = std::max(width, engine->info().name.size() + 1);
    }
    for (const auto& engine : engines) {
        const EngineInfo& info = engine->info();
        say("  {:<{}}{}\n", info.name, width, device_text(info.adapter, info.driver));
    }
    for (const cases::SkippedExpansions& skipped : selection.corpus.skipped) {
        say("  left out: {} expansions of {} whose descriptors are illegal (skipInvalid)\n", skipped.count, skipped.id);
    }
    if (options.expectations.are_defaults) {
        say("  expected: what {} says of this engine (--no-default-expectations: nothing)\n",
            core::show_list(options.expectations.files, ", "));
    }
    if (shard) {
        say("  shard {} of {} cases, divided by {}\n", run::to_string(shard->shard), shard->cases_of_all,
            shard->by_durations ? "recorded times" : "their ids");
    }
    if (options.settings.shuffle) {
        say("  in the order of --shuffle={}\n", *options.settings.shuffle);
    }
    say("\n");
}

/// Reports engines on which cases failed before but that are not chosen now. True if there are any.
bool note_lost_engines(const RunOptions& options, const Engines& engines) {
    bool any = false;
    for (const std::string& before : options.engines_before) {
        const bool there =
            std::ranges::any_of(engines, [&](const auto& engine) { return engine->info().name == before; });
        if (!there) {
            warn("dmlconform: note: cases failed on {}, too, and are not run there again\n", before);
            any = true;
        }
    }
    return any;
}

/// Adds the previous run's other problems, which repeating its failures does not remove.
int with_doubts(const RunOptions& options, int exit_code) {
    if (options.doubts.empty() || exit_code != exit_ok) {
        return exit_code;
    }
    say("What failed in {} is all right now, but about that run:\n", options.rerun_failed);
    for (const std::string& doubt : options.doubts) {
        say("  {}\n", doubt);
    }
    return exit_unexpected;
}

/// `recorded`: the number of recorded cases, which may be the only purpose of a run.
int exit_code_of(const RunOptions& options, const run::RunTotals& totals, bool is_shard, std::size_t recorded) {
    if (interrupted()) {
        return interrupt_exit_code();
    }
    // A small shard may have no cases for one of the engines; `merge` checks all shards together.
    const auto idle = is_shard ? std::vector<std::string>() : idle_engines(options.engines.asked(), totals);
    print_idle(idle);
    const bool skipped = options.fail_on_skip && !totals.skips.empty();
    if (skipped) {
        print_forbidden_skips(totals);
    }
    const bool too_little = options.strict && totals.unverified.any();
    const bool passed = totals.passed() || (recorded != 0 && totals.failures() == 0);
    return with_doubts(options, passed && idle.empty() && !too_little && !skipped ? exit_ok : exit_unexpected);
}

/// Says which cases were not run. True if that is because the deadline has passed.
bool note_missing_cases(const RunOptions& options, const ConsoleObserver& observer, std::size_t cases_run,
                        std::size_t case_count) {
    if (interrupted()) {
        warn("dmlconform: interrupted; {} of {} cases were run\n", cases_run, case_count);
        return false;
    }
    if (cases_run >= case_count || !observer.is_late()) {
        return false;
    }
    warn("dmlconform: the deadline of {} s has passed; {} of {} cases were run\n", *options.deadline, cases_run,
         case_count);
    return true;
}

/// True if the run had all cases. Only then can it tell which expectations are unused.
bool is_complete(const RunOptions& options, const Selection& selection, bool ran_all) {
    return !interrupted() && !options.settings.fail_fast && options.settings.max_failures == 0 && ran_all &&
           selection.selector.selects_all();
}

/// Rewrites the expectations if that is wanted. False if it fails.
bool rewrite_expectations(const RunOptions& options, const run::ExpectationUpdate& update, const run::RunTotals& totals,
                          bool complete) {
    if (!options.expectations.update || interrupted()) {
        return true;
    }
    const auto done = update_expectations(options.expectations, update, totals.engines, complete);
    if (!done) {
        print_error(done.error());
    }
    return done.has_value();
}

/// Carries out the run.
int run_on(const RunOptions& options, const Invocation& invocation, const Selection& selection,
           const std::vector<run::EngineSet>& sets, RunOutputs& outputs, std::optional<run::ShardInfo> shard) {
    const run::EngineSet& engines = sets.front();
    const report::RunContext context = run_context(invocation, shard);
    if (!options.quiet) {
        print_header(options, engines, sets.size(), selection, shard);
    }
    std::shared_ptr<report::RecordedCases> recording;
    if (!options.against.record.empty()) {
        recording = std::make_shared<report::RecordedCases>(options.against.record, *options.settings.cases.against);
        outputs.add_report(recording);
    }
    const auto graphs = std::make_shared<report::GraphTables>();
    outputs.add_report(graphs);
    catch_interrupts();
    outputs.begin(context, infos_of(engines));
    const std::size_t case_count = selection.count * options.settings.repeat;
    run::ExpectationUpdate update(*options.settings.expected);
    ConsoleObserver observer(options, engines, case_count, caller_of(options, invocation), outputs,
                             options.expectations.update ? &update : nullptr, graphs);
    const auto nodes = options.cases.with_nodes ? run::Nodes::judged : run::Nodes::unjudged;
    run::RunTotals totals = run::run_cases(
        run::selected_cases(selection.corpus, selection.selector, nodes, options.settings.cases.max_memory), sets,
        observer, options.settings);
    totals.unverified.filters = selection.unmatched;
    observer.finish(totals);
    int exit_code = exit_ok;
    if (shard && selection.count == 0 && !interrupted()) {
        // Other shards verify cases, and merging checks that.
        say("This shard has none of the {} cases.\n", shard->cases_of_all);
    } else {
        const std::size_t recorded = recording == nullptr ? 0 : recording->recorded();
        exit_code = exit_code_of(options, totals, shard.has_value(), recorded);
    }
    const std::size_t cases_run = totals.results / engines.size();
    if (note_missing_cases(options, observer, cases_run, case_count) && exit_code == exit_ok) {
        exit_code = exit_unexpected;
    }
    const bool complete = is_complete(options, selection, cases_run == case_count);
    // Default expectations need not be used.
    if (complete && !options.expectations.are_defaults) {
        print_unused(*options.settings.expected);
    }
    outputs.finish_reports(totals, exit_code);
    print(outputs.bundle_summary());
    if (recording != nullptr) {
        print(recording->summary());
    }
    const bool rewritten = rewrite_expectations(options, update, totals, complete);
    return outputs.finish_result(totals, rewritten ? exit_code : exit_not_run);
}

/// Reads --shuffle=SEED, or draws a seed; false if the text is not a seed.
bool read_seed(RunOptions& options) {
    if (options.shuffle.empty()) {
        return true;
    }
    if (options.shuffle == "true") {
        options.settings.shuffle = std::random_device()();
        return true;
    }
    options.settings.shuffle = parse_whole_number(options.shuffle);
    if (!options.settings.shuffle) {
        print_error({fmt::format("--shuffle={}: a seed is a number from 0 to 2^64 - 1", options.shuffle), ""});
    }
    return options.settings.shuffle.has_value();
}

/// Outputs that were computed elsewhere are those of whole graphs.
bool has_outputs(const RunOptions& options) {
    return options.against.engine.starts_with(outputs_prefix) ||
           std::ranges::any_of(options.engines.engines,
                               [](const std::string& engine) { return engine.starts_with(outputs_prefix); });
}

/// Takes over from options what they mean for others, before cases are loaded.
core::Result<void> settle(RunOptions& options) {
    if (auto good = options.against.check(options.engines); !good) {
        return good;
    }
    options.engines.one_more = options.against.engine;
    options.engines.takes_outputs = true;
    options.cases.without_expected = options.against.any();
    options.settings.cases.keep_computed = !options.against.record.empty();
    options.settings.cases.keep_evidence = !options.outputs.bundles.folder.empty();
    // The reference alone has nothing to compare single nodes with.
    options.cases.models.is_judged = options.engines.engines != std::vector<std::string>{"cpu"};
    options.cases.with_nodes = options.with_nodes && options.cases.models.is_judged && !has_outputs(options);
    options.cases.threads = cases_at_a_time(options);
    options.engines.options.worker.interrupted = interrupted;
    return apply_test_environment(options.cases.selector.filters, options.outputs.junit);
}

/// Keeps only the shard's cases in the selection.
core::Result<run::ShardInfo> take(const RunOptions& options, const run::Shard& shard, Selection& selection) {
    auto info = take_shard(options.shards, shard, selection);
    if (info) {
        info->cases *= options.settings.repeat;
        info->cases_of_all *= options.settings.repeat;
    }
    return info;
}

core::Result<RunOutputs> create_outputs(RunOptions& options, const Invocation& invocation, const Selection& selection) {
    std::vector<std::string>& needed = options.outputs.needed_files;
    needed = selection.files();
    std::ranges::copy(options.expectations.files, std::back_inserter(needed));
    needed.push_back(options.against.record);
    return RunOutputs::create(options.outputs, caller_of(options, invocation), bundle_options(options));
}

}  // namespace

int run_selected(RunOptions& options, const Invocation& invocation) {
    if (!read_seed(options)) {
        return exit_usage;
    }
    if (const auto settled = settle(options); !settled) {
        return failure(settled.error(), exit_usage);
    }
    const auto shard = choose_shard(options.shards);
    if (!shard) {
        return failure(shard.error(), exit_usage);
    }
    auto selection = load_selection(options.cases, shard->has_value());
    auto expected = load_expectations(options.expectations);
    if (!selection || !expected) {
        return exit_usage;
    }
    std::optional<run::ShardInfo> shard_info;
    if (*shard) {
        const auto taken = take(options, **shard, *selection);
        if (!taken) {
            return failure(taken.error(), exit_usage);
        }
        shard_info = *taken;
    }
    auto outputs = create_outputs(options, invocation, *selection);
    if (!outputs) {
        return failure(outputs.error(), exit_usage);
    }
    int exit_code = exit_ok;
    auto engines = make_engines(options.engines, invocation, exit_code);
    if (!engines) {
        return exit_code;
    }
    const bool lost = note_lost_engines(options, *engines) || !selection->lost_ids.empty();
    if (lost && options.strict) {
        options.doubts.emplace_back("not all that failed could be run again (--strict)");
    }
    options.settings.cases.against = options.against.index_in(*engines);
    options.settings.cases.precisions = options.engines.precisions(*engines);
    if (options.expectations.take_defaults(infos_of(*engines))) {
        expected = load_expectations(options.expectations);
        if (!expected) {
            return exit_usage;
        }
    }
    options.settings.expected = expected.get();
    const std::size_t at_a_time = std::min(cases_at_a_time(options), std::max<std::size_t>(selection->count, 1));
    const auto sets = make_engine_sets(std::move(*engines), at_a_time, options.jobs != 0);
    if (!sets) {
        return failure(sets.error(), exit_not_run);
    }
    return run_on(options, invocation, *selection, *sets, *outputs, shard_info);
}

void add_limit_options(Command command, RunOptions& options) {
    command
        .add_option("--max-memory", options.settings.cases.max_memory,
                    "Skip cases that need more bytes than this (256M, 2G, …). Default: what the machine has")
        .type_name("SIZE")
        .transform(size_in_bytes());
    options.settings.cases.max_memory = run::physical_memory();
    command.add_flag("--fail-fast", options.settings.fail_fast, "End the run with the first case that fails");
    command
        .add_option("--max-failures,--maxfail", options.settings.max_failures,
                    "End the run when this many cases have failed")
        .type_name("N")
        .transform(whole_number(1, 1'000'000'000));
    command
        .add_number_option(
            "--deadline", [&options](double seconds) { options.deadline = seconds; },
            "Begin no further case after this time. A run that has not run all cases then fails")
        .type_name("SECONDS")
        .transform(number(0, 1e9));
}

void add_verdict_options(Command command, RunOptions& options) {
    command.add_flag("--include-unspecified", options.settings.include_unspecified,
                     "Let cases tagged `unspecified` decide, too. Otherwise they are only reported");
    command.add_flag("--strict", options.strict,
                     "Fail if no engine verified a case, if a case was verified only in part, or if a filter matches "
                     "nothing. Otherwise the run only says so");
    command.add_flag("--fail-on-skip", options.fail_on_skip, "Fail where an engine skips a case");
    const Option quiet =
        command.add_flag("-q,--quiet", options.quiet, "Print one line for each failure, and the totals");
    command.add_flag("-v,--verbose", options.verbose, "Print a line for every result").excludes(quiet);
    command.add_flag("--no-color", options.no_color, "Do not use colours, as with the environment variable NO_COLOR");
}

namespace {

/// Options about the order of cases, and how many are run at a time.
void add_schedule_options(Command command, RunOptions& options) {
    command
        .add_option(
            "-j,--jobs", options.jobs,
            "How many cases to run at a time, each on all engines. Default: 1 if engines are in processes of their "
            "own, otherwise one for each hardware thread, but at most 8")
        .type_name("N")
        .transform(whole_number(1, 1024))
        .excludes("--isolate");
    command
        .add_option("--retries", options.settings.cases.retries,
                    "Run a case that fails again, up to this many times. If it passes then, it is a `flake`, and does "
                    "not fail the run")
        .type_name("N")
        .transform(whole_number(1, 100));
    command.add_option("--repeat", options.settings.repeat, "Run all cases this many times. Default: 1")
        .type_name("N")
        .transform(whole_number(1, 1'000'000));
    command.add_flag("--shuffle", options.shuffle,
                     "Run cases in random order. The header prints the seed, and --shuffle=SEED repeats it");
}

void set_up(Command command, RunOptions& options) {
    options.cases.add_to(command);
    command.get_option("paths").required(false);
    options.engines.add_to(command, "run on");
    options.cases.shape.add_to(command);
    options.against.add_to(command);
    options.expectations.add_to(command);
    options.outputs.add_to(command);
    options.shards.add_to(command);
    add_schedule_options(command, options);
    add_limit_options(command, options);
    command
        .add_text_option(
            "--graph-mode",
            [&options](const std::string& mode) {
                options.settings.cases.graph_mode = mode == "nodes" ? run::GraphMode::nodes : run::GraphMode::whole;
            },
            "How engines run graphs: as a whole where they can, or one node at a time, which tells a wrong operator "
            "from a wrong fusion. Default: whole")
        .type_name("MODE")
        .one_of({"whole", "nodes"});
    command
        .add_option("--rerun-failed", options.rerun_failed,
                    "Run only the cases that failed in this result (`--json`), from the files that it names, on the "
                    "engines where they failed, and with the options of that run, unless other ones are given")
        .path("RESULT");
    command.add_flag_callback(
        "--times", [&options] { options.settings.cases.further_executions = further_executions; },
        "Execute each case that passed five more times, and show the median, too. The first execution is mostly "
        "slower");
    add_verdict_options(command, options);
}

/// Repeats the failed cases of a result: from their own files and on the same engines unless others are given, and
/// under the same conditions.
int rerun(const std::string& path, const Invocation& invocation) {
    const auto failed = read_failed(path);
    if (!failed) {
        return failure(failed.error(), exit_usage);
    }
    if (failed->ids->empty()) {
        say("Nothing failed in {}, so that nothing is run.\n", path);
        return exit_ok;
    }
    const std::vector<std::string> asked(invocation.words.begin() + 2, invocation.words.end());
    const auto carried = carried_words(path, *failed, asked);
    if (!carried) {
        return failure(carried.error(), exit_usage);
    }
    Invocation again{{invocation.words[0], invocation.words[1]}};
    again.words.insert(again.words.end(), carried->begin(), carried->end());
    again.words.insert(again.words.end(), asked.begin(), asked.end());
    RunOptions options;
    const auto read =
        read_words([&](Command command) { set_up(command, options); }, {again.words.begin() + 2, again.words.end()});
    if (!read) {
        return failure({fmt::format("{}: its options cannot be taken over: {}", path, read.error().message), ""},
                       exit_usage);
    }
    if (!carried->empty()) {
        warn("dmlconform: as in {}: {}\n", path, core::show_list(*carried, " "));
    }
    options.cases.selector.ids = failed->ids;
    options.doubts = failed->doubts;
    options.engines_before = failed->engines;
    options.engines_before.insert(options.engines_before.end(), failed->commands.begin(), failed->commands.end());
    if (options.cases.paths.empty()) {
        options.cases.paths = failed->files;
    }
    if (options.engines.engines.empty()) {
        options.engines.engines = failed->engines;
    }
    return run_selected(options, again);
}

}  // namespace

void add_run_command(Command app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<RunOptions>();
    const Command command =
        app.add_subcommand("run", "Run cases on engines, and compare the outputs with what they should be");
    set_up(command, *options);
    const Option paths = command.get_option("paths");
    command.callback([options, paths, &invocation, &exit_code] {
        if (!options->rerun_failed.empty()) {
            exit_code = rerun(options->rerun_failed, invocation);
            return;
        }
        if (options->cases.paths.empty() && options->cases.shape.batch.empty()) {
            throw_missing(paths.get_name());
        }
        exit_code = run_selected(*options, invocation);
    });
}

}  // namespace dmlconform::app
