// Finds the ends of values in the text, and edits it.
#include "engine/expectations/array_edits.h"

#include <algorithm>

namespace dmlconform::expectations {
namespace {

/// The offset after the string, comment or single character that begins at `at`.
std::size_t after_token(std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
        return std::min(text.find('\n', at), text.size());
    }
    if (rest.starts_with("/*")) {
        const std::size_t end = text.find("*/", at + 2);
        return end == std::string_view::npos ? text.size() : end + 2;
    }
    if (rest.front() != '"') {
        return at + 1;
    }
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') {
        end += text[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, text.size());
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

}  // namespace

std::size_t ArrayEdits::end_of(const cases::JsonValue& value) const {
    const char first = text_[value.offset];
    if (first == '"') {
        return after_token(text_, value.offset);
    }
    if (first != '[' && first != '{') {
        return std::min(text_.find_first_of(" \t\r\n,:[]{}/\"", value.offset), text_.size());
    }
    std::size_t depth = 0;
    std::size_t at = value.offset;
    do {
        const char c = text_[at];
        depth += c == '[' || c == '{' ? 1 : 0;
        depth -= c == ']' || c == '}' ? 1 : 0;
        at = after_token(text_, at);
    } while (depth != 0 && at < text_.size());
    return at;
}

std::size_t ArrayEdits::comma(std::size_t from, std::size_t to) const {
    while (from < to && text_[from] != ',') {
        from = after_token(text_, from);
    }
    return from;
}

void ArrayEdits::cut(std::size_t from, std::size_t to) {
    std::fill(removed_.begin() + static_cast<std::ptrdiff_t>(from), removed_.begin() + static_cast<std::ptrdiff_t>(to),
              true);
}

std::string ArrayEdits::indentation_at(std::size_t offset) const {
    const std::size_t line = text_.rfind('\n', offset) + 1;  // npos + 1 is 0
    const std::size_t end = std::min(text_.find_first_not_of(" \t", line), text_.size());
    return std::string(text_.substr(line, std::min(end, offset) - line));
}

std::string ArrayEdits::line_end() const {
    const std::size_t first = text_.find('\n');
    return first != std::string_view::npos && first > 0 && text_[first - 1] == '\r' ? "\r\n" : "\n";
}

void ArrayEdits::remove(const cases::JsonValue& array, const std::vector<bool>& remove) {
    const auto& items = *array.array();
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!remove[i]) {
            continue;
        }
        const std::size_t end = end_of(items[i]);
        cut(items[i].offset, end);
        const bool kept_after =
            std::find(remove.begin() + static_cast<std::ptrdiff_t>(i), remove.end(), false) != remove.end();
        if (kept_after) {
            const std::size_t at = comma(end, items[i + 1].offset);
            std::size_t next = at + 1;
            while (next < items[i + 1].offset && is_blank(text_[next])) {
                ++next;
            }
            cut(at, text_[next] == '\n' || text_[next] == '\r' ? at + 1 : next);
        } else if (i > 0) {
            const std::size_t at = comma(end_of(items[i - 1]), items[i].offset);
            std::size_t next = at + 1;
            while (next < items[i].offset && is_blank(text_[next])) {
                ++next;
            }
            cut(at, next == items[i].offset ? next : at + 1);
        }
    }
}

void ArrayEdits::replace(const cases::JsonValue& value, const std::string& with) {
    cut(value.offset, end_of(value));
    insertions_.push_back({value.offset, with});
}

void ArrayEdits::append(const cases::JsonValue& array, const std::vector<bool>& remove,
                        const std::vector<std::string>& elements) {
    if (elements.empty()) {
        return;
    }
    const auto& items = *array.array();
    const std::string end = line_end();
    const std::string outer = indentation_at(array.offset);
    const std::string inner = items.empty() ? outer + "  " : indentation_at(items.front().offset);
    std::string added;
    for (const std::string& element : elements) {
        added += added.empty() ? "" : "," + end;
        added += inner;
        for (const char c : element) {
            added += c == '\n' ? end + inner : std::string(1, c);
        }
    }
    const auto last_kept = std::find(remove.rbegin(), remove.rend(), false);
    if (last_kept != remove.rend()) {
        const auto index = static_cast<std::size_t>(remove.rend() - last_kept) - 1;
        insertions_.push_back({end_of(items[index]), ","});
    }
    const std::size_t bracket = end_of(array) - 1;
    const std::size_t line = text_.rfind('\n', bracket) + 1;
    if (line != 0 && text_.find_first_not_of(" \t", line) == bracket) {
        insertions_.push_back({line, added + end});
    } else {
        insertions_.push_back({bracket, end + added + end + outer});
    }
}

std::string ArrayEdits::text() const {
    std::vector<Insertion> insertions = insertions_;
    std::stable_sort(insertions.begin(), insertions.end(),
                     [](const Insertion& a, const Insertion& b) { return a.at < b.at; });
    std::string result;
    auto next = insertions.begin();
    std::size_t line_start = 0;  // offset in the result
    bool line_was_cut = false;
    for (std::size_t at = 0; at <= text_.size(); ++at) {
        for (; next != insertions.end() && next->at == at; ++next) {
            result += next->text;
        }
        if (at == text_.size()) {
            break;
        }
        if (removed_[at]) {
            line_was_cut = true;
            continue;
        }
        result += text_[at];
        if (text_[at] != '\n') {
            continue;
        }
        // A line that has become empty is removed.
        if (line_was_cut && result.find_first_not_of(" \t\r\n", line_start) == std::string::npos) {
            result.resize(line_start);
        }
        line_start = result.size();
        line_was_cut = false;
    }
    return result;
}

}  // namespace dmlconform::expectations
