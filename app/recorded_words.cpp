// Finds options among words.
#include "app/recorded_words.h"

#include <fmt/format.h>

namespace dmlconform::app {

std::vector<std::string> option_words(const std::vector<std::string>& words, std::string_view option, bool has_value) {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
        const std::string_view word = words[i];
        if (word.starts_with(option) && word.substr(option.size()).starts_with('=')) {
            found.emplace_back(word);
        } else if (word == option && !has_value) {
            found.emplace_back(word);
        } else if (word == option && i + 1 < words.size()) {
            found.push_back(fmt::format("{}={}", option, words[++i]));
        }
    }
    return found;
}

bool has_option(const std::vector<std::string>& words, std::string_view option) {
    return !option_words(words, option, false).empty();
}

std::vector<std::string> engines_named_in(const std::vector<std::string>& words) {
    constexpr std::string_view option = "--engine";
    std::vector<std::string> names = option_words(words, option, true);
    for (std::string& name : names) {
        name.erase(0, option.size() + 1);
    }
    return names;
}

}  // namespace dmlconform::app
