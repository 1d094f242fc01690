// The options by which commands choose cases, and the loading of what they choose.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/command.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/cases/problems.h"
#include "engine/core/utf8.h"

namespace dmlconform::app {
namespace {

void for_each_case(const cases::Corpus& corpus, const std::function<void(const cases::Case&)>& visit) {
    cases::CorpusReader reader(corpus);
    for (std::size_t position = 0; position < corpus.positions(); ++position) {
        if (const auto subject = reader.at(position)) {
            visit(*subject);
        }
    }
}

/// Why no case may have been selected.
std::string selection_hint(const CaseOptions& options, const cases::Corpus& corpus) {
    std::vector<std::string> ids;
    std::set<std::string> tags;
    for_each_case(corpus, [&](const cases::Case& entry) {
        ids.push_back(entry.id);
        tags.insert(entry.tags.begin(), entry.tags.end());
    });
    for (const std::string& tag : options.selector.tags) {
        if (tags.count(tag) == 0) {
            const std::string meant = cases::suggestion(tag, std::vector<std::string>(tags.begin(), tags.end()));
            return fmt::format("no case has the tag \"{}\"; {}{}", core::shortened(tag),
                               !meant.empty() ? meant
                               : tags.empty() ? "they have none"
                                              : fmt::format("there are {}", core::show_list(tags, ", ")),
                               options.without_tag);
        }
    }
    std::string meant =
        options.selector.filters.empty() ? "" : cases::suggestion(options.selector.filters.front(), ids);
    if (!meant.empty()) {
        return meant;
    }
    for (const std::string& filter : options.selector.filters) {
        const std::string wider =
            fmt::format("{}{}{}", filter.starts_with('*') ? "" : "*", filter, filter.ends_with('*') ? "" : "*");
        const auto holds = [&](const std::string& id) { return run::glob_matches(wider, id); };
        if (!filter.empty() && std::any_of(ids.begin(), ids.end(), holds)) {
            return fmt::format("did you mean `{}`? A filter matches the whole id", wider);
        }
    }
    if (options.selector.filters.empty() && options.selector.tags.empty()) {
        return options.selector.ids == nullptr ? "--exclude leaves none of them" : "have the cases been renamed?";
    }
    return options.selector.filters.empty()
               ? "a case needs all of the tags"
               : "`dmlconform list` shows ids; a filter matches the whole id, so you may want `*` at its ends";
}

}  // namespace

void CaseOptions::add_to(Command command) {
    command.add_option("paths", paths, "Case files, or folders. In a folder, every *.json is a case file")
        .required()
        .type_name("PATH");
    command
        .add_option("--filter", selector.filters,
                    "Take only cases whose id matches: `*` stands for any characters, `?` for one. Repeat it for more")
        .type_name("GLOB")
        .allow_extra_args(false);
    command.add_option("--exclude", selector.excludes, "Leave out cases whose id matches. Repeat it for more")
        .type_name("GLOB")
        .allow_extra_args(false);
    command
        .add_option("--tag", selector.tags, "Take only cases with this tag. Repeat it to ask for several tags at once")
        .type_name("TAG")
        .allow_extra_args(false);
    command.add_flag("--allow-external-data", allow_external_data,
                     "Let cases read data files outside of their own folder");
}

void add_feature_level(Command command, core::FeatureLevel& level) {
    std::vector<std::string> names;
    for (const core::FeatureLevel known : core::feature_levels()) {
        names.push_back(core::to_string(known));
    }
    command
        .add_text_option(
            "--feature-level", [&level](const std::string& text) { level = *core::parse_feature_level(text); },
            fmt::format("The feature level of DirectML to validate at. Default: {}", core::to_string(level)))
        .type_name("LEVEL")
        .one_of(names);
}

void Selection::for_each(const std::function<void(const cases::Case&)>& visit) const {
    for_each_case(corpus, [&](const cases::Case& subject) {
        if (selector.matches(subject)) {
            visit(subject);
        }
    });
}

namespace {

/// What the paths hold, or the cases that are made of the operators that they name.
core::Result<cases::Corpus> load(const CaseOptions& options, const cases::CaseVisitor& visit) {
    const cases::ReadOptions reading{.allow_external_data = options.allow_external_data,
                                     .without_expected = options.without_expected};
    if (!options.shape.any()) {
        return cases::load_corpus(options.paths, reading, visit);
    }
    if (options.paths.size() != 1) {
        return core::fail("--sizes, --attr and --type are for one operator",
                          "for example bench TOP_K1 --sizes 1,1,8,8");
    }
    const std::string& name = options.paths.front();
    const operators::OperatorSchema* schema = operators::find_operator(name);
    if (schema == nullptr) {
        return tl::unexpected(unknown_operator(name, "--sizes, --attr and --type make a case of an operator"));
    }
    const auto shape = options.shape.shape();
    const auto text = shape ? fuzz::shaped_case_file(*schema, *shape) : tl::unexpected(shape.error());
    if (!text) {
        return tl::unexpected(text.error());
    }
    return cases::read_corpus(name, *text, reading, visit);
}

}  // namespace

std::optional<Selection> load_selection(const CaseOptions& options, bool keep_ids) {
    Selection selection{{}, options.selector, 0, options.selector.filters, options.selector.excludes, {}};
    std::size_t total = 0;
    auto corpus = load(options, [&](const cases::Case& subject) {
        ++total;
        std::erase_if(selection.unmatched_excludes,
                      [&](const std::string& exclude) { return run::glob_matches(exclude, subject.id); });
        if (!options.selector.matches(subject)) {
            return;
        }
        ++selection.count;
        std::erase_if(selection.unmatched,
                      [&](const std::string& filter) { return run::glob_matches(filter, subject.id); });
        if (keep_ids) {
            selection.ids.push_back(run::id_hash(subject.id));
        }
    });
    if (!corpus) {
        print_error(corpus.error());
        return std::nullopt;
    }
    selection.corpus = std::move(*corpus);
    const auto& problems = selection.corpus.problems;
    if (!problems.empty()) {
        print_problems(problems, "the input");
        return std::nullopt;
    }
    if (total == 0) {
        print_error(
            {"there is no case: all expansions are left out, because their descriptors are illegal "
             "(\"skipInvalid\")",
             "without \"skipInvalid\", `dmlconform validate` says what is wrong with them"});
        return std::nullopt;
    }
    if (selection.count == 0) {
        warn("dmlconform: {} the id or tags asked for\n    hint: {}\n",
             total == 1 ? "the only case does not have" : fmt::format("none of the {} cases has", total),
             selection_hint(options, selection.corpus));
        return std::nullopt;
    }
    for (const std::string& exclude : selection.unmatched_excludes) {
        warn("dmlconform: note: --exclude {} matches none of the cases\n", exclude);
    }
    return selection;
}

}  // namespace dmlconform::app
