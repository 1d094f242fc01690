// Text for a terminal or for the log of a CI job.
//
// Both execute commands in the text: terminals obey control characters, CI jobs obey lines such as "::error::…". Names
// and messages come from untrusted files. So text for people has its own type, ShownText, which only show() creates,
// and show() escapes its arguments.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dmlconform::core {

/// False for characters that control a terminal, end a line, are invisible, or change the order of other characters.
[[nodiscard]] bool shows_as_itself(std::uint32_t character);

/// Escapes the text to a single line: "\n", "\x1b", "\u{202e}", and "\xff" for a byte that is not UTF-8. The second '#'
/// of "##" is escaped, too, since it starts a command of CI services anywhere in a line.
[[nodiscard]] std::string one_line(std::string_view text);

/// Text that is safe to show: lines and colours of the program, with escaped text in between.
class ShownText {
public:
    ShownText() = default;

    ShownText& operator+=(const ShownText& more) {
        text_ += more.text_;
        return *this;
    }
    friend ShownText operator+(ShownText left, const ShownText& right) { return left += right; }

    [[nodiscard]] const std::string& text() const { return text_; }
    /// Converts to a plain string, for reports that quote the text.
    operator const std::string&() const { return text_; }

    /// Wraps text without escaping it. Only for text that was put together from safe parts.
    [[nodiscard]] static ShownText made_of(std::string text) {
        ShownText shown;
        shown.text_ = std::move(text);
        return shown;
    }

private:
    std::string text_;
};

}  // namespace dmlconform::core

template <>
struct fmt::formatter<dmlconform::core::ShownText> : fmt::formatter<fmt::string_view> {
    template <class Context>
    auto format(const dmlconform::core::ShownText& shown, Context& context) const {
        return fmt::formatter<fmt::string_view>::format(shown.text(), context);
    }
};

namespace dmlconform::core {

/// Numbers and ShownText are formatted unchanged, other text by one_line(). Other types must be converted to one of
/// these first.
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, char>) [[nodiscard]] T cleaned(T number) {
    return number;
}
[[nodiscard]] inline const ShownText& cleaned(const ShownText& shown) {
    return shown;
}
[[nodiscard]] inline std::string cleaned(std::string_view text) {
    return one_line(text);
}

template <class T>
using Cleaned = std::remove_cvref_t<decltype(cleaned(std::declval<const T&>()))>;

/// Formats text. `format` is trusted and may have several lines; the arguments are escaped.
template <class... Arguments>
[[nodiscard]] ShownText show(fmt::format_string<Cleaned<Arguments>...> format, const Arguments&... arguments) {
    return ShownText::made_of(fmt::format(format, Cleaned<Arguments>(cleaned(arguments))...));
}

/// Joins the elements of a list with a trusted separator.
template <class List>
[[nodiscard]] ShownText show_list(const List& list, std::string_view between) {
    std::string text;
    bool first = true;
    for (const auto& element : list) {
        text += std::exchange(first, false) ? std::string_view() : between;
        text += fmt::format("{}", cleaned(element));
    }
    return ShownText::made_of(std::move(text));
}

/// Escapes the first colon of lines that begin with "::", which GitHub Actions takes for commands.
[[nodiscard]] std::string without_commands(std::string_view text);

/// Escapes a document for a terminal. Its line breaks stay.
[[nodiscard]] std::string shown_document(std::string_view text);

}  // namespace dmlconform::core
