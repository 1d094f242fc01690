// Options on a command line that a result has recorded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmlconform::app {

/// The occurrences of an option on a command line, in the form "--name=value". Ignores everything after "--".
[[nodiscard]] std::vector<std::string> option_words(const std::vector<std::string>& words, std::string_view option,
                                                    bool has_value);

[[nodiscard]] bool has_option(const std::vector<std::string>& words, std::string_view option);

/// The values of --engine on a command line.
[[nodiscard]] std::vector<std::string> engines_named_in(const std::vector<std::string>& words);

}  // namespace dmlconform::app
