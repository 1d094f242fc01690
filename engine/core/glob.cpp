// Matching.
#include "engine/core/glob.h"

namespace dmlconform::core {

bool glob_matches(std::string_view pattern, std::string_view text) {
    // On a mismatch, let the last star take one character more. Earlier stars need no second try, so this is quadratic
    // at worst.
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace dmlconform::core
