// Parses numbers by std::from_chars, which ignores locales and accepts neither signs for unsigned numbers nor octal.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace dmlconform::core {

/// The number, if it is the whole text. `base` is that of a whole number.
template <class Number, class... Base>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Base... base) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base...);
    return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace dmlconform::core
