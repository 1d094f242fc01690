// Removes trailing commas, which JSON with comments does not allow.
#include "engine/interop/dxdispatch_reader.h"

#include <algorithm>

namespace dmlconform::interop {
namespace {

/// The offset after a string or comment that begins at `at`; `at` itself for anything else.
std::size_t behind_token(std::string_view text, std::size_t at) {
    if (text[at] == '"') {
        for (std::size_t i = at + 1; i < text.size(); ++i) {
            if (text[i] == '\\') {
                ++i;
            } else if (text[i] == '"') {
                return i + 1;
            }
        }
        return text.size();
    }
    if (text.substr(at, 2) == "//") {
        return std::min(text.find('\n', at), text.size());
    }
    if (text.substr(at, 2) == "/*") {
        const std::size_t end = text.find("*/", at + 2);
        return end == std::string_view::npos ? text.size() : end + 2;
    }
    return at;
}

}  // namespace

std::string without_trailing_commas(std::string_view text) {
    std::string result(text);
    std::size_t comma = std::string_view::npos;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t behind = behind_token(text, at);
        if (behind != at) {
            comma = text[at] == '"' ? std::string_view::npos : comma;
            at = behind;
            continue;
        }
        const char c = text[at];
        if (c == ',') {
            comma = at;
        } else if ((c == ']' || c == '}') && comma != std::string_view::npos) {
            result[comma] = ' ';
        }
        if (c != ',' && c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            comma = std::string_view::npos;
        }
        ++at;
    }
    return result;
}

}  // namespace dmlconform::interop
