// Iteration over text that may contain invalid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dmlconform::core {

/// U+FFFD.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// The length of the first character of the text in bytes; 0 if the text begins with invalid UTF-8. The text must not
/// be empty.
[[nodiscard]] std::size_t decode_character(std::string_view text, std::uint32_t& character);

/// Calls `visit` for each character with its bytes, and for each invalid byte with U+FFFD and that byte.
void for_each_character(std::string_view text,
                        const std::function<void(std::uint32_t character, std::string_view bytes)>& visit);

/// Position of the first invalid byte; empty if the text is valid UTF-8.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// Messages quote at most this many characters of a text.
inline constexpr std::size_t most_quoted = 200;

/// Shortens a text to `most` characters and an ellipsis.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = most_quoted);

}  // namespace dmlconform::core
