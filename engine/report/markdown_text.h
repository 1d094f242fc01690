// Text from results in Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dmlconform::report {

/// At most so many bytes of the text, with nothing in it that Markdown or HTML would take for their own, also in a
/// table, and without control characters. What is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string markdown_text(std::string_view text, std::size_t longest);

}  // namespace dmlconform::report
