// Colours and durations of the console reports.
#pragma once

#include <fmt/color.h>

#include <chrono>
#include <string>
#include <string_view>

#include "engine/run/result.h"

namespace dmlconform::report {

/// Colours text, or leaves it as it is.
class ConsoleStyle {
public:
    explicit ConsoleStyle(bool colored) : colored_(colored) {}

    [[nodiscard]] std::string paint(fmt::text_style style, std::string_view text) const;
    [[nodiscard]] std::string bold(std::string_view text) const { return paint(fmt::emphasis::bold, text); }
    [[nodiscard]] std::string faint(std::string_view text) const { return paint(fmt::emphasis::faint, text); }
    /// In the colour of the status.
    [[nodiscard]] std::string status(run::Status status, std::string_view text) const;

private:
    bool colored_;
};

/// "12.3 ms": three significant digits in the largest unit that gives at least 1.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace dmlconform::report
