// Asks the system about the standard streams.
#include "app/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/report/text_table.h"

#ifdef _WIN32
#include <io.h>
#include <windows.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace dmlconform::app {
namespace {

enum Stream : int { standard_output = 1, standard_error = 2 };

bool is_terminal(Stream stream) {
#ifdef _WIN32
    return _isatty(stream) != 0;
#else
    return isatty(stream) != 0;
#endif
}

/// 0 if it is unknown.
std::size_t terminal_width() {
#ifdef _WIN32
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info) == 0) {
        return 0;
    }
    return static_cast<std::size_t>(info.srWindow.Right - info.srWindow.Left + 1);
#else
    winsize size{};
    return ioctl(standard_output, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
#endif
}

/// True if the terminal says that it knows no commands.
bool is_dumb() {
    const char* terminal = std::getenv("TERM");
    return terminal != nullptr && std::string_view(terminal) == "dumb";
}

}  // namespace

bool stdout_is_terminal() {
    return is_terminal(standard_output);
}

bool shows_progress() {
    return is_terminal(standard_error) && !is_dumb();
}

std::size_t output_width() {
    constexpr std::size_t usual = 80;
    if (!stdout_is_terminal()) {
        return 0;
    }
    const std::size_t width = terminal_width();
    return width == 0 ? usual : width;
}

std::string wrap(std::string_view text, std::size_t width) {
    std::string wrapped;
    std::size_t column = 0;
    while (!text.empty()) {
        const std::size_t length = std::min(text.find_first_of(" \n"), text.size());
        const std::string_view word = text.substr(0, length);
        const std::size_t characters = report::characters_in(word);
        // Blanks at the beginning of a line are the text's own.
        const bool breaks = column != 0 && wrapped.ends_with(' ') && column + characters > width;
        if (breaks) {
            wrapped.back() = '\n';
            column = 0;
        }
        wrapped += word;
        column += characters;
        text.remove_prefix(length);
        if (!text.empty()) {
            wrapped += text.front();
            column = text.front() == '\n' ? 0 : column + 1;
            text.remove_prefix(1);
        }
    }
    return wrapped;
}

bool use_color(bool refused) {
    const char* no_color = std::getenv("NO_COLOR");
    return !refused && (no_color == nullptr || *no_color == '\0') && !is_dumb() && stdout_is_terminal();
}

}  // namespace dmlconform::app
