// The options by which commands choose cases, and the loading of what they choose.
#include <fmt/format.h>

#include "app/command.h"
#include "engine/run/selection.h"

namespace dmlconform::app {

void CaseOptions::add_to(CLI::App& command) {
    command.add_option("paths", paths, "Case files, or folders in which every *.json is one")
        ->required()
        ->type_name("PATH");
    command
        .add_option("--filter", filters, "Only cases whose id matches: `*` any characters, `?` one; repeat for more")
        ->type_name("GLOB")
        ->allow_extra_args(false);
    command.add_option("--tag", tags, "Only cases with this tag; repeat to ask for several at once")
        ->type_name("TAG")
        ->allow_extra_args(false);
    command.add_flag("--allow-external-data", allow_external_data,
                     "Let cases read data files outside their own folder");
}

void add_feature_level(CLI::App& command, core::FeatureLevel& level) {
    std::vector<std::string> names;
    for (const core::FeatureLevel known : core::feature_levels()) {
        names.push_back(core::to_string(known));
    }
    command
        .add_option_function<std::string>(
            "--feature-level", [&level](const std::string& text) { level = *core::parse_feature_level(text); },
            fmt::format("DirectML feature level to validate at. Default: {}", core::to_string(level)))
        ->type_name("LEVEL")
        ->check(CLI::IsMember(names));
}

std::optional<Selection> load_selection(const CaseOptions& options) {
    Selection selection{cases::load_suite(options.paths, {.allow_external_data = options.allow_external_data}), {}};
    for (const cases::Problem& problem : selection.suite.problems) {
        fmt::print(stderr, "{}\n", cases::to_string(problem));
    }
    if (!selection.suite.problems.empty()) {
        fmt::print(stderr, "dmlconform: {} in the input; nothing was run\n",
                   selection.suite.problems.size() == 1 ? "1 problem"
                                                        : fmt::format("{} problems", selection.suite.problems.size()));
        return std::nullopt;
    }
    selection.cases = run::select(selection.suite.cases, options.filters, options.tags);
    if (selection.cases.empty()) {
        std::vector<std::string> ids;
        for (const cases::Case& entry : selection.suite.cases) {
            ids.push_back(entry.id);
        }
        const std::string hint = options.filters.empty() ? "" : cases::suggestion(options.filters.front(), ids);
        fmt::print(stderr, "dmlconform: none of the {} cases has the id or tags asked for\n    hint: {}\n", ids.size(),
                   hint.empty()
                       ? "`dmlconform list` shows ids; a filter matches the whole id, so you may want `*` at its ends"
                       : hint);
        return std::nullopt;
    }
    return selection;
}

}  // namespace dmlconform::app
