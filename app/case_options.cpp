// The options by which commands choose cases, and the loading of what they choose.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/command.h"
#include "engine/run/selection.h"

namespace dmlconform::app {
namespace {

/// Why no case may have been selected.
std::string selection_hint(const CaseOptions& options, const cases::Suite& suite) {
    std::vector<std::string> ids;
    std::set<std::string> tags;
    for (const cases::Case& entry : suite.cases) {
        ids.push_back(entry.id);
        tags.insert(entry.tags.begin(), entry.tags.end());
    }
    for (const std::string& tag : options.tags) {
        if (tags.count(tag) == 0) {
            const std::string meant = cases::suggestion(tag, std::vector<std::string>(tags.begin(), tags.end()));
            return fmt::format("no case has the tag \"{}\"; {}", tag,
                               !meant.empty() ? meant
                               : tags.empty() ? "they have none"
                                              : fmt::format("there are {}", fmt::join(tags, ", ")));
        }
    }
    std::string meant = options.filters.empty() ? "" : cases::suggestion(options.filters.front(), ids);
    if (!meant.empty()) {
        return meant;
    }
    for (const std::string& filter : options.filters) {
        const auto holds = [&](const std::string& id) { return id.find(filter) != std::string::npos; };
        if (!filter.empty() && std::any_of(ids.begin(), ids.end(), holds)) {
            return fmt::format("did you mean `*{}*`? A filter matches the whole id", filter);
        }
    }
    return options.filters.empty()
               ? "a case needs all of the tags"
               : "`dmlconform list` shows ids; a filter matches the whole id, so you may want `*` at its ends";
}

}  // namespace

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
        fmt::print(stderr, "dmlconform: none of the {} cases has the id or tags asked for\n    hint: {}\n",
                   selection.suite.cases.size(), selection_hint(options, selection.suite));
        return std::nullopt;
    }
    return selection;
}

}  // namespace dmlconform::app
