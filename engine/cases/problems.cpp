// Collects and formats problems, and finds suggestions for mistyped words.
#include "engine/cases/problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "engine/cases/problem_text.h"
#include "engine/core/ascii_case.h"
#include "engine/core/hash.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

/// Edit distance without case. Swapping two adjacent letters counts as one edit.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto same = [&](std::size_t i, std::size_t j) {
        return core::lower_case(a[i - 1]) == core::lower_case(b[j - 1]);
    };
    // The last three rows of the distance table.
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j - 1] + (same(i, j) ? 0 : 1), last[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && same(i, j - 1) && same(i - 1, j)) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
    }
    return row.back();
}

}  // namespace

std::size_t count_of(std::span<const Problem> problems) {
    return std::accumulate(
        problems.begin(), problems.end(), std::size_t{0},
        [](std::size_t sum, const Problem& problem) { return sum + std::max<std::size_t>(problem.more, 1); });
}

void append_problems(std::vector<Problem>&& more, std::vector<Problem>& to) {
    for (Problem& problem : more) {
        const bool ended = !to.empty() && to.back().more != 0;
        if (!ended && to.size() < most_problems) {
            to.push_back(std::move(problem));
            continue;
        }
        if (!ended) {
            to.emplace_back();
        }
        to.back().more += std::max<std::size_t>(problem.more, 1);
    }
}

core::ShownText shown(const Problem& problem) {
    if (problem.more != 0) {
        return core::show("and {} more problem{}", problem.more, problem.more == 1 ? "" : "s");
    }
    core::ShownText text = core::show("{}", problem.file);
    if (problem.line != 0) {
        text += core::show(":{}:{}", problem.line, problem.column);
    }
    text += core::show(": error: {}", problem.message);
    if (!problem.pointer.empty()) {
        text += core::show(" (at {})", problem.pointer);
    }
    if (!problem.hint.empty()) {
        text += core::show("\n    hint: {}", problem.hint);
    }
    return text;
}

std::string to_string(const Problem& problem) {
    return shown(problem);
}

ProblemSink::ProblemSink(std::string file, std::string_view text) : file_(std::move(file)), size_(text.size()) {
    auto starts = std::make_shared<std::vector<std::size_t>>(1, 0);
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
        starts->push_back(end + 1);
    }
    line_starts_ = std::move(starts);
}

ProblemSink ProblemSink::fresh() const {
    ProblemSink sink(file_, "");
    sink.size_ = size_;
    sink.line_starts_ = line_starts_;
    return sink;
}

Position ProblemSink::position(std::size_t offset) const {
    offset = std::min(offset, size_);
    const auto next = std::upper_bound(line_starts_->begin(), line_starts_->end(), offset);
    return {static_cast<std::size_t>(next - line_starts_->begin()), offset - *std::prev(next) + 1};
}

void ProblemSink::add(std::size_t offset, std::string message, std::string hint) {
    ++count_;
    // A mistake in `defaults` or in a sweep recurs in every case that inherits it, but is counted once.
    if (is_full()) {
        if (!is_hopeless() && seen_.find({offset, message}) == seen_.end()) {
            beyond_.insert(core::fnv1a(message, offset));
        }
    } else if (seen_.emplace(offset, message).second) {
        found_.push_back({offset, std::move(message), std::move(hint)});
    }
}

std::vector<Problem> ProblemSink::take(const JsonValue& document) {
    std::stable_sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) { return a.offset < b.offset; });
    std::vector<Problem> problems;
    for (const Found& found : found_) {
        const Position start = position(found.offset);
        problems.push_back({file_, start.line, start.column,
                            core::shortened(pointer_to(document, found.offset), 2 * core::most_quoted), found.message,
                            found.hint});
    }
    if (!beyond_.empty()) {
        problems.emplace_back().more = beyond_.size();
    }
    found_.clear();
    beyond_.clear();
    return problems;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
    // Longer than any known name. Comparing such words would be expensive and useless.
    constexpr std::size_t longest = 100;
    if (word.size() > longest) {
        return {};
    }
    const std::string* best = nullptr;
    std::size_t best_distance = 0;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (best == nullptr || distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    if (best == nullptr || best_distance > std::max<std::size_t>(1, best->size() / 3)) {
        return {};
    }
    return fmt::format("did you mean `{}`?", *best);
}

}  // namespace dmlconform::cases
