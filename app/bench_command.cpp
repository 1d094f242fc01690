// `dmlconform bench`: times cases with Google Benchmark after verifying their outputs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "app/bench_processes.h"
#include "app/command.h"
#include "app/documents.h"
#include "app/engine_choice.h"
#include "app/google_benchmark_options.h"
#include "app/interrupt.h"
#include "app/messages.h"
#include "app/number_options.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/bench/timing.h"
#include "engine/report/output_file.h"
#include "engine/report/progress.h"

namespace dmlconform::app {
namespace {

using Rooflines = std::vector<std::optional<Roofline>>;

/// Tag of the cases that are timed by default.
constexpr const char* bench_tag = "bench";

/// Seconds: more than a week is a mistake.
constexpr double most_budget = 1e6;
constexpr std::uint64_t most_processes = 10'000;

struct BenchOptions {
    CaseOptions cases;
    EngineChoice engines;
    bench::BenchSettings settings;
    bool cpu_time = false;
    bool wall_time = false;
    bool no_verify = false;
    bool no_roofline = false;
    bool verbose = false;
    /// Seconds.
    std::optional<double> time_budget;
    /// How many processes time the benchmarks, one after another.
    std::uint64_t processes = 1;
    /// --benchmark_…
    std::vector<std::string> google_benchmark;
};

Rooflines measure_rooflines(const BenchOptions& options, const Engines& engines) {
    Rooflines rooflines;
    for (const auto& engine : engines) {
        const EngineInfo& info = engine->info();
        warn("{}: {}\n", info.name, device_text(info.adapter, info.driver));
        std::optional<Roofline>& roofline = rooflines.emplace_back();
        if (options.no_roofline) {
            continue;
        }
        if (auto measured = engine->measure_roofline()) {
            roofline = *measured;
            warn("    roofline: {:.4g} GB/s, {:.4g} GFLOP/s\n", roofline->bytes_per_second / 1e9,
                 roofline->operations_per_second / 1e9);
        } else {
            warn("    no roofline: {}\n", measured.error().message);
        }
    }
    return rooflines;
}

/// What Google Benchmark's option says, the last time, or else the variable by which it can be given too.
std::string benchmark_option(const BenchOptions& options, const std::string& name, const char* variable = nullptr) {
    const char* const value = variable == nullptr ? nullptr : std::getenv(variable);
    std::string text = value == nullptr ? "" : value;
    for (const std::string& word : options.google_benchmark) {
        if (word.starts_with(name + "=")) {
            text = word.substr(name.size() + 1);
        } else if (word == name) {
            text = "true";
        }
    }
    return text;
}

bool is_true(const std::string& text) {
    return text == "true" || text == "yes" || text == "on" || text == "1";
}

/// Google Benchmark's table if one of its options for tables is given, otherwise a line for each benchmark.
bench::Table table_of(const BenchOptions& options) {
    const bool asked =
        std::any_of(options.google_benchmark.begin(), options.google_benchmark.end(), [](const std::string& word) {
            return word.starts_with("--benchmark_format") || word.starts_with("--benchmark_counters_tabular") ||
                   word.starts_with("--benchmark_display_aggregates_only");
        });
    return asked ? bench::Table::google_benchmark : bench::Table::lines;
}

/// What Google Benchmark is told besides: not what is settled here.
std::vector<std::string> other_options(const BenchOptions& options) {
    std::vector<std::string> words;
    if (table_of(options) == bench::Table::google_benchmark) {
        words.emplace_back("--benchmark_display_aggregates_only=true");
    }
    std::copy_if(options.google_benchmark.begin(), options.google_benchmark.end(), std::back_inserter(words),
                 [](const std::string& word) {
                     return !word.starts_with("--benchmark_out=") && !word.starts_with("--benchmark_repetitions=") &&
                            !word.starts_with("--benchmark_min_time=");
                 });
    return words;
}

bench::TimingSettings timing_settings(const BenchOptions& options, const Engines& engines, const Rooflines& rooflines,
                                      bool by_steady_clocks, const std::string& output) {
    bench::TimingSettings settings;
    settings.options = other_options(options);
    settings.context = bench::context_of(engines, rooflines);
    settings.pace.usual_min_time = by_steady_clocks ? 0.05 : 0.2;
    settings.pace.min_time = parse_number(benchmark_option(options, "--benchmark_min_time"));
    settings.pace.repetitions = parse_whole_number(benchmark_option(options, "--benchmark_repetitions"));
    settings.pace.budget = options.time_budget;
    settings.table = table_of(options);
    settings.table_on_stderr = output == report::standard_output_path;
    settings.width = output_width();
    if (const std::string format = benchmark_option(options, "--benchmark_format"); !format.empty()) {
        settings.table_format = format;
    }
    if (!output.empty()) {
        const std::string format = benchmark_option(options, "--benchmark_out_format", "BENCHMARK_OUT_FORMAT");
        settings.file_format = format.empty() ? "json" : format;
    }
    settings.interleaved = is_true(
        benchmark_option(options, "--benchmark_enable_random_interleaving", "BENCHMARK_ENABLE_RANDOM_INTERLEAVING"));
    settings.only_names = is_true(benchmark_option(options, "--benchmark_list_tests", "BENCHMARK_LIST_TESTS"));
    return settings;
}

/// Shows how far it is, and passes signals on.
class BenchWatcher final : public bench::Watcher {
public:
    bool stop_requested() override { return interrupted(); }
    void on_progress(std::size_t done, std::size_t total, const std::string& current) override {
        progress_.show(done, total, 0, current);
    }
    void before_output() override { progress_.clear(); }

private:
    report::ProgressLine progress_{stderr, shows_progress()};
};

/// Other processes take time from what is measured. `load`: before anything was measured.
void warn_of_load(const std::optional<double>& load, const std::vector<bench::Benchmark>& benchmarks) {
    if (!load) {
        return;
    }
    const bool by_wall_clock = std::ranges::any_of(
        benchmarks, [](const bench::Benchmark& benchmark) { return benchmark.timed_by == bench::wall_clock; });
    warn("note: the load average of this machine is {:.1f}: other processes disturb the times\n", *load);
    if (by_wall_clock) {
        warn("    hint: --cpu-time leaves out the time in which others have the processor\n");
    }
}

/// By engine: whose clock times how many benchmarks.
using Clocks = std::map<std::string, std::map<std::string, std::size_t>>;

Clocks clocks_of(const std::vector<bench::Benchmark>& benchmarks) {
    Clocks clocks;
    for (const bench::Benchmark& benchmark : benchmarks) {
        ++clocks[benchmark.engine->info().name][benchmark.timed_by];
    }
    return clocks;
}

/// Prints the clocks, and adds them to the context, because times by different clocks cannot be compared.
void add_clocks(const Clocks& clocks, std::vector<std::pair<std::string, std::string>>& context) {
    for (const auto& [engine, counts] : clocks) {
        std::vector<std::string> names;
        std::vector<std::string> shown;
        for (const auto& [name, count] : counts) {
            names.push_back(name);
            shown.push_back(counts.size() == 1 ? name : fmt::format("{} ({})", name, count));
        }
        warn("{}: timed by {}\n", engine, fmt::format("{}", fmt::join(shown, ", ")));
        context.emplace_back(fmt::format("dmlconform.{}.clock", engine), fmt::format("{}", fmt::join(names, ", ")));
    }
}

/// Prints what is not timed. Returns whether anything of that is wrong.
bool print_left_out(const std::vector<bench::LeftOut>& left_out) {
    bool wrong = false;
    for (const bench::LeftOut& entry : left_out) {
        warn("not timed: {}: {}\n", entry.name, entry.reason);
        wrong = wrong || !entry.skipped;
    }
    if (wrong) {
        warn("    hint: `dmlconform run` shows what is wrong; --no-verify times it anyway\n");
    }
    return wrong;
}

/// Says what came of it, and writes the file. The exit code.
int finish(const bench::Timed& timed, report::OutputFile* file, bool wrong, bool only_names) {
    const bool nothing = only_names ? timed.wanted == 0 : timed.count == 0;
    if (interrupted()) {
        warn("dmlconform: interrupted; {} of {} benchmarks were timed\n", timed.count, timed.wanted);
    } else if (nothing) {
        warn("dmlconform: nothing {} timed\n", only_names ? "would be" : "was");
    }
    if (file != nullptr && timed.count != 0) {
        auto written = file->write(timed.output);
        if (written) {
            written = file->commit();
        }
        if (!written) {
            return failure(written.error(), exit_not_run);
        }
    }
    if (interrupted()) {
        return interrupt_exit_code();
    }
    return wrong || nothing || timed.failures != 0 ? exit_unexpected : exit_ok;
}

/// Runs the command in several processes. Their results can only be merged as JSON.
int in_processes(const BenchOptions& options, const std::string& output, const Invocation& invocation) {
    const std::string format = benchmark_option(options, "--benchmark_out_format", "BENCHMARK_OUT_FORMAT");
    const std::string shown = benchmark_option(options, "--benchmark_format");
    if (!shown.empty() || (!format.empty() && format != "json") ||
        is_true(benchmark_option(options, "--benchmark_list_tests", "BENCHMARK_LIST_TESTS"))) {
        return failure({"--processes prints a table of its own and writes JSON",
                        "leave out --benchmark_format, --benchmark_out_format and --benchmark_list_tests"},
                       exit_usage);
    }
    if (is_true(benchmark_option(options, "--benchmark_report_aggregates_only", "BENCHMARK_REPORT_AGGREGATES_ONLY"))) {
        print_error({"--processes merges the repetitions of all processes, so that it needs them",
                     "leave out --benchmark_report_aggregates_only and BENCHMARK_REPORT_AGGREGATES_ONLY"});
        return exit_usage;
    }
    BenchProcesses wanted;
    wanted.count = options.processes;
    wanted.time_budget = options.time_budget;
    wanted.output = output;
    wanted.has_repetitions = !benchmark_option(options, "--benchmark_repetitions").empty();
    wanted.has_min_time = !benchmark_option(options, "--benchmark_min_time").empty();
    return bench_in_processes(wanted, invocation);
}

/// Takes cases with the tag for benchmarks, unless others were asked for.
std::optional<Selection> load_benchmarks(BenchOptions& options) {
    if (options.cases.selector.filters.empty() && options.cases.selector.tags.empty() && !options.cases.shape.any()) {
        options.cases.selector.tags.emplace_back(bench_tag);
        options.cases.without_tag = ". `--filter '*'` times cases without it";
    }
    options.cases.models.is_judged = true;
    return load_selection(options.cases);
}

/// Verifies and times the selected cases. The exit code. `begun`: when the command was.
int time_selected(BenchOptions& options, const Selection& selection, const Engines& engines, const std::string& output,
                  report::OutputFile* file, bench::Share::Clock::time_point begun) {
    std::vector<cases::Case> cases;
    selection.for_each([&](const cases::Case& subject) { cases.push_back(subject); });
    if (options.verbose && (!options.cases.shape.any() || !options.cases.shape.batch.empty())) {
        std::ranges::for_each(cases, print_descriptor);
    }
    const auto load = bench::disturbing_load();
    const Rooflines rooflines = measure_rooflines(options, engines);
    options.settings.verify = !options.no_verify;
    options.settings.host_clock = options.cpu_time    ? bench::HostClock::processor
                                  : options.wall_time ? bench::HostClock::wall
                                                      : bench::HostClock::automatic;
    options.settings.precisions = options.engines.precisions(engines);
    catch_interrupts();
    BenchWatcher watcher;
    const bench::Checked checked = bench::check_benchmarks(cases, engines, rooflines, options.settings, watcher);
    watcher.before_output();
    auto settings = timing_settings(options, engines, rooflines, checked.by_steady_clocks, output);
    warn_of_load(load, checked.benchmarks);
    add_clocks(clocks_of(checked.benchmarks), settings.context);
    const bool wrong = print_left_out(checked.left_out);
    const bench::Timed timed = bench::time_benchmarks(checked, settings, begun, watcher);
    watcher.before_output();
    return finish(timed, file, wrong, settings.only_names);
}

int bench_command(BenchOptions& options, const Invocation& invocation) {
    const auto begun = bench::Share::Clock::now();
    const auto read = google_benchmark_options(options.google_benchmark);
    if (!read) {
        return failure(read.error(), exit_usage);
    }
    options.google_benchmark = *read;
    const std::string output = benchmark_option(options, "--benchmark_out", "BENCHMARK_OUT");
    if (!can_write_documents({output})) {
        return exit_usage;
    }
    if (output == report::standard_output_path) {
        leave_output_to_a_document();
    }
    if (options.processes > 1) {
        return in_processes(options, output, invocation);
    }
    const auto selection = load_benchmarks(options);
    if (!selection || !can_write_documents({output}, selection->files())) {
        return exit_usage;
    }
    for (const std::string& filter : selection->unmatched) {
        warn("dmlconform: note: --filter {} matches none of the cases\n", filter);
    }
    int exit_code = exit_ok;
    options.engines.options.worker.interrupted = interrupted;
    const auto engines = make_engines(options.engines, invocation, exit_code);
    if (!engines) {
        return exit_code;
    }
    report::OutputFile file;
    if (!output.empty()) {
        if (const auto opened = file.open(output); !opened) {
            return failure(opened.error(), exit_not_run);
        }
    }
    return time_selected(options, *selection, *engines, output, output.empty() ? nullptr : &file, begun);
}

}  // namespace

void add_bench_command(Command app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<BenchOptions>();
    const Command command =
        app.add_subcommand("bench", "Time cases: those tagged `bench` if there are any, unless others are chosen");
    options->cases.add_to(command);
    options->cases.shape.add_to(command);
    const Option paths = command.get_option("paths").required(false);
    options->engines.add_to(command, "time");
    command.add_flag("--cold", options->settings.cold,
                     "Use copies of the tensors in turn. Together they are larger than the last-level cache");
    const Option cpu_time =
        command.add_flag("--cpu-time", options->cpu_time,
                         "Time the CPU engine, and engines that a command starts, by the processor time of all their "
                         "threads, for machines that are busy with other things. Without it, that is done where the "
                         "CPU engine uses one thread");
    command.add_flag("--wall-time", options->wall_time, "Time engines without a clock of their own by the wall clock")
        .excludes(cpu_time);
    command
        .add_text_option(
            "--time-budget",
            [options](const std::string& text) {
                const auto seconds = parse_number(text.substr(0, text.size() - (text.ends_with('s') ? 1 : 0)));
                if (!seconds || *seconds <= 0 || *seconds > most_budget) {
                    throw_wrong_value("--time-budget", fmt::format("{}: seconds are needed, for example 60s", text));
                }
                options->time_budget = *seconds;
            },
            "Take about this long for everything, divided among the benchmarks. Without it, a benchmark is repeated "
            "until it has settled, 5 to 9 times")
        .type_name("SECONDS");
    command
        .add_text_option(
            "--processes",
            [options](const std::string& text) {
                const auto count = parse_whole_number(text);
                if (!count || *count == 0 || *count > most_processes) {
                    throw_wrong_value("--processes",
                                      fmt::format("{}: a number from 1 to {} is needed", text, most_processes));
                }
                options->processes = *count;
            },
            "Time everything in N processes, one after another, because processes differ from each other although "
            "nothing has changed: `compare` counts processes. 10 are enough for 90 benchmarks. Each repeats 3 times "
            "for 0.05 s, unless other options say otherwise")
        .type_name("N");
    command.add_flag("--no-verify", options->no_verify, "Compare nothing before, and mark everything as unverified");
    command.add_flag("--no-roofline", options->no_roofline, "Do not measure the highest speed of the devices");
    command.add_flag("-v,--verbose", options->verbose, "Print the descriptors of the cases");
    command.allow_extras();
    command.footer(
        "Google Benchmark's own options work as they are, for example --benchmark_out=FILE. The defaults here are\n"
        "--benchmark_min_time=0.2 (0.05 if only GPUs with clocks of their own are timed), and 5 to\n"
        "9 repetitions. --benchmark_repetitions=N asks for that number.\n"
        "--benchmark_format=console prints its own table.");
    command.callback([options, command, paths, &invocation, &exit_code] {
        if (options->cases.paths.empty() && options->cases.shape.batch.empty()) {
            throw_missing(paths.get_name());
        }
        options->google_benchmark = command.remaining();
        exit_code = bench_command(*options, invocation);
    });
}

}  // namespace dmlconform::app
