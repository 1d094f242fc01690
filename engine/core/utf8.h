// Going through text that may not be UTF-8 throughout.
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

/// The length of the character that the text, which is not empty, begins with; 0 if it begins with none.
[[nodiscard]] std::size_t decode_character(std::string_view text, std::uint32_t& character);

/// Shows each character with its bytes; for each byte that begins none, U+FFFD with the bytes of that.
void for_each_character(std::string_view text,
                        const std::function<void(std::uint32_t character, std::string_view bytes)>& visit);

/// Where the first byte is that begins no character; nothing in UTF-8.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// What messages quote at most of what they are about.
inline constexpr std::size_t most_quoted = 200;

/// The text, or its beginning and an ellipsis where it has more characters.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most = most_quoted);

}  // namespace dmlconform::core
