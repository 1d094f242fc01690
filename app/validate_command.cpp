// `dmlconform validate`: checks case files and their descriptors without an engine.
#include <fmt/format.h>

#include <memory>

#include "app/command.h"
#include "app/expectation_options.h"
#include "app/standard_streams.h"
#include "engine/cases/problem_text.h"
#include "engine/operators/rules.h"
#include "engine/run/output_elements.h"

namespace dmlconform::app {
namespace {

/// What is wrong with the case at that level; empty if nothing is.
std::optional<cases::Problem> check(const cases::Case& entry, core::FeatureLevel level) {
    const operators::Verdict verdict = operators::validate(*entry.descriptor, level);
    if (verdict.has_value() == entry.expect_error.has_value()) {
        return std::nullopt;
    }
    cases::Problem problem{entry.file, entry.line, 1, "", "", ""};
    if (!verdict) {
        problem.message = fmt::format("{}: the descriptor is legal, but the case expects {}", entry.id,
                                      core::to_string(*entry.expect_error));
        return problem;
    }
    problem.message = fmt::format("{}: {} [{}]", entry.id, verdict->message, verdict->rule);
    if (verdict->legal_from) {
        problem.hint = fmt::format("legal from feature level {} on; this is {}", core::to_string(*verdict->legal_from),
                                   core::to_string(level));
    }
    return problem;
}

/// Prints known deviations of engines from the documentation. True if there were any.
bool print_known(const cases::Case& entry, const std::vector<expectations::Expectation>& known) {
    bool any = false;
    expectations::CaseFacts facts(entry, run::elements_by_reference(entry));
    for (const expectations::Expectation& one : known) {
        const bool fails =
            one.expected != expectations::Expected::skip && one.expected != expectations::Expected::flake;
        if (fails && !one.expired(expectations::today()) && one.meets(entry.id, facts) &&
            one.means_some_element(facts)) {
            say("{}:{}: note: {}: {} by the documentation; {}: {}\n", entry.file, entry.line, entry.id,
                facts.broken_rule().empty() ? "legal" : "illegal", one.what_is_done(), one.title());
            any = true;
        }
    }
    return any;
}

int validate(const CaseOptions& options, const std::vector<std::string>& files, core::FeatureLevel level) {
    const auto selection = load_selection(options);
    const auto known = read_expectations(files);
    if (!selection || !known) {
        return exit_usage;
    }
    std::size_t illegal = 0;
    std::size_t differing = 0;
    selection->for_each([&](const cases::Case& entry) {
        differing += print_known(entry, *known) ? 1 : 0;
        if (const auto problem = check(entry, level)) {
            ++illegal;
            say("{}\n", cases::shown(*problem));
        }
    });
    say("{} of {} {} as expected at feature level {}\n", selection->count - illegal, selection->count,
        selection->count == 1 ? "case is" : "cases are", core::to_string(level));
    if (!files.empty()) {
        say("{} of them are known to be judged differently by an engine\n", differing);
    }
    return illegal == 0 ? exit_ok : exit_unexpected;
}

}  // namespace

void add_validate_command(Command app, int& exit_code) {
    struct Options {
        CaseOptions cases;
        std::vector<std::string> known;
        core::FeatureLevel level = core::highest_feature_level;
    };
    auto options = std::make_shared<Options>();
    const Command command =
        app.add_subcommand("validate", "Check case files, and whether their descriptors are legal, without any engine");
    options->cases.add_to(command);
    add_known_files(command, options->known);
    add_feature_level(command, options->level);
    command.callback([options, &exit_code] { exit_code = validate(options->cases, options->known, options->level); });
}

}  // namespace dmlconform::app
