// The options by which commands select cases, and loading of these cases.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "app/batch_file.h"
#include "app/command.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/cases/problems.h"
#include "engine/core/utf8.h"
#include "engine/run/node_cases.h"

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

/// A hint for when no case is selected.
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
    command
        .add_option(
            "paths", paths,
            "Case files, ONNX models, serialised DirectML graphs, or folders. In a folder, every *.json is a case file")
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
    models.add_to(command);
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

std::vector<std::string> Selection::files() const {
    std::vector<std::string> paths;
    for (const cases::Corpus::File& file : corpus.files) {
        paths.push_back(file.positions.file());
    }
    return paths;
}

void Selection::for_each(const std::function<void(const cases::Case&)>& visit) const {
    for_each_case(corpus, [&](const cases::Case& subject) {
        if (selector.matches(subject)) {
            visit(subject);
        }
    });
}

void Selection::for_each_node(const std::function<void(const cases::Case&)>& visit) const {
    for_each_case(corpus, [&](const cases::Case& subject) {
        if (subject.descriptor->graph == nullptr) {
            return;
        }
        std::optional<run::GraphCase> graph;
        for (std::size_t n = 0; n < subject.descriptor->graph->nodes.size(); ++n) {
            if (!selector.matches_node(subject, run::node_id(subject, n))) {
                continue;
            }
            if (!graph) {
                graph.emplace(std::make_shared<const cases::Case>(subject));
            }
            if (const auto node = graph->node(n)) {
                visit(*node);
            }
        }
    });
}

namespace {

/// Loads the cases at the paths, or makes cases of the operators that they name.
core::Result<cases::Corpus> load(const CaseOptions& options, const cases::CaseVisitor& visit) {
    const cases::ReadOptions reading{.allow_external_data = options.allow_external_data,
                                     .without_expected = options.without_expected,
                                     .other_kinds = options.models.kinds(),
                                     .threads = options.threads};
    const bool has_model = std::ranges::any_of(options.paths, [&](const std::string& path) {
        return std::ranges::count(reading.other_kinds, std::filesystem::path(path).extension().string(),
                                  &cases::CaseFileKind::extension) != 0;
    });
    if (!has_model && !options.models.words().empty()) {
        return core::fail("--dim, --input and --input-seed are for models, and no path ends with .onnx or .bin",
                          "case files have their data under \"inputs\"");
    }
    if (!options.shape.any()) {
        return cases::load_corpus(options.paths, reading, visit);
    }
    if (!options.shape.batch.empty()) {
        std::size_t repeated = 0;
        auto corpus = read_batch(options.shape.batch, options.paths, options.shape.type, reading, visit, repeated);
        if (repeated != 0) {
            warn("dmlconform: note: {} repeats {} problem{}, which {} left out\n", options.shape.batch, repeated,
                 repeated == 1 ? "" : "s", repeated == 1 ? "is" : "are");
        }
        return corpus;
    }
    if (options.paths.size() != 1) {
        return core::fail("--sizes, --strides, --attr and --type are for one operator",
                          "for example bench TOP_K1 --sizes 1,1,8,8");
    }
    const std::string& name = options.paths.front();
    const operators::OperatorSchema* schema = operators::find_operator(name);
    if (schema == nullptr) {
        return tl::unexpected(
            unknown_operator(name, "--sizes, --strides, --attr and --type make a case of an operator"));
    }
    const auto shape = options.shape.shape();
    const auto text = shape ? fuzz::shaped_case_file(*schema, *shape) : tl::unexpected(shape.error());
    if (!text) {
        return tl::unexpected(text.error());
    }
    return cases::read_corpus(name, *text, reading, visit);
}

/// Counts cases while they are loaded, and notes what the options match.
class Counter {
public:
    Counter(const CaseOptions& options, bool keep_ids, Selection& selection)
        : options_(options), keep_ids_(keep_ids), selection_(selection), without_tags_(options.selector) {
        without_tags_.tags.clear();
    }

    void add(const cases::Case& subject) {
        const auto nodes = options_.with_nodes ? run::judged_nodes(subject) : std::vector<bool>();
        for (std::size_t n = 0; n < nodes.size(); ++n) {
            if (nodes[n]) {
                const std::string id = run::node_id(subject, n);
                count(id, options_.selector.matches_node(subject, id));
            }
        }
        count(subject.id, options_.selector.matches(subject));
        count_without_tags_ += !options_.without_tag.empty() && without_tags_.matches(subject) ? 1 : 0;
    }

    /// The number of all cases.
    [[nodiscard]] std::size_t total() const { return total_; }

    /// Without the tags if the command can do without them, and no case has them.
    void settle() {
        if (selection_.count == 0 && !options_.without_tag.empty()) {
            selection_.selector = without_tags_;
            selection_.count = count_without_tags_;
        }
    }

private:
    void count(const std::string& id, bool is_selected) {
        ++total_;
        selection_.lost_ids.erase(id);
        const auto matches = [&](const std::string& glob) { return run::glob_matches(glob, id); };
        std::erase_if(selection_.unmatched_excludes, matches);
        if (!is_selected) {
            return;
        }
        ++selection_.count;
        std::erase_if(selection_.unmatched, matches);
        if (keep_ids_) {
            selection_.ids.push_back(run::id_hash(id));
        }
    }

    const CaseOptions& options_;
    bool keep_ids_;
    Selection& selection_;
    run::Selector without_tags_;
    std::size_t total_ = 0;
    std::size_t count_without_tags_ = 0;
};

}  // namespace

std::optional<Selection> load_selection(const CaseOptions& options, bool keep_ids) {
    Selection selection{{}, options.selector, 0, options.selector.filters, options.selector.excludes, {}, {}};
    if (options.selector.ids != nullptr) {
        selection.lost_ids = *options.selector.ids;
    }
    Counter counter(options, keep_ids, selection);
    auto corpus = load(options, [&](const cases::Case& subject) { counter.add(subject); });
    if (!corpus) {
        print_error(corpus.error());
        return std::nullopt;
    }
    selection.corpus = std::move(*corpus);
    if (!selection.corpus.problems.empty()) {
        print_problems(selection.corpus.problems, "the input");
        return std::nullopt;
    }
    // Shows the user what runs.
    if (options.shape.any() && options.shape.batch.empty()) {
        for_each_case(selection.corpus, print_descriptor);
    }
    if (counter.total() == 0) {
        print_error(
            {"there is no case: all expansions are left out, because their descriptors are illegal "
             "(\"skipInvalid\")",
             "without \"skipInvalid\", `dmlconform validate` says what is wrong with them"});
        return std::nullopt;
    }
    for (const std::string& id : selection.lost_ids) {
        warn("dmlconform: note: there is no case {} any more\n", id);
    }
    counter.settle();
    if (selection.count == 0) {
        const bool is_one = counter.total() == 1;
        warn("dmlconform: {} the id or tags asked for\n    hint: {}\n",
             is_one ? "the only case does not have" : fmt::format("none of the {} cases has", counter.total()),
             selection_hint(options, selection.corpus));
        return std::nullopt;
    }
    for (const std::string& exclude : selection.unmatched_excludes) {
        warn("dmlconform: note: --exclude {} matches none of the cases\n", exclude);
    }
    return selection;
}

}  // namespace dmlconform::app
