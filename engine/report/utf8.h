// Going through text that may not be UTF-8 throughout.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace dmlconform::report {

/// U+FFFD.
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// Shows each character with its bytes; for each byte that begins none, U+FFFD with the bytes of that.
void for_each_character(std::string_view text,
                        const std::function<void(std::uint32_t character, std::string_view bytes)>& visit);

}  // namespace dmlconform::report
