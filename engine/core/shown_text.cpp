// Which characters are escaped in text for people, and how.
#include "engine/core/shown_text.h"

#include <algorithm>
#include <array>

#include "engine/core/utf8.h"

namespace dmlconform::core {
namespace {

struct Range {
    std::uint32_t first;
    std::uint32_t last;
};

/// Control characters, line separators, characters that change the direction of text, and invisible ones, which make
/// different names look the same. Joiners (U+200C, U+200D) are not listed, because ordinary words contain them.
constexpr std::array<Range, 12> spelt_out{{{0x00, 0x1f},
                                           {0x7f, 0x9f},
                                           {0xad, 0xad},
                                           {0x61c, 0x61c},
                                           {0x180e, 0x180e},
                                           {0x200b, 0x200b},
                                           {0x200e, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2060, 0x206f},
                                           {0xfeff, 0xfeff},
                                           {0xfff9, 0xfffb},
                                           {0xe0000, 0xe007f}}};

std::string spelling(std::uint32_t character) {
    switch (character) {
        case '\n':
            return "\\n";
        case '\r':
            return "\\r";
        case '\t':
            return "\\t";
        default:
            return character < 0x80 ? fmt::format("\\x{:02x}", character) : fmt::format("\\u{{{:x}}}", character);
    }
}

/// Characters that .NET trims from the beginning of a line. GitHub's runner is a .NET program and trims before it looks
/// for commands.
bool is_blank(std::uint32_t character) {
    return character == ' ' || character == '\t' || (character >= 0x0b && character <= 0x0d) || character == 0x85 ||
           character == 0xa0 || character == 0x1680 || (character >= 0x2000 && character <= 0x200a) ||
           character == 0x2028 || character == 0x2029 || character == 0x202f || character == 0x205f ||
           character == 0x3000;
}

/// The escaped form of the first character of `bytes`, or of its first byte if that is not UTF-8.
std::string spelt(std::uint32_t character, std::string_view bytes, bool is_character, char before) {
    if (!is_character) {
        return fmt::format("\\x{:02x}", static_cast<unsigned char>(bytes.front()));
    }
    const bool is_command = character == '#' && before == '#';
    return shows_as_itself(character) && !is_command ? std::string(bytes) : spelling(character);
}

std::string clean(std::string_view text, bool keep_lines) {
    std::string result;
    result.reserve(text.size());
    char before = '\0';
    while (!text.empty()) {
        std::uint32_t character = 0;
        const std::size_t length = decode_character(text, character);
        const std::string_view bytes = text.substr(0, std::max<std::size_t>(length, 1));
        if (keep_lines && (bytes == "\n" || bytes == "#")) {
            result += bytes;
        } else {
            result += spelt(character, bytes, length != 0, before);
        }
        before = bytes.back();
        text.remove_prefix(bytes.size());
    }
    return result;
}

}  // namespace

bool shows_as_itself(std::uint32_t character) {
    return std::none_of(spelt_out.begin(), spelt_out.end(),
                        [&](const Range& range) { return character >= range.first && character <= range.last; });
}

std::string one_line(std::string_view text) {
    return clean(text, false);
}

std::string without_commands(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        std::string_view rest = line;
        std::uint32_t character = 0;
        for (std::size_t length = 0;
             !rest.empty() && (length = decode_character(rest, character)) != 0 && is_blank(character);) {
            rest.remove_prefix(length);
        }
        if (rest.starts_with("::")) {
            result += line.substr(0, line.size() - rest.size());
            result += spelling(':');
            rest.remove_prefix(1);
            result += rest;
        } else {
            result += line;
        }
        text.remove_prefix(line.size());
    }
    return result;
}

std::string shown_document(std::string_view text) {
    return clean(text, true);
}

}  // namespace dmlconform::core
