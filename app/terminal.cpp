// Questions to the system about the standard streams.
#include "app/terminal.h"

#include <cstdlib>
#include <string_view>

#ifdef _WIN32
#include <io.h>
#else
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

}  // namespace

bool stdout_is_terminal() {
    return is_terminal(standard_output);
}

bool stderr_is_terminal() {
    return is_terminal(standard_error);
}

bool use_color(bool refused) {
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return !refused && (no_color == nullptr || *no_color == '\0') &&
           (terminal == nullptr || std::string_view(terminal) != "dumb") && stdout_is_terminal();
}

}  // namespace dmlconform::app
