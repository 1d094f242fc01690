// Reads files for --batch.
#include "app/batch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>

#include "app/messages.h"
#include "engine/core/text_file.h"
#include "engine/fuzz/shaped_case.h"
#include "engine/worker/command_words.h"

namespace dmlconform::app {
namespace {

constexpr std::uintmax_t largest_batch = std::uintmax_t{16} << 20;

/// Without the comment, which begins with "#" at the start of a word.
std::string_view without_comment(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '#' && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) {
            return line.substr(0, i);
        }
    }
    return line;
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

struct BatchLine {
    const operators::OperatorSchema* schema = nullptr;
    /// The text of a case file.
    std::string text;
};

core::Result<BatchLine> read_line(std::string_view line, const std::string& type) {
    auto words = worker::split_command(line);
    if (!words) {
        return tl::unexpected(words.error());
    }
    const std::string name = words->front();
    const operators::OperatorSchema* schema = operators::find_operator(name);
    if (schema == nullptr) {
        return tl::unexpected(unknown_operator(name, "a line begins with the name of an operator"));
    }
    words->erase(words->begin());
    ShapeOptions options;
    const auto read = read_words([&](Command command) { options.add_problem_options(command); }, std::move(*words));
    if (!read) {
        return tl::unexpected(read.error());
    }
    options.type = options.type.empty() ? type : options.type;
    const auto shape = options.shape();
    auto text = shape ? fuzz::shaped_case_file(*schema, *shape) : tl::unexpected(shape.error());
    if (!text) {
        return tl::unexpected(text.error());
    }
    return BatchLine{schema, std::move(*text)};
}

bool is_wanted(const operators::OperatorSchema& schema, std::span<const std::string> wanted) {
    return wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& name) {
               return operators::find_operator(name) == &schema;
           });
}

}  // namespace

core::Result<cases::Corpus> read_batch(const std::string& file, std::span<const std::string> operators,
                                       const std::string& type, const cases::ReadOptions& options,
                                       const cases::CaseVisitor& visit, std::size_t& repeated) {
    const auto text = core::read_text_file(file, largest_batch);
    if (!text) {
        return core::fail(fmt::format("{}: {}", file, text.error().message), text.error().hint);
    }
    for (const std::string& name : operators) {
        if (operators::find_operator(name) == nullptr) {
            return tl::unexpected(unknown_operator(name, "with --batch, PATH names operators"));
        }
    }
    cases::Corpus corpus;
    std::set<std::string> seen;
    std::istringstream lines(*text);
    std::string line;
    for (std::size_t number = 1; std::getline(lines, line); ++number) {
        if (line.ends_with('\r')) {
            line.pop_back();
        }
        const std::string_view problem = without_comment(line);
        if (is_blank(problem)) {
            continue;
        }
        const auto read = read_line(problem, type);
        if (!read) {
            cases::append_problems({{file, number, 1, "", read.error().message, read.error().hint}}, corpus.problems);
            continue;
        }
        if (!is_wanted(*read->schema, operators)) {
            continue;
        }
        const std::string name(read->schema->short_name());
        if (!seen.insert(name + read->text).second) {
            ++repeated;
            continue;
        }
        cases::append(cases::read_corpus(name, read->text, options, visit), corpus);
    }
    if (corpus.entries.empty() && corpus.problems.empty()) {
        return core::fail(
            fmt::format("{}: no line has a problem{}", file, operators.empty() ? "" : " of this operator"),
            "for example GEMM --sizes A=64x32 --sizes B=32x16");
    }
    return corpus;
}

}  // namespace dmlconform::app
