// What is wrong with a case file: collected, so that all of it is reported at once.
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

/// One thing wrong with an input file, ready to be shown.
struct Problem {
    std::string file;
    /// 0 when the problem is with the file as a whole.
    std::size_t line = 0;
    std::size_t column = 0;
    /// JSON pointer.
    std::string pointer;
    std::string message;
    std::string hint;
    /// Not 0: so many more problems, of which nothing else is known.
    std::size_t more = 0;
};

/// So many problems are shown. A file with thousands of mistakes has one cause; nobody reads further.
inline constexpr std::size_t most_problems = 100;

/// How many there are, those included of which only the number is known.
[[nodiscard]] std::size_t count_of(std::span<const Problem> problems);

/// Appends problems; those beyond the number that is shown are counted in the last one.
void append_problems(std::vector<Problem>&& more, std::vector<Problem>& to);

/// "file:line:column: error: message (at /pointer)", and the hint on a line of its own.
[[nodiscard]] std::string to_string(const Problem& problem);

/// Collects the problems of one file while it is read.
class ProblemSink {
public:
    ProblemSink(std::string file, std::string_view text);

    /// An empty one for the same text.
    [[nodiscard]] ProblemSink fresh() const;

    void add(std::size_t offset, std::string message, std::string hint = {});

    /// How many were added, also those beyond the number that is kept.
    [[nodiscard]] std::size_t count() const { return count_; }
    /// Whether nobody needs to know what else is wrong.
    [[nodiscard]] bool is_full() const { return found_.size() == most_problems; }
    /// Whether reading on would only take time.
    [[nodiscard]] bool is_hopeless() const { return count_ >= most_counted; }
    /// What position_of says, without going through the text: every case asks for its line.
    [[nodiscard]] Position position(std::size_t offset) const;
    [[nodiscard]] const std::string& file() const { return file_; }
    /// Gives the problems away, in the order of their places, with JSON pointers into `document`. Of those beyond the
    /// number that is kept, there is the number.
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
    /// Hashes of those that are not kept.
    std::unordered_set<std::uint64_t> beyond_;
};

/// "did you mean `InputWindowOffsets`?" for a mistyped word, or an empty string when nothing is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace dmlconform::cases
