// Helpers that run a reader of case files on a JSON text and return its value and problems.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::tests {

/// Parses the text; throws if it is invalid.
[[nodiscard]] inline cases::JsonValue json(std::string_view text) {
    auto document = cases::parse_json(text);
    if (!document) {
        throw std::logic_error("the test's JSON is broken: " + document.error().error.message);
    }
    return std::move(*document);
}

template <class T>
struct Reading {
    std::optional<T> value;
    std::vector<cases::Problem> problems;
};

/// Calls read(document, problems), whose result is an optional.
template <class Read>
[[nodiscard]] auto reading(std::string_view text, Read&& read) {
    const cases::JsonValue document = json(text);
    cases::ProblemSink problems("test.json", text);
    auto value = read(document, problems);
    return Reading<typename decltype(value)::value_type>{std::move(value), problems.take(document)};
}

/// Formats a problem as "1:5 /desc/Sizes: message [hint]".
[[nodiscard]] inline std::string short_text(const cases::Problem& problem) {
    std::string text = fmt::format("{}:{} {}: {}", problem.line, problem.column, problem.pointer, problem.message);
    return problem.hint.empty() ? text : text + fmt::format(" [{}]", problem.hint);
}

[[nodiscard]] inline std::vector<std::string> short_texts(const std::vector<cases::Problem>& problems) {
    std::vector<std::string> texts;
    for (const cases::Problem& problem : problems) {
        texts.push_back(short_text(problem));
    }
    return texts;
}

/// All problems in one string, a line each, for tests that search in the text.
[[nodiscard]] inline std::string all_text(const std::vector<cases::Problem>& problems) {
    return fmt::format("{}", fmt::join(short_texts(problems), "\n"));
}

/// Whether there is one problem per entry of `beginnings`, and each problem's text starts with its entry. An entry
/// without line and column, such as "/desc/Sizes: …", matches at any position.
[[nodiscard]] inline testing::AssertionResult begin_with(const std::vector<cases::Problem>& problems,
                                                         const std::vector<std::string>& beginnings) {
    bool same = problems.size() == beginnings.size();
    for (std::size_t i = 0; same && i < beginnings.size(); ++i) {
        const std::string text = short_text(problems[i]);
        const bool with_position = !beginnings[i].empty() && beginnings[i][0] >= '0' && beginnings[i][0] <= '9';
        same = std::string_view(text).substr(with_position ? 0 : text.find(' ') + 1).starts_with(beginnings[i]);
    }
    if (same) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "problems:\n"
                                       << all_text(problems) << "\ninstead of problems that begin with:\n"
                                       << fmt::format("{}", fmt::join(beginnings, "\n"));
}

/// Whether `text` contains `part`; shows both if not.
[[nodiscard]] inline testing::AssertionResult contains(std::string_view text, std::string_view part) {
    if (text.find(part) != std::string_view::npos) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "\"" << part << "\" does not occur in:\n" << text;
}

}  // namespace dmlconform::tests
