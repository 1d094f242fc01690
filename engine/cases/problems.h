// Problems of case files. They are collected, so that all of them are reported at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/cases/json_document.h"

namespace dmlconform::cases {

/// One problem of an input file.
struct Problem {
    std::string file;
    /// 0 if the problem concerns the whole file.
    std::size_t line = 0;
    std::size_t column = 0;
    /// JSON pointer (RFC 6901).
    std::string pointer;
    std::string message;
    std::string hint;
    /// If not 0, this entry stands for that many further problems, which are not shown.
    std::size_t more = 0;
};

/// Limit for the number of problems shown. Thousands of problems in a file have a common cause.
inline constexpr std::size_t most_problems = 100;

/// The number of problems, including those that are not shown.
[[nodiscard]] std::size_t count_of(std::span<const Problem> problems);

/// Appends problems. Those beyond the limit are only counted, in the last entry.
void append_problems(std::vector<Problem>&& more, std::vector<Problem>& to);

/// "file:line:column: error: message (at /pointer)". The hint follows on its own line.
[[nodiscard]] std::string to_string(const Problem& problem);

/// Collects the problems of one file during reading.
class ProblemSink {
public:
    ProblemSink(std::string file, std::string_view text);

    /// An empty sink for the same text.
    [[nodiscard]] ProblemSink fresh() const;

    void add(std::size_t offset, std::string message, std::string hint = {});

    /// The number of added problems, including those that are not kept.
    [[nodiscard]] std::size_t count() const { return count_; }
    /// True if no further problem will be shown.
    [[nodiscard]] bool is_full() const { return found_.size() == most_problems; }
    /// True if there are too many problems to continue reading.
    [[nodiscard]] bool is_hopeless() const { return count_ >= most_counted; }
    /// Same as position_of, but uses an index of lines, because every case asks for its line.
    [[nodiscard]] Position position(std::size_t offset) const;
    [[nodiscard]] const std::string& file() const { return file_; }
    /// Returns the problems ordered by position, with JSON pointers into `document`. Problems beyond the limit are only
    /// counted. The sink is empty afterwards.
    [[nodiscard]] std::vector<Problem> take(const JsonValue& document);

private:
    static constexpr std::size_t most_counted = 100'000;

    struct Found {
        std::size_t offset;
        std::string message;
        std::string hint;
    };

    std::string file_;
    std::size_t size_;
    std::shared_ptr<const std::vector<std::size_t>> line_starts_;
    std::size_t count_ = 0;
    std::vector<Found> found_;
    std::set<std::pair<std::size_t, std::string>> seen_;
    /// Hashes of problems that are counted but not kept.
    std::unordered_set<std::uint64_t> beyond_;
};

/// "did you mean `InputWindowOffsets`?" for a mistyped word. Empty if no candidate is similar.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace dmlconform::cases
