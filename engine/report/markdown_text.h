// Text from results in Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dmlconform::report {

/// Escapes text so that neither Markdown nor HTML interpret it, also within a table, and cuts it to this many bytes.
/// Removes control characters. Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string markdown_text(std::string_view text, std::size_t longest);

}  // namespace dmlconform::report
