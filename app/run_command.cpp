// `dmlconform run`: runs cases on engines and reports.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/program_path.h"
#include "app/terminal.h"
#include "engine/report/console_report.h"
#include "engine/report/json_report.h"
#include "engine/report/output_file.h"
#include "engine/report/progress.h"
#include "engine/run/engine_list.h"
#include "engine/run/runner.h"
#include "engine/run/worker_engines.h"

namespace dmlconform::app {
namespace {

struct RunOptions {
    CaseOptions cases;
    std::vector<std::string> engines;
    run::EngineOptions engine_options;
    std::string json;
    bool quiet = false;
    bool verbose = false;
    bool no_color = false;
    bool include_unspecified = false;
    bool isolate = false;
    /// In seconds; nothing: the default.
    std::optional<double> timeout;
};

using Engines = std::vector<std::unique_ptr<Engine>>;

bool is_command(const std::string& engine) {
    return engine.starts_with(run::exec_prefix);
}

bool is_among(std::span<const std::string> list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

/// Complains about options that contradict each other or ask for what there is not.
bool check_engines(const RunOptions& options) {
    const auto known = run::engine_names();
    for (const std::string& name : options.engines) {
        if (is_command(name)) {
            if (const auto words = run::exec_words(name); !words) {
                fmt::print(stderr,
                           "dmlconform: --engine {}: {}\n    hint: for example --engine 'exec:python3 worker.py'\n",
                           name, words.error().message);
                return false;
            }
        } else if (!is_among(known, name)) {
            fmt::print(stderr, "dmlconform: there is no engine \"{}\"\n    hint: engines are {}, and exec:COMMAND\n",
                       name, fmt::join(known, ", "));
            return false;
        }
    }
    const bool in_processes =
        options.isolate || std::any_of(options.engines.begin(), options.engines.end(), is_command);
    if (options.timeout && !in_processes) {
        fmt::print(stderr, "dmlconform: --timeout is for engines in processes of their own\n    hint: add --isolate\n");
        return false;
    }
    return true;
}

/// Creates engines and complains about those that cannot be.
class EngineMaker {
public:
    EngineMaker(const RunOptions& options, const Invocation& invocation)
        : options_(options), program_(program_path(invocation.words.front())) {
        if (options.timeout) {
            settings_.case_limit =
                std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*options.timeout));
        }
    }

    bool add(const std::string& name) {
        auto engine = create(name);
        if (!engine) {
            fmt::print(stderr, "dmlconform: the engine {} is not usable here: {}\n", name, engine.error().message);
            if (!engine.error().hint.empty()) {
                fmt::print(stderr, "    hint: {}\n", engine.error().hint);
            }
            return false;
        }
        engines_.push_back(std::move(*engine));
        return true;
    }

    [[nodiscard]] Engines take() { return std::move(engines_); }

private:
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> create(const std::string& name) const {
        if (is_command(name)) {
            return run::create_exec_engine(name, settings_, engines_);
        }
        if (!options_.isolate) {
            return run::create_engine(name, options_.engine_options);
        }
        worker::WorkerCommand command{{program_, "worker", "--engine", name}, {}, ""};
        for (std::string& argument : engine_arguments(options_.engine_options)) {
            command.argv.push_back(std::move(argument));
        }
        return run::create_worker_engine(std::move(command), settings_);
    }

    const RunOptions& options_;
    std::string program_;
    worker::WorkerSettings settings_;
    Engines engines_;
};

/// The engines asked for, or all that are usable: those of this program in their order, then commands as they were
/// given. Nothing when one that was asked for is not usable: then that is reported.
std::optional<Engines> make_engines(const RunOptions& options, const Invocation& invocation, int& exit_code) {
    if (!check_engines(options)) {
        exit_code = exit_usage;
        return std::nullopt;
    }
    EngineMaker maker(options, invocation);
    exit_code = exit_not_run;
    for (const std::string& name : run::engine_names()) {
        const bool asked = is_among(options.engines, name);
        if (!asked && !options.engines.empty()) {
            continue;
        }
        // An adapter is asked for an engine that has adapters, so that one is asked for too.
        if (!maker.add(name) && (asked || !options.engine_options.adapter.empty())) {
            return std::nullopt;
        }
    }
    for (const std::string& name : options.engines) {
        if (is_command(name) && !maker.add(name)) {
            return std::nullopt;
        }
    }
    exit_code = exit_ok;
    return maker.take();
}

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
        if (options.isolate) {
            caller_.options.emplace_back("--isolate");
        }
        if (options.timeout) {
            caller_.options.push_back(fmt::format("--timeout={}", *options.timeout));
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
    for (const auto& engine : engines) {
        const EngineInfo& info = engine->info();
        fmt::print("  {:<7} {}{}\n", info.name, info.adapter, info.driver.empty() ? "" : ", driver " + info.driver);
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
            fmt::print(stderr, "dmlconform: {}\n    hint: {}\n", writable.error().message, writable.error().hint);
            return exit_usage;
        }
    }
    int exit_code = exit_ok;
    const auto engines = make_engines(options, invocation, exit_code);
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
    command
        ->add_option("--engine", options->engines,
                     fmt::format("An engine to run on ({}, or exec:COMMAND for a command that is a worker); repeat "
                                 "for more. Default: all that are usable",
                                 fmt::join(run::engine_names(), ", ")))
        ->type_name("NAME")
        ->allow_extra_args(false);
    add_engine_options(*command, options->engine_options);
    command->add_flag("--isolate", options->isolate,
                      "Run each engine in a process of its own: a crash then costs the case at hand, not the run");
    command
        ->add_option_function<double>(
            "--timeout", [options](double seconds) { options->timeout = seconds; },
            "What an engine in a process of its own has for a case before the process is ended. Default: 60")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.001, 1e6));
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
