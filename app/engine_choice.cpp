// Creates engines by names and commands, and reports those that cannot be created.
#include "app/engine_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "app/messages.h"
#include "app/number_options.h"
#include "app/program_path.h"
#include "app/standard_streams.h"
#include "engine/directml/wine/command.h"
#include "engine/interop/export/worker_models.h"
#include "engine/outputs/outputs_engine.h"
#include "engine/run/reference_source.h"
#include "engine/run/worker_engines.h"

namespace dmlconform::app {
namespace {

bool is_command(const std::string& engine) {
    return engine.starts_with(run::exec_prefix);
}

bool is_outputs(const std::string& engine) {
    return engine.starts_with(outputs_prefix);
}

bool is_among(std::span<const std::string> list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

constexpr std::size_t most_isolated_processes = 1024;

/// Creates engines and reports failures.
class EngineMaker {
public:
    EngineMaker(const EngineChoice& choice, const Invocation& invocation)
        : choice_(choice), options_(choice.options), program_(program_path(invocation.words.front())) {
        options_.worker.model_maker = interop::worker_models();
        if (choice.timeout) {
            options_.worker.case_limit =
                std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(*choice.timeout));
            options_.worker.start_limit = options_.worker.case_limit;
        }
        run::end_references_if(options_.worker.interrupted);
        if (!choice.isolate.empty()) {
            // The reference is isolated as well, so that its crash costs one case. It has its own time limit.
            worker::WorkerSettings settings;
            settings.interrupted = options_.worker.interrupted;
            run::isolate_references({{program_, "worker", "--engine", std::string(run::reference_engine)}, {}, ""},
                                    settings);
        }
    }

    bool add(const std::string& name) {
        auto engine = create(name);
        if (!engine) {
            print_error({fmt::format("the engine {} is not usable here: {}", name, engine.error().message),
                         engine.error().hint});
            return false;
        }
        engines_.push_back(std::move(*engine));
        return true;
    }

    [[nodiscard]] Engines take() { return std::move(engines_); }

private:
    [[nodiscard]] core::Result<std::unique_ptr<Engine>> create(const std::string& name) const {
        if (is_command(name)) {
            return run::create_exec_engine(name, options_.worker, engines_);
        }
        if (is_outputs(name)) {
            return outputs::create_outputs_engine(name, options_.feature_level);
        }
        if (run::runs_in_own_process(name) && !choice_.timeout) {
            run::EngineOptions patient = options_;
            patient.worker.case_limit = directml::wine::case_limit;
            // Wine starts in seconds, but takes longer on a busy machine.
            patient.worker.start_limit = directml::wine::case_limit;
            return run::create_engine(name, patient);
        }
        if (choice_.isolate.empty() || run::runs_in_own_process(name)) {
            return run::create_engine(name, options_);
        }
        worker::WorkerCommand command{{program_, "worker", "--engine", name}, {}, ""};
        for (std::string& argument : run::engine_arguments(options_)) {
            command.argv.push_back(std::move(argument));
        }
        return run::create_worker_engine(std::move(command), options_.worker);
    }

    const EngineChoice& choice_;
    run::EngineOptions options_;
    std::string program_;
    Engines engines_;
};

/// Creates the same engines again.
core::Result<run::EngineSet> one_more_set(const run::EngineSet& engines) {
    run::EngineSet set;
    for (const auto& engine : engines) {
        auto one_more = engine->another();
        if (!one_more) {
            return tl::unexpected(one_more.error());
        }
        set.push_back(std::move(*one_more));
    }
    return set;
}

}  // namespace

void EngineChoice::add_to(Command command, const std::string& purpose) {
    command
        .add_option("--engine", engines,
                    fmt::format("An engine to {}: {}, or exec:COMMAND for your own program. Repeat it for more. "
                                "Default: all that are usable",
                                purpose, core::show_list(run::engine_names(), ", ")))
        .type_name("NAME")
        .allow_extra_args(false);
    add_engine_options(command, options);
    add_precision_to(command);
    command.add_flag("--isolate", isolate,
                     "Run each engine in a process of its own. A crash then costs one case, and the run goes on. "
                     "--isolate=N uses N processes, which run cases at the same time");
    command
        .add_number_option(
            "--timeout", [this](double seconds) { timeout = seconds; },
            "How long an engine in a process of its own may take to start, and for a case. Then the process is ended. "
            "Default: 60, or 300 for DirectML under Wine, which computes on processors")
        .type_name("SECONDS")
        .transform(number(0.001, 1e6));
    command
        .add_option("--max-hangs", options.worker.most_hangs,
                    "After this many cases in which an engine in a process of its own did not answer in time, do not "
                    "ask it any more. 0: always ask. Default: 5")
        .type_name("N")
        .transform(whole_number(0, 1'000'000));
}

void EngineChoice::add_precision_to(Command command) {
    command
        .add_texts_option(
            "--precision",
            [this](const std::vector<std::string>& names) { precision = *core::parse_precision(names.back()); },
            "What the engines promise to compute in. Default: fp32, or fp16 for DirectML with "
            "ALLOW_HALF_PRECISION_COMPUTATION. An engine that computes less precisely fails, even if every element is "
            "within its range (docs/precision.md)")
        .type_name("PRECISION")
        .one_of({core::precision_names.begin(), core::precision_names.end()});
}

std::vector<core::Precision> EngineChoice::precisions(const Engines& of) const {
    static const std::uint32_t allow_half = run::execution_flags().at("ALLOW_HALF_PRECISION_COMPUTATION");
    std::vector<core::Precision> list;
    for (const auto& engine : of) {
        const bool may_halve = engine->info().name == "directml" && (options.execution_flags & allow_half) != 0;
        list.push_back(may_halve && precision == core::Precision::fp32 ? core::Precision::fp16 : precision);
    }
    return list;
}

std::size_t EngineChoice::processes() const {
    if (isolate == "true") {
        return 1;
    }
    const auto count = parse_whole_number(isolate);
    return count && *count <= most_isolated_processes ? static_cast<std::size_t>(*count) : 0;
}

std::vector<std::string> EngineChoice::asked() const {
    std::vector<std::string> names = engines;
    if (!one_more.empty() && !is_among(names, one_more)) {
        names.push_back(one_more);
    }
    return names;
}

std::vector<std::string> EngineChoice::words() const {
    std::vector<std::string> list;
    if (!isolate.empty()) {
        list.emplace_back("--isolate");
    }
    if (timeout) {
        list.push_back(fmt::format("--timeout={}", *timeout));
    }
    if (!options.directml.empty()) {
        list.push_back("--directml=" + options.directml);
    }
    if (precision != core::Precision::fp32) {
        list.push_back(fmt::format("--precision={}", to_string(precision)));
    }
    for (const auto& [name, flag] : run::execution_flags()) {
        if ((options.execution_flags & flag) != 0) {
            list.push_back("--execution-flag=" + name);
        }
    }
    return list;
}

bool has_processes(const EngineChoice& choice) {
    const std::vector<std::string> asked = choice.asked();
    return !choice.isolate.empty() || std::any_of(asked.begin(), asked.end(), [](const std::string& name) {
        return is_command(name) || run::runs_in_own_process(name);
    });
}

core::Result<std::vector<run::EngineSet>> make_engine_sets(Engines engines, std::size_t count, bool asked) {
    std::vector<run::EngineSet> sets;
    sets.push_back(std::move(engines));
    while (sets.size() < count) {
        auto set = one_more_set(sets.front());
        if (!set && !asked) {
            warn("dmlconform: note: {} at a time and not {}: {}\n",
                 sets.size() == 1 ? "1 case" : fmt::format("{} cases", sets.size()), count, set.error().message);
            break;
        }
        if (!set) {
            return tl::unexpected(core::Error{
                fmt::format("{} cases at a time are too many: {}", count, set.error().message), set.error().hint});
        }
        sets.push_back(std::move(*set));
    }
    return sets;
}

std::vector<EngineInfo> infos_of(const Engines& engines) {
    std::vector<EngineInfo> infos;
    for (const auto& engine : engines) {
        infos.push_back(engine->info());
    }
    return infos;
}

bool check_engines(const EngineChoice& choice) {
    const auto known = run::engine_names();
    for (const std::string& name : choice.asked()) {
        if (is_command(name)) {
            if (const auto words = run::exec_words(name); !words) {
                warn("dmlconform: --engine {}: {}\n    hint: for example --engine 'exec:python3 worker.py'\n", name,
                     words.error().message);
                return false;
            }
        } else if (!(choice.takes_outputs && is_outputs(name)) && !is_among(known, name)) {
            warn("dmlconform: there is no engine \"{}\"\n    hint: engines are {}, and exec:COMMAND\n", name,
                 core::show_list(known, ", "));
            return false;
        }
    }
    if (!choice.isolate.empty() && choice.processes() == 0) {
        print_error(
            {fmt::format("--isolate={}: there can be 1 to {} processes", choice.isolate, most_isolated_processes), ""});
        return false;
    }
    if (choice.timeout && !has_processes(choice)) {
        warn(
            "dmlconform: --timeout ends the process of an engine, and these engines are in this process\n"
            "    hint: --isolate runs each in a process of its own\n");
        return false;
    }
    return true;
}

std::optional<Engines> make_engines(const EngineChoice& choice, const Invocation& invocation, int& exit_code) {
    if (!check_engines(choice)) {
        exit_code = exit_usage;
        return std::nullopt;
    }
    EngineMaker maker(choice, invocation);
    exit_code = exit_not_run;
    for (const std::string& name : run::engine_names()) {
        const bool asked = is_among(choice.asked(), name);
        if (!asked && (!choice.engines.empty() || run::runs_in_own_process(name))) {
            continue;
        }
        // If an adapter is named, a usable engine with adapters is required.
        if (!maker.add(name) && (asked || !choice.options.adapter.empty())) {
            return std::nullopt;
        }
    }
    for (const std::string& name : choice.asked()) {
        if ((is_command(name) || is_outputs(name)) && !maker.add(name)) {
            return std::nullopt;
        }
    }
    exit_code = exit_ok;
    return maker.take();
}

}  // namespace dmlconform::app
