// Questions to the system about the standard streams.
#include "app/terminal.h"

#include <cstdlib>
#include <string_view>

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

/// 0 where it does not say.
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

}  // namespace

bool stdout_is_terminal() {
    return is_terminal(standard_output);
}

bool stderr_is_terminal() {
    return is_terminal(standard_error);
}

std::size_t output_width() {
    constexpr std::size_t usual = 80;
    if (!stdout_is_terminal()) {
        return 0;
    }
    const std::size_t width = terminal_width();
    return width == 0 ? usual : width;
}

bool use_color(bool refused) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return !refused && (no_color == nullptr || *no_color == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb") && stdout_is_terminal();
}

}  // namespace dmlconform::app
