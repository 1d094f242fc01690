// Text that another process wrote, made fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dmlconform::worker {

/// On one line: control characters, which could command a terminal, become '?', line ends and tabs blanks.
[[nodiscard]] inline std::string printable(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c == '\n' || c == '\r' || c == '\t') {
            c = ' ';
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            c = '?';
        }
    }
    return result;
}

}  // namespace dmlconform::worker
