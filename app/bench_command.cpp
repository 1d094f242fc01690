// `dmlconform bench`: times cases with Google Benchmark, after they were found right.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "app/command.h"
#include "app/engine_choice.h"
#include "app/google_benchmark_options.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/bench/benchmarks.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

using Rooflines = std::vector<std::optional<Roofline>>;

/// Tag of the cases that are timed unless others are asked for.
constexpr const char* bench_tag = "bench";

struct BenchOptions {
    CaseOptions cases;
    EngineChoice engines;
    bench::BenchSettings settings;
    bool no_verify = false;
    bool no_roofline = false;
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

/// Whoever asks for anything of Google Benchmark's tables gets them.
bench::Table table_of(const BenchOptions& options) {
    const bool asked =
        std::any_of(options.google_benchmark.begin(), options.google_benchmark.end(), [](const std::string& word) {
            return word.starts_with("--benchmark_format") || word.starts_with("--benchmark_counters_tabular") ||
                   word.starts_with("--benchmark_display_aggregates_only");
        });
    return asked ? bench::Table::google_benchmark : bench::Table::lines;
}

/// Google Benchmark's options: the defaults, which what the user says comes after.
std::vector<std::string> benchmark_options(const BenchOptions& options, const Engines& engines,
                                           const Rooflines& rooflines, bool by_steady_clocks) {
    std::vector<std::string> words{by_steady_clocks ? "--benchmark_min_time=0.05" : "--benchmark_min_time=0.2",
                                   "--benchmark_repetitions=9"};
    if (table_of(options) == bench::Table::google_benchmark) {
        words.emplace_back("--benchmark_display_aggregates_only=true");
    }
    std::vector<std::string> context;
    for (const auto& [name, value] : bench::context_of(engines, rooflines)) {
        // Commas separate entries.
        std::string plain = value;
        std::replace(plain.begin(), plain.end(), ',', ';');
        context.push_back(fmt::format("{}={}", name, plain));
    }
    words.push_back(fmt::format("--benchmark_context={}", fmt::join(context, ",")));
    words.insert(words.end(), options.google_benchmark.begin(), options.google_benchmark.end());
    return words;
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

/// What Google Benchmark's option says, the last time, or else the variable by which it can be given too.
std::string benchmark_option(const BenchOptions& options, const std::string& name, const char* variable) {
    const char* const value = std::getenv(variable);
    std::string text = value == nullptr ? "" : value;
    for (const std::string& word : options.google_benchmark) {
        if (word.starts_with(name + "=")) {
            text = word.substr(name.size() + 1);
        }
    }
    return text;
}

/// Runs the benchmarks; what they report goes into the file once it is complete.
core::Result<std::size_t> time_all(const BenchOptions& options, const bench::Registered& registered,
                                   const std::string& path, const std::vector<std::string>& words) {
    report::OutputFile file;
    bench::Output output;
    if (!path.empty()) {
        if (auto opened = file.open(path); !opened) {
            return tl::unexpected(opened.error());
        }
        output = {file.written_path(), benchmark_option(options, "--benchmark_out_format", "BENCHMARK_OUT_FORMAT")};
    }
    const bench::Timed timed = bench::run_registered(registered, words, table_of(options), output);
    if (timed.output == bench::Written::not_everything) {
        return core::fail(fmt::format("{} cannot be written", path), "is the disk full?");
    }
    if (timed.output == bench::Written::everything) {
        if (auto committed = file.commit(); !committed) {
            return tl::unexpected(committed.error());
        }
    }
    return timed.count;
}

int bench_command(BenchOptions& options, const Invocation& invocation) {
    const auto read = google_benchmark_options(options.google_benchmark);
    if (!read) {
        print_error(read.error());
        return exit_usage;
    }
    options.google_benchmark = *read;
    const std::string output = benchmark_option(options, "--benchmark_out", "BENCHMARK_OUT");
    if (!output.empty()) {
        if (const auto writable = report::check_writable(output); !writable) {
            print_error(writable.error());
            return exit_usage;
        }
    }
    if (options.cases.selector.filters.empty() && options.cases.selector.tags.empty() && !options.cases.shape.any()) {
        options.cases.selector.tags.emplace_back(bench_tag);
        options.cases.without_tag = ". `--filter '*'` times cases without it";
    }
    const auto selection = load_selection(options.cases);
    if (!selection) {
        return exit_usage;
    }
    int exit_code = exit_ok;
    const auto engines = make_engines(options.engines, invocation, exit_code);
    if (!engines) {
        return exit_code;
    }
    std::vector<cases::Case> cases;
    selection->for_each([&](const cases::Case& subject) { cases.push_back(subject); });
    const Rooflines rooflines = measure_rooflines(options, *engines);
    options.settings.verify = !options.no_verify;
    const bench::Registered registered = bench::register_benchmarks(cases, *engines, rooflines, options.settings);
    const bool wrong = print_left_out(registered.left_out);
    const auto ran = time_all(options, registered, output,
                              benchmark_options(options, *engines, rooflines, registered.by_steady_clocks));
    if (!ran) {
        print_error(ran.error());
        return exit_not_run;
    }
    if (*ran == 0) {
        warn("dmlconform: nothing was timed\n");
    }
    return wrong || *ran == 0 || bench::failures() != 0 ? exit_unexpected : exit_ok;
}

}  // namespace

void add_bench_command(Command app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<BenchOptions>();
    const Command command = app.add_subcommand("bench", "Time cases: those tagged `bench`, unless others are chosen");
    options->cases.add_to(command);
    options->cases.shape.add_to(command);
    options->engines.add_to(command, "time");
    command.add_flag("--cold", options->settings.cold,
                     "Use copies of the tensors in turn. Together they are larger than the last-level cache");
    command.add_flag("--cpu-time", options->settings.cpu_time,
                     "Time engines in this process by CPU time, for machines that are busy with other things");
    command.add_flag("--no-verify", options->no_verify, "Time wrong results, too, and mark them");
    command.add_flag("--no-roofline", options->no_roofline, "Do not measure the highest speed of the devices");
    command.allow_extras();
    command.footer(
        "Google Benchmark's own options work as they are, for example --benchmark_out=FILE. The defaults here are\n"
        "--benchmark_min_time=0.2 (0.05 if only GPUs with clocks of their own are timed) and\n"
        "--benchmark_repetitions=9.\n"
        "--benchmark_format=console prints its own table.");
    command.callback([options, command, &invocation, &exit_code] {
        options->google_benchmark = command.remaining();
        exit_code = bench_command(*options, invocation);
    });
}

}  // namespace dmlconform::app
