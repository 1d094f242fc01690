// Quotes words for Windows.
#include "engine/core/windows_words.h"

#include <cstddef>

namespace dmlconform::core {

std::string windows_quoted(const std::string& word) {
    if (!word.empty() && word.find_first_of(" \t\n\"'&|<>^()%!,;*?`$@{}[]#") == std::string::npos) {
        return word;
    }
    std::string result = "\"";
    std::size_t backslashes = 0;
    for (const char c : word) {
        // Backslashes only need escaping before a quote.
        if (c == '"') {
            result.append(backslashes + 1, '\\');
        }
        backslashes = c == '\\' ? backslashes + 1 : 0;
        result += c;
    }
    return result.append(backslashes, '\\') + '"';
}

}  // namespace dmlconform::core
