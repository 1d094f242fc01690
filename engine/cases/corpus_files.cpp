// Finds and loads case files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <unordered_map>

#include "engine/cases/corpus.h"
#include "engine/core/text_file.h"
#include "engine/core/utf8.h"
#include "engine/operators/graph.h"

namespace dmlconform::cases {
namespace {

namespace fs = std::filesystem;

/// Size limit. A parsed document needs up to about 16 times the memory of its text. Large tensors belong in data files.
constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

void add_problem(Corpus& corpus, const std::string& file, std::string message, std::string hint = "") {
    append_problems({{file.empty() ? "\"\"" : file, 0, 0, "", std::move(message), std::move(hint)}}, corpus.problems);
}

/// "did you mean `gemm`?" for "cases/gem". Empty if no sibling has a similar name.
std::string neighbour_hint(const fs::path& missing) {
    constexpr std::size_t most = 1000;
    std::vector<std::string> names;
    std::error_code error;
    const fs::path folder = missing.has_parent_path() ? missing.parent_path() : fs::path(".");
    for (auto entry = fs::directory_iterator(folder, error);
         !error && names.size() < most && entry != fs::directory_iterator(); entry.increment(error)) {
        std::error_code unknown;
        if (entry->path().extension() == ".json" || entry->path().extension() == ".onnx" ||
            entry->is_directory(unknown)) {
            names.push_back(entry->path().filename().string());
        }
    }
    std::sort(names.begin(), names.end());
    return suggestion(missing.filename().string(), names);
}

void load_other_kind(const CaseFileKind& kind, const fs::path& path, const CaseVisitor& visit, Corpus& corpus) {
    const std::string file = path.generic_string();
    auto made = kind.read(path);
    if (!made) {
        add_problem(corpus, file, made.error().message, made.error().hint);
        return;
    }
    corpus.files.push_back({path.stem().generic_string(), {path.parent_path()}, false, ProblemSink(file, "")});
    for (auto& subject : *made) {
        if (visit) {
            visit(*subject);
        }
        const std::size_t nodes = subject->descriptor->graph ? subject->descriptor->graph->nodes.size() : 0;
        corpus.entries.push_back(
            {corpus.files.size() - 1, {}, std::nullopt, corpus.positions(), nodes, std::move(subject)});
    }
}

void load_file(const fs::path& path, const ReadOptions& options, const CaseVisitor& visit, Corpus& corpus) {
    const std::string file = path.generic_string();
    const auto kind = std::ranges::find(options.other_kinds, path.extension().string(), &CaseFileKind::extension);
    if (kind != options.other_kinds.end()) {
        return load_other_kind(*kind, path, visit, corpus);
    }
    const auto text = core::read_text_file(path, largest_file);
    if (!text) {
        add_problem(corpus, file, text.error().message);
        return;
    }
    append(read_corpus(file, *text, options, visit), corpus);
}

/// True for environment.json of a repro bundle, which is recognised by its first key.
bool describes_a_bundle(const fs::path& path) {
    if (path.filename() != "environment.json") {
        return false;
    }
    auto stream = core::open_regular_file(path, largest_file);
    if (!stream) {
        return false;  // will be reported as a malformed case file
    }
    std::string start(64, '\0');
    stream->read(start.data(), static_cast<std::streamsize>(start.size()));
    const std::size_t key = start.find_first_not_of("{ \t\r\n");
    return start.starts_with('{') && key != std::string::npos &&
           start.compare(key, bundle_key.size() + 2, '"' + std::string(bundle_key) + '"') == 0;
}

/// The case files of a path: the file itself, or all files below the folder.
std::vector<fs::path> files_at(const std::string& given, Corpus& corpus) {
    std::error_code error;
    const fs::path path(given);
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        const bool hidden =
            error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory;
        if (hidden) {
            add_problem(corpus, given, fmt::format("this cannot be read: {}", error.message()));
        } else {
            add_problem(corpus, given, "there is no such file or folder", neighbour_hint(path));
        }
        return {};
    }
    if (!fs::is_directory(status)) {
        if (!fs::is_regular_file(status)) {
            add_problem(corpus, given, "this is neither a file nor a folder");
            return {};
        }
        return {path};
    }
    std::vector<fs::path> files;
    std::string model;
    for (auto entry = fs::recursive_directory_iterator(path, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        std::error_code unknown;
        if (entry->path().extension() != ".json" || entry->is_directory(unknown)) {
            model = model.empty() && entry->path().extension() == ".onnx" ? entry->path().generic_string() : model;
            continue;
        }
        if (describes_a_bundle(entry->path())) {
            continue;
        }
        if (entry->is_regular_file(unknown)) {
            files.push_back(entry->path());
        } else {
            add_problem(corpus, entry->path().generic_string(), "this is not a regular file, nor a link to one");
        }
    }
    if (error) {
        add_problem(corpus, given, fmt::format("the folder cannot be read: {}", error.message()));
    } else if (files.empty()) {
        add_problem(corpus, given, "there is no case file (*.json) in this folder",
                    model.empty() ? "" : fmt::format("give models by their own paths: {}", core::shortened(model)));
    }
    std::sort(files.begin(), files.end());
    return files;
}

void report_duplicates(Corpus& corpus) {
    const auto file_and_line = [&](const Corpus::Entry& entry) {
        const ProblemSink& positions = corpus.files[entry.file].positions;
        return std::pair(positions.file(), positions.position(entry.text.offset).line);
    };
    for_each_duplicate(corpus, [&](const Corpus::Entry& first, const Corpus::Entry& later, const std::string& id) {
        if (first.file == later.file) {
            return;  // reported when that was read
        }
        const auto [taken_in, taken_at] = file_and_line(first);
        const auto [file, line] = file_and_line(later);
        append_problems({{file, line, 1, "",
                          fmt::format("the case id \"{}\" is taken by {}:{}", core::shortened(id), taken_in, taken_at),
                          "an id is the file's stem and the case's name: rename one of them"}},
                        corpus.problems);
    });
}

/// The id of what is written once; empty for a sweep, and where there is no name, which reading the case reports.
std::string plain_id(const Corpus& corpus, const Corpus::Entry& entry) {
    if (entry.made != nullptr) {
        return entry.made->id;
    }
    const JsonValue* name = entry.sweep ? nullptr : entry.text.find("name");
    return name == nullptr || name->string() == nullptr
               ? ""
               : fmt::format("{}/{}", corpus.files[entry.file].stem, *name->string());
}

/// Each name once: two nodes of one graph with the same name are a mistake that the reader of graphs reports.
std::set<std::string> node_names(const Corpus::Entry& entry) {
    std::set<std::string> names;
    for (std::size_t n = 0; entry.made != nullptr && n < entry.nodes; ++n) {
        names.insert(entry.made->descriptor->graph->nodes[n].name);
    }
    const JsonValue* graph = entry.made == nullptr ? entry.text.find("graph") : nullptr;
    const JsonValue* nodes = graph == nullptr ? nullptr : graph->find("nodes");
    for (std::size_t n = 0; nodes != nullptr && n < entry.nodes; ++n) {
        const JsonValue* name = (*nodes->array())[n].find("name");
        if (name != nullptr && name->string() != nullptr) {
            names.insert(*name->string());
        }
    }
    return names;
}

/// A model has no lines.
std::size_t line_of(const Corpus& corpus, const Corpus::Entry& entry) {
    return entry.made != nullptr ? 0 : corpus.files[entry.file].positions.position(entry.text.offset).line;
}

/// Nodes of graphs are cases with ids of their own, which no other case or node may have. Ids that a sweep makes are
/// not looked at.
void report_taken_node_ids(Corpus& corpus) {
    if (std::ranges::none_of(corpus.entries, [](const Corpus::Entry& entry) { return entry.nodes != 0; })) {
        return;
    }
    std::unordered_map<std::string, const Corpus::Entry*> taken;
    for (const Corpus::Entry& entry : corpus.entries) {
        taken.emplace(plain_id(corpus, entry), &entry);
    }
    for (const Corpus::Entry& entry : corpus.entries) {
        const std::string whole = plain_id(corpus, entry);
        for (const std::string& name : whole.empty() ? std::set<std::string>() : node_names(entry)) {
            const std::string id = fmt::format("{}/{}", whole, name);
            const auto [other, unique] = taken.emplace(id, &entry);
            if (unique) {
                continue;
            }
            const std::size_t line = line_of(corpus, entry);
            const std::size_t other_line = line_of(corpus, *other->second);
            append_problems({{corpus.files[entry.file].positions.file(), line, line == 0 ? 0U : 1U, "",
                              fmt::format("a node of this graph has the id \"{}\", which is taken by {}{}",
                                          core::shortened(id), corpus.files[other->second->file].positions.file(),
                                          other_line == 0 ? "" : fmt::format(":{}", other_line)),
                              "the id of a node is that of the graph and the node's name: rename one of them"}},
                            corpus.problems);
        }
    }
}

}  // namespace

void append(Corpus&& read, Corpus& corpus) {
    const std::size_t files = corpus.files.size();
    const std::size_t positions = corpus.positions();
    for (Corpus::Entry& entry : read.entries) {
        entry.file += files;
        entry.first += positions;
    }
    std::move(read.files.begin(), read.files.end(), std::back_inserter(corpus.files));
    std::move(read.entries.begin(), read.entries.end(), std::back_inserter(corpus.entries));
    append_problems(std::move(read.problems), corpus.problems);
    std::move(read.skipped.begin(), read.skipped.end(), std::back_inserter(corpus.skipped));
    corpus.passed_over += read.passed_over;
}

Corpus load_corpus(std::span<const std::string> paths, const ReadOptions& options, const CaseVisitor& visit) {
    Corpus corpus;
    std::set<fs::path> loaded;
    for (const std::string& path : paths) {
        const std::vector<fs::path> files = files_at(path, corpus);
        const std::size_t passed_over = corpus.passed_over;
        for (const fs::path& file : files) {
            ReadOptions file_options = options;
            file_options.pass_over_expectations = options.pass_over_expectations || file != fs::path(path);
            // Two arguments that name the same file load it once.
            std::error_code error;
            const fs::path canonical = fs::weakly_canonical(file, error);
            if (loaded.insert(canonical).second) {
                load_file(file, file_options, visit, corpus);
            }
        }
        if (!files.empty() && corpus.passed_over - passed_over == files.size()) {
            add_problem(corpus, path, "there are only expectations here, and no case file");
        }
    }
    report_duplicates(corpus);
    report_taken_node_ids(corpus);
    return corpus;
}

}  // namespace dmlconform::cases
