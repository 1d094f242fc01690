// Escapes text for Markdown.
#include "engine/report/markdown_text.h"

#include "engine/core/shown_text.h"
#include "engine/core/utf8.h"

namespace dmlconform::report {

std::string markdown_text(std::string_view text, std::size_t longest) {
    std::size_t end = text.size();
    if (end > longest) {
        end = longest;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) {
            --end;  // avoid cutting a character
        }
    }
    std::string escaped;
    core::for_each_character(text.substr(0, end), [&](std::uint32_t character, std::string_view bytes) {
        if (character == '<') {
            escaped += "&lt;";
        } else if (character == '&') {
            escaped += "&amp;";
        } else if (!core::shows_as_itself(character)) {
            escaped += ' ';
        } else {
            if (std::string_view("\\`*_{}[]()#+!|~>@").find(bytes) != std::string_view::npos) {
                escaped += '\\';
            }
            escaped += bytes;
        }
    });
    return end < text.size() ? escaped + "…" : escaped;
}

}  // namespace dmlconform::report
