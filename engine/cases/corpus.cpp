// Reads case files into a corpus, and makes cases from it.
#include "engine/cases/corpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>

#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/ordered_batches.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

/// The case's name. Empty if it is missing, which is reported when the case is read.
std::string name_of(const Corpus::Entry& entry) {
    if (entry.made) {
        return entry.made->id.substr(entry.made->id.find('/') + 1);
    }
    const JsonValue* name = entry.text.find("name");
    return name != nullptr && name->string() != nullptr ? *name->string() : std::string();
}

/// The number of nodes of a case's graph. 0 if it has no graph, or if reading it will report a problem.
std::size_t node_count(const JsonValue& text) {
    const JsonValue* graph = text.find("graph");
    const JsonValue* nodes = graph == nullptr ? nullptr : graph->find("nodes");
    return nodes == nullptr || nodes->array() == nullptr ? 0 : nodes->array()->size();
}

/// The array of cases. Stores what they have in common in `defaults`. Null after a problem that prevents reading the
/// cases.
const JsonValue::Array* read_envelope(const JsonValue& document, JsonValue& defaults, ProblemSink& problems) {
    static const std::array<std::string, 4> keys{"$schema", "description", "defaults", "cases"};
    if (document.object() == nullptr) {
        problems.add(document.offset, fmt::format("a case file must be an object; this is {}", document.kind_name()));
        return nullptr;
    }
    check_keys(document, keys, "a case file", problems);
    for (const std::string& key : {keys[0], keys[1]}) {
        if (const JsonValue* value = document.find(key); value != nullptr && value->string() == nullptr) {
            problems.add(value->offset, fmt::format("\"{}\" must be a string; this is {}", key, value->kind_name()));
        }
    }
    if (const JsonValue* value = document.find("defaults")) {
        defaults = *value;
        if (defaults.object() == nullptr) {
            problems.add(value->offset, fmt::format("\"defaults\" must be an object; this is {}", value->kind_name()));
            return nullptr;
        }
        check_keys(defaults, case_keys(), "the defaults", problems);
    }
    const JsonValue* cases = document.find("cases");
    if (cases == nullptr || cases->array() == nullptr || cases->array()->empty()) {
        problems.add(cases == nullptr ? document.offset : cases->offset,
                     "a case file needs \"cases\": an array of at least one case");
        return nullptr;
    }
    return cases->array();
}

CaseContext context_of(const Corpus::File& file, bool was_right) {
    return {file.stem, file.folder, "", 0, was_right, file.without_expected};
}

/// The text of an expansion, whose suffix becomes the context's. `sweep` is the entry's, or a copy. Empty if there is a
/// problem.
std::optional<JsonValue> expand(const Corpus::Entry& entry, const std::optional<Sweep>& sweep, std::size_t index,
                                CaseContext& context, ProblemSink& problems) {
    context.suffix = sweep ? sweep->suffix(index) : "";
    return sweep ? sweep->expansion(index, problems) : entry.text;
}

/// Reads expansions of an entry, from `first` to before `last`, to find problems. `sweep` is the entry's, or a copy.
/// Returns how many were skipped.
std::size_t check_expansions(const Corpus::Entry& entry, const std::optional<Sweep>& sweep, const Corpus::File& file,
                             std::size_t first, std::size_t last, ProblemSink& problems,
                             const std::function<void(Case&)>& visit) {
    CaseContext context = context_of(file, false);
    for (std::size_t i = first; i < last; ++i) {
        const auto expansion = expand(entry, sweep, i, context, problems);
        if (!expansion || problems.is_hopeless()) {
            break;  // the same problem would recur in every expansion
        }
        auto read = read_case(*expansion, context, problems);
        if (read && visit) {
            visit(*read);
        }
    }
    return context.skipped;
}

/// Some expansions of an entry.
struct ReadExpansions {
    std::vector<Case> cases;
    std::size_t skipped = 0;
    bool has_problems = false;
};

/// Reads all expansions of the last entry to find problems.
void check_entry(Corpus& corpus, std::size_t threads, ProblemSink& problems, const CaseVisitor& visit) {
    /// So many are kept until they have been visited.
    constexpr std::size_t at_a_time = 256;
    const Corpus::Entry& entry = corpus.entries.back();
    const Corpus::File& file = corpus.files[entry.file];
    const std::size_t count = entry.expansions();
    std::size_t skipped = 0;
    std::size_t first = 0;
    if (threads > 1 && count >= 2 * at_a_time) {
        // Each thread reads every n-th batch.
        std::vector<std::optional<Sweep>> own(threads);
        const auto read = [&](std::size_t batch, ReadExpansions& result) {
            ProblemSink found = file.positions.fresh();
            std::optional<Sweep>& sweep = own[batch % threads];
            if (!sweep) {
                sweep = entry.sweep->unshared();
            }
            result.cases.reserve(at_a_time);
            result.skipped = check_expansions(entry, sweep, file, batch * at_a_time, (batch + 1) * at_a_time, found,
                                              [&](Case& subject) { result.cases.push_back(std::move(subject)); });
            result.has_problems = found.count() != 0;
        };
        core::OrderedBatches<ReadExpansions>(threads, count / at_a_time, read)
            .take_in_order([&](const ReadExpansions& result) {
                if (result.has_problems) {
                    return false;  // one thread finds the problems in their order
                }
                skipped += result.skipped;
                if (visit) {
                    std::ranges::for_each(result.cases, visit);
                }
                first += at_a_time;
                return true;
            });
    }
    skipped += check_expansions(entry, entry.sweep, file, first, count, problems, visit);
    if (skipped != 0) {
        corpus.skipped.push_back({fmt::format("{}/{}", file.stem, name_of(entry)), skipped});
    }
}

void read_entry(JsonValue text, const ReadOptions& options, Corpus& corpus, ProblemSink& problems,
                const CaseVisitor& visit) {
    Corpus::Entry entry{corpus.files.size() - 1, std::move(text), std::nullopt, corpus.positions()};
    entry.nodes = node_count(entry.text);
    const std::size_t room = options.most_cases - entry.first;
    if (entry.text.find("sweep") != nullptr) {
        entry.sweep = Sweep::read(entry.text, room, problems);
        if (!entry.sweep) {
            return;
        }
    } else if (room == 0) {
        return problems.add(entry.text.offset, "the file has too many cases", "split it");
    }
    corpus.entries.push_back(std::move(entry));
    check_entry(corpus, options.threads, problems, visit);
}

/// Other file formats of this program, and how to treat such files here.
struct OtherFormat {
    std::string_view name;
    std::string_view what;
    std::string_view hint;
};
constexpr OtherFormat other_formats[] = {
    {"dmlconform-expectations", "this is a file of expectations, not of cases", "give it with --expect"},
    {"dmlconform-result", "this is the result of a run, not a case file", "give the case files that were run"}};

/// Handles files of other formats. False for all other files.
bool is_other_format(const JsonValue& document, const ReadOptions& options, Corpus& corpus, ProblemSink& problems) {
    const JsonValue* format = document.find("format");
    if (format == nullptr || format->string() == nullptr) {
        return false;
    }
    for (const OtherFormat& other : other_formats) {
        if (other.name != *format->string()) {
            continue;
        }
        if (options.pass_over_expectations && other.name == other_formats[0].name) {
            ++corpus.passed_over;
        } else {
            problems.add(format->offset, std::string(other.what), std::string(other.hint));
        }
        return true;
    }
    return false;
}

void report_duplicates(const Corpus& corpus, ProblemSink& problems) {
    for_each_duplicate(corpus, [&](const Corpus::Entry& first, const Corpus::Entry& later, const std::string& id) {
        problems.add(later.text.find("name")->offset,
                     fmt::format("another case is called \"{}\" too, in line {}", core::shortened(id),
                                 problems.position(first.text.offset).line));
    });
}

}  // namespace

void for_each_duplicate(const Corpus& corpus, const DuplicateVisitor& visit) {
    std::map<std::string, std::vector<const Corpus::Entry*>> by_name;
    for (const Corpus::Entry& entry : corpus.entries) {
        if (const std::string name = name_of(entry); !name.empty()) {
            by_name[fmt::format("{}/{}", corpus.files[entry.file].stem, name)].push_back(&entry);
        }
    }
    for (const auto& [name, entries] : by_name) {
        if (entries.size() == 1) {
            continue;  // no expansions, or expansions with different ids
        }
        std::map<std::string, const Corpus::Entry*> first;
        for (const Corpus::Entry* entry : entries) {
            for (std::size_t i = 0; i < entry->expansions(); ++i) {
                const std::string id = name + (entry->sweep ? entry->sweep->suffix(i) : "");
                const auto [other, unique] = first.emplace(id, entry);
                if (!unique) {
                    visit(*other->second, *entry, id);
                }
            }
        }
    }
}

Corpus read_corpus(const std::string& file, std::string_view text, const ReadOptions& options,
                   const CaseVisitor& visit) {
    Corpus corpus;
    ProblemSink problems(file, text);
    const auto document = parse_json(text);
    if (!document) {
        problems.add(document.error().offset, document.error().error.message, document.error().error.hint);
        corpus.problems = problems.take({});
        return corpus;
    }
    if (is_other_format(*document, options, corpus, problems)) {
        corpus.problems = problems.take(*document);
        return corpus;
    }
    const std::filesystem::path path(file);
    corpus.files.push_back({path.stem().generic_string(),
                            {path.parent_path(), options.allow_external_data},
                            options.without_expected,
                            problems.fresh()});
    JsonValue defaults{document->offset, std::make_shared<const JsonValue::Object>()};
    if (const JsonValue::Array* cases = read_envelope(*document, defaults, problems)) {
        for (const JsonValue& entry : *cases) {
            if (problems.is_hopeless()) {
                break;
            }
            read_entry(merged(defaults, entry), options, corpus, problems, visit);
        }
        report_duplicates(corpus, problems);
    }
    corpus.problems = problems.take(*document);
    return corpus;
}

std::optional<Case> CorpusReader::at(std::size_t position) {
    const auto& entries = corpus_.entries;
    const auto holds = [&](const Corpus::Entry& entry) {
        return position >= entry.first && position - entry.first < entry.expansions();
    };
    if (!holds(entries[entry_])) {
        const auto next =
            std::upper_bound(entries.begin(), entries.end(), position,
                             [](std::size_t wanted, const Corpus::Entry& entry) { return wanted < entry.first; });
        entry_ = static_cast<std::size_t>(next - entries.begin()) - 1;
        open_.reset();
    }
    const Corpus::Entry& entry = entries[entry_];
    if (entry.made) {
        return *entry.made;
    }
    if (!open_) {
        const Corpus::File& file = corpus_.files[entry.file];
        open_.emplace(OpenEntry{std::nullopt, file.positions.fresh(), context_of(file, true)});
    } else if (entry.sweep && !open_->sweep) {
        open_->sweep = entry.sweep->unshared();
    }
    const auto text = expand(entry, open_->sweep ? open_->sweep : entry.sweep, position - entry.first, open_->context,
                             open_->problems);
    auto read = read_case(*text, open_->context, open_->problems);
    if (open_->problems.count() != 0) {
        open_.reset();
    }
    return read;
}

}  // namespace dmlconform::cases
