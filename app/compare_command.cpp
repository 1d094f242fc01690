// `dmlconform compare`: finds benchmarks that became slower.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "app/command.h"
#include "app/comparison_options.h"
#include "app/documents.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/bench/comparison.h"
#include "engine/core/shown_text.h"
#if DMLCONFORM_HAS_HISTORY
#include "engine/history/scatter.h"
#include "engine/history/store.h"
#endif
#include "engine/report/console_style.h"
#include "engine/report/markdown_text.h"
#include "engine/report/output_file.h"
#include "engine/report/text_table.h"

namespace dmlconform::app {
namespace {

struct CompareOptions {
    /// BASE and NEW, unless the files are given by options.
    std::optional<std::string> base_file;
    std::optional<std::string> new_file;
    std::vector<std::string> base;
    std::vector<std::string> now;
    bench::ComparisonSettings settings;
    /// A history that knows how much results scatter; empty: none.
    std::string history;
    bool force = false;
    /// Accepts that benchmarks of the base are missing.
    bool allow_missing = false;
    /// Files to write, "-" for stdout; empty: none.
    std::string json;
    std::string markdown;
    bool no_color = false;
};

/// For scripts; empty if the verdict is certain.
const char* doubt_text(bench::Doubt doubt) {
    constexpr const char* texts[] = {"",
                                     "too few processes",
                                     "unsettled",
                                     "not significant",
                                     "near the threshold",
                                     "machine conditions",
                                     "busy machine"};
    return texts[static_cast<std::size_t>(doubt)];
}

const char* change_text(bench::Change change) {
    constexpr const char* texts[] = {"", "SLOWER", "faster", "unreliable", "too few"};
    return texts[static_cast<std::size_t>(change)];
}

/// How many nodes of a graph are shown: those that lost the most time.
constexpr std::size_t most_shown_nodes = 10;

/// For example "0.98 to 1.03"; empty if there are too few runs.
std::string interval_text(const bench::Interval& interval) {
    return std::isfinite(interval.greatest) ? fmt::format("{:.3f} to {:.3f}", interval.least, interval.greatest) : "";
}

void print_comparison(const bench::RunComparison& comparison, const report::ConsoleStyle& style) {
    report::TextTable table({"benchmark"});
    // A narrow terminal omits the last ones.
    for (const char* column : {"ratio", "verdict", "base", "new", "95%", "spread", "p"}) {
        table.add_value_column(column);
    }
    const auto add_row = [&](const std::string& name, const bench::ComparedBenchmark& compared) {
        table.add_row(
            {name}, {},
            {fmt::format("{:.3f}", compared.ratio), change_text(compared.change), report::format_seconds(compared.base),
             report::format_seconds(compared.now), interval_text(compared.interval),
             fmt::format("{:.1f}%", 100 * compared.spread), fmt::format("{:.2g}", compared.p)});
    };
    for (const auto& compared : comparison.benchmarks) {
        add_row(compared.name, compared);
        for (std::size_t i = 0; i < std::min(compared.nodes.size(), most_shown_nodes); ++i) {
            add_row("  " + compared.nodes[i].name, compared.nodes[i]);
        }
    }
    print(table.text(output_width(), style));
    for (const std::string& name : comparison.missing) {
        say("only in base: {}\n", name);
    }
    for (const std::string& name : comparison.added) {
        say("only in new: {}\n", name);
    }
}

/// The mean change of all benchmarks, and of each operator if there are several.
void print_means(const bench::RunComparison& comparison) {
    const bench::MeanRatio mean = comparison.mean();
    say("\ngeometric mean of {} {}: {:.3f}\n", mean.benchmarks, mean.benchmarks == 1 ? "ratio" : "ratios", mean.ratio);
    const auto by_operator = comparison.mean_by_operator();
    for (const auto& [op, ratio] : by_operator) {
        if (by_operator.size() > 1) {
            say("  {:.3f}  {} ({})\n", ratio.ratio, op, ratio.benchmarks);
        }
    }
}

/// "1 process", "9 pairs".
std::string count_text(std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// The first benchmark with that doubt; null if there is none.
const bench::ComparedBenchmark* first_with(const bench::RunComparison& comparison, bench::Doubt doubt) {
    const auto found = std::ranges::find(comparison.benchmarks, doubt, &bench::ComparedBenchmark::doubt);
    return found == comparison.benchmarks.end() ? nullptr : &*found;
}

std::size_t count_with(const bench::RunComparison& comparison, bench::Doubt doubt) {
    return static_cast<std::size_t>(std::ranges::count(comparison.benchmarks, doubt, &bench::ComparedBenchmark::doubt));
}

/// A sentence about the comparison. The hint may be empty.
struct Note {
    std::string text;
    std::string hint{};
};

/// With the hint below it, in lines that fit the terminal.
void print_note(const Note& note) {
    if (note.hint.empty()) {
        say("{}\n", note.text);
        return;
    }
    constexpr std::string_view before = "    hint: ";
    const std::size_t width = output_width();
    const auto shown = [&](const std::string& words) {
        const std::string clean = core::show("{}", words).text();
        return (width == 0 ? clean : wrap(clean, width)) + "\n";
    };
    print(core::ShownText::made_of(shown(note.text) + shown(std::string(before) + note.hint)));
}

/// "1 process (9 others did not settle)".
std::string side_text(const std::string& count, std::size_t left_out) {
    return count + (left_out == 0 ? "" : fmt::format(" ({} did not settle)", count_text(left_out, "other", "others")));
}

/// What is missing where nothing can be called slower, and the command that measures it.
void add_too_few(const bench::RunComparison& comparison, const bench::ComparisonSettings& settings,
                 std::vector<Note>& notes) {
    const bench::ComparedBenchmark* first = first_with(comparison, bench::Doubt::too_few);
    if (first == nullptr) {
        return;
    }
    const std::size_t all = comparison.benchmarks.size();
    const std::size_t count = count_with(comparison, bench::Doubt::too_few);
    const std::string benchmarks = count_text(all, "benchmark", "benchmarks");
    if (settings.paired) {
        const std::size_t needed = bench::pairs_needed(all, settings.significance);
        notes.push_back({fmt::format("{} of {} cannot be told: there are {}, and {} are needed for {}", count, all,
                                     count_text(first->base_count, "pair", "pairs"), needed, benchmarks),
                         fmt::format("`scripts/compare-programs --rounds {} BASE NEW`", needed)});
        return;
    }
    const std::size_t needed = bench::processes_needed(all, settings.significance);
    const bool unsettled = first->base_left_out + first->now_left_out != 0;
    notes.push_back(
        {fmt::format("{} of {} cannot be told: {} measured the base, and {} the new side. That takes {} on each side "
                     "for {}, because processes differ although nothing has changed",
                     count, all, side_text(count_text(first->base_count, "process", "processes"), first->base_left_out),
                     side_text(fmt::format("{}", first->now_count), first->now_left_out), needed, benchmarks),
         fmt::format("`dmlconform bench … --processes {} --benchmark_out=FILE` for both sides{}", needed,
                     unsettled ? "; --benchmark_min_time=0.5 lets it settle" : "")});
}

/// Why differences are not believed.
void add_doubts(const bench::RunComparison& comparison, std::vector<Note>& notes) {
    const auto benchmarks = [&](bench::Doubt doubt) {
        return count_text(count_with(comparison, doubt), "benchmark", "benchmarks");
    };
    if (first_with(comparison, bench::Doubt::unsettled) != nullptr) {
        notes.push_back({fmt::format("{} did not settle: the repetitions drift", benchmarks(bench::Doubt::unsettled)),
                         "measure again, or let it settle with --benchmark_min_time=0.5"});
    }
    if (first_with(comparison, bench::Doubt::not_significant) != nullptr) {
        notes.push_back({fmt::format("{} may differ by chance: the processes of one side differ as much",
                                     benchmarks(bench::Doubt::not_significant)),
                         "more processes, or a quieter machine"});
    }
    if (first_with(comparison, bench::Doubt::near_threshold) != nullptr) {
        notes.push_back({fmt::format("{} changed, but perhaps by less than the threshold, which is inside the interval",
                                     benchmarks(bench::Doubt::near_threshold)),
                         "more processes make the interval smaller; --threshold chooses what matters"});
    }
    if (const bench::ComparedBenchmark* first = first_with(comparison, bench::Doubt::conditions)) {
        notes.push_back(
            {fmt::format("{} may differ because of the machine: its speed differed by {:.0f}% while {} was measured",
                         benchmarks(bench::Doubt::conditions), 100 * (first->conditions - 1), first->name),
             "measure again when nothing else runs, or in turns with `scripts/compare-programs`; --cpu-time leaves out "
             "waiting for a processor"});
    }
    if (const bench::ComparedBenchmark* first = first_with(comparison, bench::Doubt::busy)) {
        notes.push_back({fmt::format("{} cannot be judged by the wall clock, because the machine was busy: up to "
                                     "{:.0f}% of the time was spent waiting for a processor while {} was measured",
                                     benchmarks(bench::Doubt::busy), 100 * first->waited, first->name),
                         "measure both sides with --cpu-time, or in turns with `scripts/compare-programs`"});
    }
}

/// What came of it, and what to do about it.
std::vector<Note> verdict_of(const bench::RunComparison& comparison, const CompareOptions& options) {
    using bench::Change;
    const std::size_t too_few = comparison.count(Change::too_few);
    const std::string few =
        too_few == 0 ? ""
                     : fmt::format(", {} with too few {}", too_few, options.settings.paired ? "pairs" : "processes");
    std::vector<Note> notes;
    notes.push_back({fmt::format("{} compared at {:g}%: {} slower, {} faster, {} unreliable, {} as before{}",
                                 comparison.benchmarks.size(), 100 * options.settings.threshold,
                                 comparison.count(Change::slower), comparison.count(Change::faster),
                                 comparison.count(Change::unreliable), comparison.count(Change::none), few)});
    add_too_few(comparison, options.settings, notes);
    add_doubts(comparison, notes);
    if (!comparison.missing.empty()) {
        notes.push_back({fmt::format(
            "{} of the base {} gone{}", count_text(comparison.missing.size(), "benchmark", "benchmarks"),
            comparison.missing.size() == 1 ? "is" : "are",
            options.allow_missing ? "" : ": that nothing became slower is not known (--allow-missing accepts it)")});
    }
    if (!comparison.regressed() && comparison.undecided() != 0) {
        notes.push_back({fmt::format("It cannot be told whether {} of them became slower (exit code {})",
                                     comparison.undecided(), static_cast<int>(exit_cannot_tell))});
    }
    return notes;
}

/// Moves BASE and NEW to where the options store files. False if it is ambiguous which files belong to which side.
bool sort_files(CompareOptions& options) {
    if (options.base_file && options.new_file && options.base.empty() && options.now.empty()) {
        options.base = {*options.base_file};
        options.now = {*options.new_file};
        return true;
    }
    if (!options.base_file && !options.base.empty() && !options.now.empty()) {
        return true;
    }
    warn(
        "dmlconform: compare takes two files, or --base FILE... --new FILE...\n"
        "    hint: `dmlconform compare --help` tells more\n");
    return false;
}

/// Empty if a file cannot be used; all such files have been reported.
std::optional<std::vector<bench::BenchmarkFile>> read_all(const std::vector<std::string>& paths) {
    std::vector<bench::BenchmarkFile> files;
    for (const std::string& path : paths) {
        auto file = bench::read_benchmark_file(path);
        if (file) {
            files.push_back(std::move(*file));
        } else {
            print_error(file.error());
        }
    }
    return files.size() == paths.size() ? std::optional(std::move(files)) : std::nullopt;
}

/// Asks the history how much results scatter. False after an error.
bool learn_scatter([[maybe_unused]] CompareOptions& options,
                   [[maybe_unused]] const std::vector<bench::BenchmarkFile>& now) {
#if DMLCONFORM_HAS_HISTORY
    if (options.history.empty()) {
        return true;
    }
    const auto store = history::Store::open(options.history, history::Store::Access::read);
    if (!store) {
        print_error(store.error());
        return false;
    }
    const auto series = (*store)->series();
    if (!series) {
        print_error(series.error());
        return false;
    }
    for (const bench::BenchmarkFile& file : now) {
        options.settings.learned.merge(history::learned_scatter(*series, file));
    }
#endif
    return true;
}

nlohmann::ordered_json bound(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json compared_json(const bench::ComparedBenchmark& compared) {
    return {{"name", compared.name},
            {"operator", compared.op},
            {"verdict", bench::to_string(compared.change)},
            {"baseSeconds", compared.base},
            {"newSeconds", compared.now},
            {"ratio", compared.ratio},
            {"ratioAtLeast", bound(compared.interval.least)},
            {"ratioAtMost", bound(compared.interval.greatest)},
            {"spread", compared.spread},
            {"p", compared.p},
            {"baseProcesses", compared.base_count},
            {"newProcesses", compared.now_count},
            {"doubt", doubt_text(compared.doubt)}};
}

std::string comparison_json(const bench::RunComparison& comparison) {
    using Json = nlohmann::ordered_json;
    Json benchmarks = Json::array();
    for (const auto& compared : comparison.benchmarks) {
        Json& written = benchmarks.emplace_back(compared_json(compared));
        for (const auto& node : compared.nodes) {
            written["nodes"].push_back(compared_json(node));
        }
    }
    Json operators = Json::object();
    for (const auto& [op, mean] : comparison.mean_by_operator()) {
        operators[op] = {{"geometricMean", mean.ratio}, {"benchmarks", mean.benchmarks}};
    }
    const Json document{{"format", "dmlconform-comparison"}, {"geometricMean", comparison.mean().ratio},
                        {"operators", std::move(operators)}, {"benchmarks", std::move(benchmarks)},
                        {"missing", comparison.missing},     {"added", comparison.added}};
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comparison_markdown(const bench::RunComparison& comparison, const std::vector<Note>& verdict) {
    constexpr std::size_t longest_cell = 200;
    constexpr std::size_t longest_note = 1000;
    std::string text;
    for (const Note& note : verdict) {
        text += fmt::format("{}{}\n\n", report::markdown_text(note.text, longest_note),
                            note.hint.empty() ? "" : " — " + report::markdown_text(note.hint, longest_note));
    }
    text += "| benchmark | base | new | ratio | 95% | |\n| --- | ---: | ---: | ---: | --- | --- |\n";
    const auto add_row = [&](const char* before, const bench::ComparedBenchmark& compared) {
        text += fmt::format("| {}{} | {} | {} | {:.3f} | {} | {} |\n", before,
                            report::markdown_text(compared.name, longest_cell), report::format_seconds(compared.base),
                            report::format_seconds(compared.now), compared.ratio, interval_text(compared.interval),
                            change_text(compared.change));
    };
    for (const auto& compared : comparison.benchmarks) {
        add_row("", compared);
        for (std::size_t i = 0; i < std::min(compared.nodes.size(), most_shown_nodes); ++i) {
            add_row("node ", compared.nodes[i]);
        }
    }
    text += fmt::format("\nGeometric mean of {}: {:.3f}\n", count_text(comparison.mean().benchmarks, "ratio", "ratios"),
                        comparison.mean().ratio);
    const auto by_operator = comparison.mean_by_operator();
    if (by_operator.size() > 1) {
        text += "\n| operator | geometric mean | ratios |\n| --- | ---: | ---: |\n";
        for (const auto& [op, mean] : by_operator) {
            text += fmt::format("| {} | {:.3f} | {} |\n", report::markdown_text(op, longest_cell), mean.ratio,
                                mean.benchmarks);
        }
    }
    for (const std::string& name : comparison.missing) {
        text += fmt::format("\nOnly in base: {}\n", report::markdown_text(name, longest_cell));
    }
    for (const std::string& name : comparison.added) {
        text += fmt::format("\nOnly in new: {}\n", report::markdown_text(name, longest_cell));
    }
    return text;
}

/// Says why the files are not compared, and what can be done.
void print_differences(const bench::RunComparison& comparison) {
    for (const std::string& difference : comparison.differences) {
        warn("dmlconform: the runs cannot be compared: {}\n", difference);
    }
    const bool clocks = std::ranges::any_of(comparison.differences, [](const std::string& difference) {
        return difference.find("clock") != std::string::npos;
    });
    const char* const force = comparison.benchmarks.empty() ? ""
                              : comparison.by_other_clocks  ? "--force compares what all have by the same clock"
                                                            : "--force compares them nevertheless";
    const char* const choice = clocks ? "`bench --wall-time` and `bench --cpu-time` choose the clock" : "";
    if (*force != '\0' || *choice != '\0') {
        warn("    hint: {}{}{}\n", force, *force != '\0' && *choice != '\0' ? "; " : "", choice);
    }
}

int compare_command(CompareOptions& options) {
    if (!sort_files(options)) {
        return exit_usage;
    }
    std::vector<std::string> read = options.base;
    read.insert(read.end(), options.now.begin(), options.now.end());
    read.push_back(options.history);
    if (!can_write_documents({options.json, options.markdown}, read)) {
        return exit_usage;
    }
    if (const auto good = check_pairs(options.settings, options.base.size(), options.now.size()); !good) {
        return failure(good.error(), exit_usage);
    }
    const auto base = read_all(options.base);
    const auto now = read_all(options.now);
    if (!base || !now || !learn_scatter(options, *now)) {
        return exit_usage;
    }
    const bench::RunComparison comparison = bench::compare_runs(*base, *now, options.settings);
    if (!comparison.differences.empty() && !options.force) {
        print_differences(comparison);
        return exit_usage;
    }
    if (comparison.benchmarks.empty()) {
        warn("dmlconform: the files have no benchmark in common\n");
        return exit_unexpected;
    }
    const bool lost = !comparison.missing.empty() && !options.allow_missing;
    const int exit_code = comparison.regressed() || lost ? exit_unexpected
                          : comparison.undecided() != 0  ? exit_cannot_tell
                                                         : exit_ok;
    const bool shown = options.json != report::standard_output_path && options.markdown != report::standard_output_path;
    if (!shown) {
        leave_output_to_a_document();
    }
    const std::vector<Note> verdict = verdict_of(comparison, options);
    if (!write_document(options.json, [&] { return comparison_json(comparison); }) ||
        !write_document(options.markdown, [&] { return comparison_markdown(comparison, verdict); })) {
        return exit_not_run;
    }
    if (shown) {
        print_comparison(comparison, report::ConsoleStyle(use_color(options.no_color)));
        print_means(comparison);
    }
    std::ranges::for_each(verdict, print_note);
    return exit_code;
}

}  // namespace

void add_compare_command(Command app, int& exit_code) {
    auto options = std::make_shared<CompareOptions>();
    const Command command =
        app.add_subcommand("compare",
                           "Say whether benchmarks became slower or are gone. The exit code is 1 if so, and 4 if "
                           "that cannot be told");
    command.add_option("BASE", options->base_file, "The old times, as `bench --benchmark_out=FILE` writes them")
        .path("FILE");
    command.add_option("NEW", options->new_file, "The new times").path("FILE");
    command.add_option("--base", options->base, "Instead of BASE: several runs of the old program").path("FILE");
    command
        .add_option("--new", options->now,
                    "Instead of NEW: several runs of the new program. Take turns between the two")
        .path("FILE");
    add_comparison_options(command, options->settings);
#if DMLCONFORM_HAS_HISTORY
    command
        .add_option("--history", options->history,
                    "Learn from this history how much results differ although nothing has changed. Then one process of "
                    "each side is enough, after 13 results")
        .path("FILE");
#endif
    command.add_flag("--allow-missing", options->allow_missing,
                     "Accept that benchmarks of the base are missing in the other side. Otherwise the exit code is 1");
    command.add_flag("--force", options->force, "Compare runs of different machines, adapters or drivers");
    command.add_option("--json", options->json, "Write the comparison as JSON. - is the standard output").path("FILE");
    command.add_option("--markdown", options->markdown, "Write the comparison as a table in Markdown").path("FILE");
    command.add_flag("--no-color", options->no_color, "Do not use colours, as with the environment variable NO_COLOR");
    command.callback([options, &exit_code] { exit_code = compare_command(*options); });
}

}  // namespace dmlconform::app
