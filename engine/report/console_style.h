// Colours and durations of the console reports.
#pragma once

#include <fmt/color.h>

#include <chrono>
#include <string>

#include "engine/core/shown_text.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// Adds colours to text, or returns it unchanged.
class ConsoleStyle {
public:
    explicit ConsoleStyle(bool colored) : colored_(colored) {}

    [[nodiscard]] core::ShownText paint(fmt::text_style style, const core::ShownText& text) const;
    [[nodiscard]] core::ShownText bold(const core::ShownText& text) const { return paint(fmt::emphasis::bold, text); }
    [[nodiscard]] core::ShownText faint(const core::ShownText& text) const { return paint(fmt::emphasis::faint, text); }
    /// Text in the colour of the status.
    [[nodiscard]] core::ShownText status(run::Status status, const core::ShownText& text) const;

private:
    bool colored_;
};

/// Three significant digits in the largest unit for which the number is at least 1: "12.3 ms".
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);
/// The same for seconds, which may be any positive number.
[[nodiscard]] std::string format_seconds(double seconds);

}  // namespace dmlconform::report
