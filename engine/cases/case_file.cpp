// From paths to cases.
#include "engine/cases/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/cases/case_reader.h"
#include "engine/cases/sweep.h"
#include "engine/cases/tensor_desc_reader.h"

namespace dmlconform::cases {
namespace {

namespace fs = std::filesystem;

/// A document takes some 16 times the memory of its text at worst; tensors of that size do not belong into JSON.
constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

Problem file_problem(const std::string& file, std::string message, std::string hint = {}) {
    return {file.empty() ? "\"\"" : file, 0, 0, "", std::move(message), std::move(hint)};
}

void read_cases(const JsonValue& document, CaseContext context, std::size_t most_cases, ProblemSink& problems,
                Suite& suite) {
    static const std::array<std::string, 4> keys{"$schema", "description", "defaults", "cases"};
    if (document.object() == nullptr) {
        return problems.add(document.offset,
                            fmt::format("a case file must be an object; this is {}", document.kind_name()));
    }
    check_keys(document, keys, "a case file", problems);
    for (const std::string& key : {keys[0], keys[1]}) {
        if (const JsonValue* value = document.find(key); value != nullptr && value->string() == nullptr) {
            problems.add(value->offset, fmt::format("\"{}\" must be a string; this is {}", key, value->kind_name()));
        }
    }
    JsonValue defaults{document.offset, std::make_shared<const JsonValue::Object>()};
    if (const JsonValue* value = document.find("defaults")) {
        defaults = *value;
        if (defaults.object() == nullptr) {
            return problems.add(value->offset,
                                fmt::format("\"defaults\" must be an object; this is {}", value->kind_name()));
        }
        check_keys(defaults, case_keys(), "the defaults", problems);
    }
    const JsonValue* cases = document.find("cases");
    if (cases == nullptr || cases->array() == nullptr || cases->array()->empty()) {
        return problems.add(cases == nullptr ? document.offset : cases->offset,
                            "a case file needs \"cases\": an array of at least one case");
    }
    std::map<std::string, std::size_t> lines;
    for (const JsonValue& entry : *cases->array()) {
        context.skipped = 0;
        const JsonValue complete = merged(defaults, entry);
        for_each_expansion(
            complete, most_cases - suite.cases.size(), problems,
            [&](const JsonValue& expansion, const std::string& suffix) {
                context.suffix = suffix;
                auto read = read_case(expansion, context, problems);
                if (!read) {
                    return;
                }
                const auto [first, unique] = lines.emplace(read->id, read->line);
                if (!unique) {
                    problems.add(complete.find("name")->offset,
                                 fmt::format("another case is called \"{}\" too, in line {}", read->id, first->second));
                }
                suite.cases.push_back(std::move(*read));
            });
        if (context.skipped != 0) {
            const JsonValue* name = complete.find("name");
            const bool named = name != nullptr && name->string() != nullptr;
            suite.skipped.push_back(
                {fmt::format("{}/{}", context.file_stem, named ? *name->string() : std::string()), context.skipped});
        }
    }
}

void load_file(const fs::path& path, const ReadOptions& options, Suite& suite) {
    const std::string file = path.generic_string();
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error && size > largest_file) {
        suite.problems.push_back(
            file_problem(file, fmt::format("the file has {} bytes; at most {} are read", size, largest_file)));
        return;
    }
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    std::string text(error ? 0 : static_cast<std::size_t>(size), '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (error || !stream || static_cast<std::uintmax_t>(stream.gcount()) != size) {
        suite.problems.push_back(file_problem(
            file, fmt::format("the file cannot be read: {}", error ? error.message() : std::strerror(errno))));
        return;
    }
    Suite read = read_case_file(file, text, options);
    std::move(read.cases.begin(), read.cases.end(), std::back_inserter(suite.cases));
    std::move(read.problems.begin(), read.problems.end(), std::back_inserter(suite.problems));
    std::move(read.skipped.begin(), read.skipped.end(), std::back_inserter(suite.skipped));
}

/// The case files at a path: itself, or all below it.
std::vector<fs::path> files_at(const std::string& given, Suite& suite) {
    std::error_code error;
    const fs::path path(given);
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        const bool hidden =
            error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory;
        suite.problems.push_back(file_problem(given, hidden ? fmt::format("this cannot be read: {}", error.message())
                                                            : "there is no such file or folder"));
        return {};
    }
    if (!fs::is_directory(status)) {
        if (!fs::is_regular_file(status)) {
            suite.problems.push_back(file_problem(given, "this is neither a file nor a folder"));
            return {};
        }
        return {path};
    }
    std::vector<fs::path> files;
    for (auto entry = fs::recursive_directory_iterator(path, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        std::error_code unknown;
        if (entry->path().extension() != ".json" || entry->is_directory(unknown)) {
            continue;
        }
        if (entry->is_regular_file(unknown)) {
            files.push_back(entry->path());
        } else {
            suite.problems.push_back(
                file_problem(entry->path().generic_string(), "this is no regular file, nor a link to one"));
        }
    }
    if (error) {
        suite.problems.push_back(file_problem(given, fmt::format("the folder cannot be read: {}", error.message())));
    } else if (files.empty()) {
        suite.problems.push_back(file_problem(given, "there is no case file (*.json) in this folder"));
    }
    std::sort(files.begin(), files.end());
    return files;
}

void report_duplicates(Suite& suite) {
    std::map<std::string_view, const Case*> first;
    for (const Case& entry : suite.cases) {
        const auto [other, unique] = first.emplace(entry.id, &entry);
        if (!unique && other->second->file != entry.file) {
            suite.problems.push_back({entry.file, entry.line, 1, "",
                                      fmt::format("the case id \"{}\" is taken by {}:{}", entry.id, other->second->file,
                                                  other->second->line),
                                      "an id is the file's stem and the case's name: rename one of them"});
        }
    }
}

}  // namespace

Suite read_case_file(const std::string& file, std::string_view text, const ReadOptions& options) {
    Suite suite;
    ProblemSink problems(file, text);
    const auto document = parse_json(text);
    if (!document) {
        problems.add(document.error().offset, document.error().error.message, document.error().error.hint);
        suite.problems = problems.take({});
        return suite;
    }
    const fs::path path(file);
    read_cases(*document, {path.stem().generic_string(), {path.parent_path(), options.allow_external_data}, "", 0},
               options.most_cases, problems, suite);
    suite.problems = problems.take(*document);
    return suite;
}

Suite load_suite(std::span<const std::string> paths, const ReadOptions& options) {
    Suite suite;
    std::vector<fs::path> loaded;
    for (const std::string& path : paths) {
        for (const fs::path& file : files_at(path, suite)) {
            // The same file by two arguments is one file.
            std::error_code error;
            const fs::path canonical = fs::weakly_canonical(file, error);
            if (std::find(loaded.begin(), loaded.end(), canonical) == loaded.end()) {
                loaded.push_back(canonical);
                load_file(file, options, suite);
            }
        }
    }
    report_duplicates(suite);
    return suite;
}

}  // namespace dmlconform::cases
