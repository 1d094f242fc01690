// Common formatting of the console reports.
#include "engine/report/console_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace dmlconform::report {

core::ShownText ConsoleStyle::paint(fmt::text_style style, const core::ShownText& text) const {
    return colored_ ? core::ShownText::made_of(fmt::format(style, "{}", text.text())) : text;
}

core::ShownText ConsoleStyle::status(run::Status status, const core::ShownText& text) const {
    switch (status) {
        case run::Status::pass:
            return paint(fmt::fg(fmt::terminal_color::green), text);
        case run::Status::fail:
        case run::Status::error:
        case run::Status::crash:
        case run::Status::timeout:
        case run::Status::xpass:
            return paint(fmt::fg(fmt::terminal_color::red) | fmt::emphasis::bold, text);
        default:
            return paint(fmt::fg(fmt::terminal_color::yellow), text);
    }
}

std::string format_duration(std::chrono::nanoseconds duration) {
    const auto nanoseconds = static_cast<double>(duration.count());
    constexpr std::array<std::pair<double, const char*>, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}}};
    for (const auto& [size, name] : units) {
        if (nanoseconds >= size) {
            const double value = nanoseconds / size;
            return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, name);
        }
    }
    return fmt::format("{:.0f} ns", nanoseconds);
}

std::string format_seconds(double seconds) {
    constexpr double most = 1e9;  // nanoseconds have 64 bits
    return format_duration(std::chrono::nanoseconds(std::llround(std::min(seconds, most) * 1e9)));
}

}  // namespace dmlconform::report
