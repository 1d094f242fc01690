// Text that is shown to people: on a terminal, or in the log of a CI job. Both obey what they are shown: a terminal its
// control characters, a CI job lines such as "::error::…". Names and messages come from files that anybody may have
// written, so what is shown has a type of its own, which only show() makes, and show() cleans all that is put into it.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace dmlconform::core {

/// Whether the character shows as itself: not one that commands a terminal, ends a line, or changes the direction or
/// the place of others.
[[nodiscard]] bool shows_as_itself(std::uint32_t character);

/// The text on one line. What does not show as itself is spelt out: "\n", "\x1b", "\u{202e}", and "\xff" for a byte
/// that is not UTF-8; so is the second '#' of "##", with which commands to CI services begin anywhere in a line.
[[nodiscard]] std::string one_line(std::string_view text);

/// Lines and colours of our own, around texts on one line.
class ShownText {
public:
    ShownText() = default;

    ShownText& operator+=(const ShownText& more) {
        text_ += more.text_;
        return *this;
    }
    friend ShownText operator+(ShownText left, const ShownText& right) { return left += right; }

    [[nodiscard]] const std::string& text() const { return text_; }
    /// As a plain text again, for reports that quote it.
    operator const std::string&() const { return text_; }

    /// What is known to be harmless because it was put together from such texts and words of our own.
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

/// Numbers and shown text go as they are, all other texts on one line. What else there is to format has to become one
/// of these first.
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

/// The format is ours and may have several lines; the arguments are cleaned.
template <class... Arguments>
[[nodiscard]] ShownText show(fmt::format_string<Cleaned<Arguments>...> format, const Arguments&... arguments) {
    return ShownText::made_of(fmt::format(format, Cleaned<Arguments>(cleaned(arguments))...));
}

/// The elements of a list with something of ours between them.
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

/// For what is going to a terminal or a log: a line that begins with "::" is a command to GitHub Actions, so the first
/// colon is spelt out.
[[nodiscard]] std::string without_commands(std::string_view text);

/// A whole document for a terminal: its lines stay, and what else does not show as itself is spelt out.
[[nodiscard]] std::string shown_document(std::string_view text);

}  // namespace dmlconform::core
