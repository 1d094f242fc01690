// Decoding of UTF-8.
#include "engine/core/utf8.h"

#include <algorithm>
#include <array>

namespace dmlconform::core {
namespace {

struct Lead {
    std::uint32_t mask;
    std::uint32_t bits;
    std::size_t length;
    /// The smallest code point for this length. Smaller ones must have shorter encodings.
    std::uint32_t least;
};

constexpr std::array<Lead, 4> leads{
    {{0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}}};

}  // namespace

std::size_t decode_character(std::string_view text, std::uint32_t& character) {
    const auto first = static_cast<unsigned char>(text.front());
    for (const Lead& lead : leads) {
        if ((first & lead.mask) != lead.bits) {
            continue;
        }
        if (text.size() < lead.length) {
            return 0;
        }
        character = first & ~lead.mask & 0xffu;
        for (std::size_t i = 1; i < lead.length; ++i) {
            const auto next = static_cast<unsigned char>(text[i]);
            if ((next & 0xc0u) != 0x80u) {
                return 0;
            }
            character = (character << 6u) | (next & 0x3fu);
        }
        const bool surrogate = character >= 0xd800 && character <= 0xdfff;
        return character < lead.least || surrogate || character > 0x10ffff ? 0 : lead.length;
    }
    return 0;
}

void for_each_character(std::string_view text,
                        const std::function<void(std::uint32_t character, std::string_view bytes)>& visit) {
    while (!text.empty()) {
        std::uint32_t character = 0xfffd;
        const std::size_t length = decode_character(text, character);
        if (length == 0) {
            visit(0xfffd, replacement_character);
            text.remove_prefix(1);
        } else {
            visit(character, text.substr(0, length));
            text.remove_prefix(length);
        }
    }
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::uint32_t character = 0;
        const std::size_t length = decode_character(text.substr(at), character);
        if (length == 0) {
            return at;
        }
        at += length;
    }
    return std::nullopt;
}

std::string shortened(std::string_view text, std::size_t most) {
    std::size_t end = 0;
    for (std::size_t count = 0; end < text.size(); ++count) {
        if (count == most) {
            return std::string(text.substr(0, end)) + "…";
        }
        std::uint32_t character = 0;
        end += std::max<std::size_t>(decode_character(text.substr(end), character), 1);
    }
    return std::string(text);
}

}  // namespace dmlconform::core
