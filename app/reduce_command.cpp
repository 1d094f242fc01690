// `dmlconform reduce`: minimises a failing case.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/engine_choice.h"
#include "app/interrupt.h"
#include "app/messages.h"
#include "app/number_options.h"
#include "app/standard_streams.h"
#include "engine/core/text_file.h"
#include "engine/fuzz/reducer.h"
#include "engine/run/selection.h"

namespace dmlconform::app {
namespace {

namespace fs = std::filesystem;

struct ReduceOptions {
    CaseOptions cases;
    EngineChoice engines;
    std::string against;
    double seconds = 60;
    std::string output;
    bool trust_bundle = false;
};

/// The engine that a bundle was written for.
struct BundleEngine {
    /// In the form of --engine; empty if there is no bundle or it names no usable engine.
    std::string name{};
    core::FeatureLevel level = core::highest_feature_level;
};

BundleEngine engine_of_bundle(const std::string& path) {
    constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 20;
    const auto content = core::read_text_file(fs::path(path) / "environment.json", largest_file);
    const auto environment = nlohmann::json::parse(content.value_or(""), nullptr, false);
    const auto engine = environment.is_object() ? environment.find("engine") : environment.end();
    if (engine == environment.end() || !engine->is_object()) {
        return {};
    }
    const auto text = [&](const char* key) {
        const auto found = engine->find(key);
        return found != engine->end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto level = core::parse_feature_level(text("featureLevel"));
    return {text("command").empty() ? text("name") : "exec:" + text("command"),
            level.value_or(core::highest_feature_level)};
}

/// Bundles are untrusted, and their engine may be any command, so the user must confirm it.
bool may_use(const ReduceOptions& options, const std::string& recorded) {
    const auto known = run::engine_names();
    if (options.trust_bundle || std::ranges::find(known, recorded) != known.end()) {
        return true;
    }
    print_error({fmt::format("the bundle names this engine, which does not run unless you ask for it: {}", recorded),
                 "--trust-bundle runs it; --engine names another one"});
    return false;
}

/// Unless the user names the file, it must not be a link, because the bundle may contain one.
bool may_write(const ReduceOptions& options, const std::string& path) {
    std::error_code error;
    if (!options.output.empty() || !fs::is_symlink(fs::symlink_status(path, error))) {
        return true;
    }
    print_error({fmt::format("{} is a symbolic link", path), "--output FILE says where to write"});
    return false;
}

/// The single case, or node of a graph, to reduce. Results of earlier reductions are ignored.
std::optional<cases::Case> only_case(const Selection& selection) {
    std::vector<cases::Case> found;
    const auto add = [&](const cases::Case& entry) { found.push_back(entry); };
    selection.for_each(add);
    if (found.empty()) {
        selection.for_each_node(add);
    }
    if (found.size() > 1) {
        std::erase_if(found, [](const cases::Case& entry) { return entry.id.starts_with("reduced/"); });
    }
    if (found.size() == 1) {
        return found.front();
    }
    print_error(
        {fmt::format("{} cases are selected; one is reduced at a time", found.size()), "--filter chooses by id"});
    return std::nullopt;
}

/// The engine on which the case fails, and the one that provides expected values if there is no reference.
struct Judges {
    Engines engines;
    Engine* failing = nullptr;
    Engine* other = nullptr;
};

std::optional<Judges> make_judges(const ReduceOptions& options, const Invocation& invocation, int& exit_code) {
    EngineChoice choice = options.engines;
    exit_code = exit_usage;
    if (choice.engines.empty()) {
        const BundleEngine recorded = engine_of_bundle(options.cases.paths.front());
        if (!recorded.name.empty()) {
            if (!may_use(options, recorded.name)) {
                return std::nullopt;
            }
            choice.engines = {recorded.name};
            choice.options.feature_level = std::min(choice.options.feature_level, recorded.level);
        }
    }
    if (choice.engines.size() != 1) {
        print_error({"one engine is needed on which the case fails", "--engine names it"});
        return std::nullopt;
    }
    Judges judges;
    auto engines = make_engines(choice, invocation, exit_code);
    if (!engines || engines->empty()) {
        return std::nullopt;
    }
    judges.engines = std::move(*engines);
    judges.failing = judges.engines.front().get();
    if (!options.against.empty()) {
        choice.engines = {options.against};
        auto others = make_engines(choice, invocation, exit_code);
        if (!others || others->empty()) {
            return std::nullopt;
        }
        judges.engines.push_back(std::move(others->front()));
        judges.other = judges.engines.back().get();
    }
    return judges;
}

std::string output_path(const ReduceOptions& options, const cases::Case& subject) {
    return options.output.empty() ? (fs::path(subject.file).parent_path() / "reduced.json").generic_string()
                                  : options.output;
}

/// Prints the result, its path, and what was not possible.
void print_reduction(const fuzz::Reduction& reduction, const cases::Case& subject, const std::string& engine,
                     const std::string& path) {
    if (subject.descriptor->graph == nullptr) {
        say("{} on {}: {}\n", subject.id, engine, reduction.result.reason);
    } else {
        // Says whether a node or only the graph is wrong.
        say("{}: {}\n", engine, reduction.subject.description);
    }
    for (const std::string& line : to_lines(*reduction.subject.descriptor)) {
        say("  {}\n", line);
    }
    const std::string attempts = reduction.attempts == 1 ? "1 attempt" : fmt::format("{} attempts", reduction.attempts);
    const char* const time = reduction.finished ? "" : "; it might become smaller with more time (--time)";
    if (reduction.steps != 0) {
        say("Reduced in {}; the case is in {}{}\n", attempts, path, time);
    } else if (reduction.attempts != 0) {
        say("It could not be made smaller: in {} nothing smaller failed in the same way. {} has it as it is{}\n",
            attempts, path, time);
    } else {
        say("It could not be made smaller: there was nothing to try. {} has it as it is{}\n", path, time);
    }
}

int reduce_command(ReduceOptions& options, const Invocation& invocation) {
    options.cases.without_expected = !options.against.empty();
    options.cases.with_nodes = true;
    const auto selection = load_selection(options.cases);
    const auto subject = selection ? only_case(*selection) : std::nullopt;
    if (!subject) {
        return exit_usage;
    }
    const std::string path = output_path(options, *subject);
    if (!may_write(options, path)) {
        return exit_usage;
    }
    int exit_code = exit_ok;
    auto judges = make_judges(options, invocation, exit_code);
    if (!judges) {
        return exit_code;
    }
    catch_interrupts();
    fuzz::ReduceSettings settings;
    settings.time =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    settings.stop_requested = [] { return interrupted(); };
    settings.precision = options.engines.precisions(judges->engines).front();
    const auto reduction = fuzz::reduce(*subject, *judges->failing, judges->other, settings);
    if (!reduction) {
        return failure(reduction.error(), exit_not_run);
    }
    if (const auto written = fuzz::write_reduced(reduction->subject, path); !written) {
        return failure(written.error(), exit_not_run);
    }
    print_reduction(*reduction, *subject, judges->failing->info().name, path);
    return interrupted() ? interrupt_exit_code() : exit_ok;
}

}  // namespace

void add_reduce_command(Command app, const Invocation& invocation, int& exit_code) {
    auto options = std::make_shared<ReduceOptions>();
    const Command command =
        app.add_subcommand("reduce", "Make a failing case smaller: the case of a repro bundle, or one of a case file");
    options->cases.add_to(command);
    options->engines.add_to(command, "see the case fail on");
    command.add_option("--against", options->against, "The engine that is right, for operators without a reference")
        .type_name("NAME");
    command
        .add_option("--time", options->seconds,
                    "End after this many seconds, with the smallest case so far. Default: 60")
        .type_name("SECONDS")
        .transform(number(0.001, 1e9));
    command.add_option("-o,--output", options->output, "The case file to write. Default: reduced.json beside the case")
        .type_name("FILE");
    command.add_flag("--trust-bundle", options->trust_bundle,
                     "Run the engine's command that the bundle names. Otherwise it is only shown");
    command.callback([options, &invocation, &exit_code] { exit_code = reduce_command(*options, invocation); });
}

}  // namespace dmlconform::app
