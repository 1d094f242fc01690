// Matching of names with wildcard patterns.
#include "engine/core/glob.h"

namespace dmlconform::core {

bool glob_matches(std::string_view pattern, std::string_view text) {
    // On a mismatch, the last star takes one more character. Earlier stars need not be retried, so the time is
    // quadratic at worst.
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
