// `dmlconform run`: runs cases on engines and reports.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include "app/command.h"
#include "app/engine_choice.h"
#include "app/interrupt.h"
#include "app/messages.h"
#include "app/terminal.h"
#include "engine/report/console_report.h"
#include "engine/report/json_report.h"
#include "engine/report/output_file.h"
#include "engine/report/progress.h"
#include "engine/run/runner.h"

namespace dmlconform::app {
namespace {

struct RunOptions {
    CaseOptions cases;
    EngineChoice engines;
    std::string json;
    bool quiet = false;
    bool verbose = false;
    bool no_color = false;
    bool include_unspecified = false;
};

/// Prints while the run goes on.
class ConsoleObserver final : public run::Observer {
public:
    ConsoleObserver(const RunOptions& options, const Engines& engines, std::string program)
        : options_(options),
          engines_(engines),
          caller_{std::move(program), {}},
          style_(use_color(options.no_color)),
          progress_(stderr, !options.quiet && stderr_is_terminal()) {
        if (options.cases.allow_external_data) {
            caller_.options.emplace_back("--allow-external-data");
        }
        for (std::string& word : options.engines.words()) {
            caller_.options.push_back(std::move(word));
        }
    }

    void on_case(const cases::Case& subject, std::size_t position, std::size_t total) override {
        progress_.show(position, total, failed_, subject.id);
    }

    void on_result(const run::CaseResult& result) override {
        const EngineInfo& engine = engines_[result.engine]->info();
        const bool failed = run::is_failure(result.status);
        if (failed && (result.gated || options_.verbose)) {
            failed_ += result.gated ? 1 : 0;
            progress_.clear();
            fmt::print("{}", options_.quiet ? report::result_line(result, engine, style_)
                                            : report::failure_block(result, engine, caller_, style_) + "\n");
        } else if (options_.verbose) {
            progress_.clear();
            fmt::print("{}{}", report::result_line(result, engine, style_), report::comparison_lines(result));
        }
    }

    bool stop_requested() override { return interrupted(); }

    void finish(const run::RunResult& run) {
        progress_.clear();
        const bool follows_lines = options_.verbose || (options_.quiet && failed_ != 0);
        fmt::print("{}{}", follows_lines ? "\n" : "", report::summary(run, style_));
    }

private:
    const RunOptions& options_;
    const Engines& engines_;
    report::Caller caller_;
    report::ConsoleStyle style_;
    report::ProgressLine progress_;
    std::size_t failed_ = 0;
};

void print_header(const Engines& engines, const Selection& selection) {
    const std::size_t case_count = selection.cases.size();
    fmt::print("{} on {}\n", case_count == 1 ? "1 case" : fmt::format("{} cases", case_count),
               engines.size() == 1 ? "1 engine" : fmt::format("{} engines", engines.size()));
    std::size_t width = 8;
    for (const auto& engine : engines) {
        width = std::max(width, engine->info().name.size() + 1);
    }
    for (const auto& engine : engines) {
        const EngineInfo& info = engine->info();
        fmt::print("  {:<{}}{}\n", info.name, width, device_text(info.adapter, info.driver));
    }
    for (const cases::SkippedExpansions& skipped : selection.suite.skipped) {
        fmt::print("  left out: {} expansions of {} whose descriptors are illegal (skipInvalid)\n", skipped.count,
                   skipped.id);
    }
    fmt::print("\n");
}

int exit_code_of(const run::RunResult& run) {
    if (interrupted()) {
        return exit_interrupted;
    }
    return run.passed() ? exit_ok : exit_unexpected;
}

int run_command(const RunOptions& options, const Invocation& invocation) {
    const auto selection = load_selection(options.cases);
    if (!selection) {
        return exit_usage;
    }
    if (!options.json.empty()) {
        if (const auto writable = report::check_writable(options.json); !writable) {
            print_error(writable.error());
            return exit_usage;
        }
    }
    int exit_code = exit_ok;
    const auto engines = make_engines(options.engines, invocation, exit_code);
    if (!engines) {
        return exit_code;
    }
    report::RunContext context{invocation.words, versions(),
                               fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now())), 0};
    if (!options.quiet) {
        print_header(*engines, *selection);
    }
    catch_interrupts();
    ConsoleObserver observer(options, *engines, invocation.words.front());
    const run::RunResult run = run::run_cases(selection->cases, *engines, observer, {options.include_unspecified});
    observer.finish(run);
    context.exit_code = exit_code_of(run);
    if (interrupted()) {
        fmt::print(stderr, "dmlconform: interrupted; {} of {} cases were run\n", run.results.size() / engines->size(),
                   selection->cases.size());
    }
    if (!options.json.empty()) {
        if (const auto written = report::write_file(options.json, report::json_report(run, context)); !written) {
            fmt::print(stderr, "dmlconform: {}\n", written.error().message);
            return exit_not_run;
        }
    }
    return context.exit_code;
}

}  // namespace

void add_run_command(CLI::App& app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<RunOptions>();
    CLI::App* command = app.add_subcommand("run", "Run cases on engines and compare what comes out with what should");
    options->cases.add_to(*command);
    options->engines.add_to(*command, "run on");
    command->add_flag("--include-unspecified", options->include_unspecified,
                      "Let cases tagged `unspecified` decide too; otherwise they are only reported");
    command->add_option("--json", options->json, "Write the complete result to this file")
        ->type_name("FILE")
        ->check([](const std::string& path) { return std::string(path.empty() ? "the path is empty" : ""); });
    CLI::Option* quiet = command->add_flag("-q,--quiet", options->quiet, "One line per failure, and the totals");
    command->add_flag("-v,--verbose", options->verbose, "A line for every result")->excludes(quiet);
    command->add_flag("--no-color", options->no_color, "No colours, as with the environment variable NO_COLOR");
    command->callback([options, &invocation, &exit_code] { exit_code = run_command(*options, invocation); });
}

}  // namespace dmlconform::app
