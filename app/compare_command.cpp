// `dmlconform compare`: whether benchmarks became slower.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "app/command.h"
#include "app/comparison_options.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/bench/comparison.h"
#include "engine/report/console_style.h"

namespace dmlconform::app {
namespace {

struct CompareOptions {
    /// BASE and NEW, unless the files are in the options.
    std::optional<std::string> base_file;
    std::optional<std::string> new_file;
    std::vector<std::string> base;
    std::vector<std::string> now;
    bench::ComparisonSettings settings;
    bool force = false;
    /// Benchmarks of the base may be missing.
    bool allow_missing = false;
    bool no_color = false;
};

core::ShownText change_text(bench::Change change, const report::ConsoleStyle& style) {
    switch (change) {
        case bench::Change::slower:
            return style.status(run::Status::fail, core::show("SLOWER"));
        case bench::Change::faster:
            return style.status(run::Status::pass, core::show("faster"));
        case bench::Change::unreliable:
            return style.status(run::Status::skip, core::show("unreliable"));
        case bench::Change::none:
        default:
            return {};
    }
}

void print_comparison(const bench::RunComparison& comparison, const report::ConsoleStyle& style) {
    std::size_t width = 9;
    for (const auto& compared : comparison.benchmarks) {
        width = std::max(width, compared.name.size());
    }
    say("{}\n", style.bold(core::show("{:<{}} {:>12} {:>12} {:>8} {:>8} {:>8}", "benchmark", width, "base", "new",
                                      "ratio", "spread", "p")));
    for (const auto& compared : comparison.benchmarks) {
        say("{:<{}} {:>12} {:>12} {:>8.3f} {:>7.1f}% {:>8.2g} {}\n", compared.name, width,
            report::format_seconds(compared.base), report::format_seconds(compared.now), compared.ratio,
            100 * compared.spread, compared.p, change_text(compared.change, style));
    }
    for (const std::string& name : comparison.missing) {
        say("only in base: {}\n", name);
    }
    for (const std::string& name : comparison.added) {
        say("only in new: {}\n", name);
    }
}

void print_verdict(const bench::RunComparison& comparison, const CompareOptions& options) {
    std::size_t counts[4] = {};
    for (const auto& compared : comparison.benchmarks) {
        ++counts[static_cast<std::size_t>(compared.change)];
    }
    say("\n{} compared at {:g}%: {} slower, {} faster, {} unreliable, {} as before\n", comparison.benchmarks.size(),
        100 * options.settings.threshold, counts[static_cast<std::size_t>(bench::Change::slower)],
        counts[static_cast<std::size_t>(bench::Change::faster)],
        counts[static_cast<std::size_t>(bench::Change::unreliable)],
        counts[static_cast<std::size_t>(bench::Change::none)]);
    if (!comparison.missing.empty()) {
        const bool one = comparison.missing.size() == 1;
        say("{} of the base {} gone{}\n", one ? "1 benchmark" : fmt::format("{} benchmarks", comparison.missing.size()),
            one ? "is" : "are",
            options.allow_missing ? "" : ": that nothing became slower is not known (--allow-missing accepts it)");
    }
}

/// Puts BASE and NEW where the options would have put them. False when it is not plain which files are which.
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

/// Nothing when one cannot be used: then all of those have been named.
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

int compare_command(CompareOptions& options) {
    if (!sort_files(options)) {
        return exit_usage;
    }
    if (const auto good = check_pairs(options.settings, options.base.size(), options.now.size()); !good) {
        print_error(good.error());
        return exit_usage;
    }
    const auto base = read_all(options.base);
    const auto now = read_all(options.now);
    if (!base || !now) {
        return exit_usage;
    }
    const bench::RunComparison comparison = bench::compare_runs(*base, *now, options.settings);
    if (!comparison.differences.empty() && !options.force) {
        for (const std::string& difference : comparison.differences) {
            warn("dmlconform: the runs are from different places: {}\n", difference);
        }
        warn("    hint: --force compares them nevertheless\n");
        return exit_usage;
    }
    if (comparison.benchmarks.empty()) {
        warn("dmlconform: the files have no benchmark in common\n");
        return exit_unexpected;
    }
    print_comparison(comparison, report::ConsoleStyle(use_color(options.no_color)));
    print_verdict(comparison, options);
    const bool lost = !comparison.missing.empty() && !options.allow_missing;
    return comparison.regressed() || lost ? exit_unexpected : exit_ok;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
    auto options = std::make_shared<CompareOptions>();
    CLI::App* command =
        app.add_subcommand("compare", "Say whether benchmarks became slower or are gone. The exit code is 1 if so");
    command->add_option("BASE", options->base_file, "The old times, as `bench --benchmark_out=FILE` writes them")
        ->type_name("FILE");
    command->add_option("NEW", options->new_file, "The new times")->type_name("FILE");
    command->add_option("--base", options->base, "Instead of BASE: several runs of the old program")->type_name("FILE");
    command
        ->add_option("--new", options->now,
                     "Instead of NEW: several runs of the new program. Take turns between the two")
        ->type_name("FILE");
    add_comparison_options(*command, options->settings);
    command->add_flag("--allow-missing", options->allow_missing,
                      "Accept that benchmarks of the base are missing in the other side. Otherwise the exit code is 1");
    command->add_flag("--force", options->force, "Compare runs of different machines, adapters or drivers");
    command->add_flag("--no-color", options->no_color, "Do not use colours, as with the environment variable NO_COLOR");
    command->callback([options, &exit_code] { exit_code = compare_command(*options); });
}

}  // namespace dmlconform::app
