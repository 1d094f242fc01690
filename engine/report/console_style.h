// Colours and durations of the console reports.
#pragma once

#include <fmt/color.h>

#include <chrono>
#include <string>
#include <string_view>

#include "engine/core/shown_text.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// Colours text, or leaves it as it is.
class ConsoleStyle {
public:
    explicit ConsoleStyle(bool colored) : colored_(colored) {}

    [[nodiscard]] core::ShownText paint(fmt::text_style style, const core::ShownText& text) const;
    [[nodiscard]] core::ShownText bold(const core::ShownText& text) const { return paint(fmt::emphasis::bold, text); }
    [[nodiscard]] core::ShownText faint(const core::ShownText& text) const { return paint(fmt::emphasis::faint, text); }
    /// In the colour of the status.
    [[nodiscard]] core::ShownText status(run::Status status, const core::ShownText& text) const;

private:
    bool colored_;
};

/// "12.3 ms": three significant digits in the largest unit that gives at least 1.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);
/// The same of seconds, as files of benchmarks have them: any positive number.
[[nodiscard]] std::string format_seconds(double seconds);

}  // namespace dmlconform::report
