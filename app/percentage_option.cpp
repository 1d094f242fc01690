// Reading of percentages.
#include "app/percentage_option.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace dmlconform::app {
namespace {

constexpr double most_percent = 1000;

/// "5%" or "5", as a part of 1. Nothing for what is not a percentage.
std::optional<double> parse_percentage(std::string_view text) {
    if (text.ends_with('%')) {
        text.remove_suffix(1);
    }
    double percent = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    // A comparison with NaN is false.
    const bool right = error == std::errc() && stop == end && percent >= 0 && percent <= most_percent;
    return right ? std::optional(percent / 100) : std::nullopt;
}

}  // namespace

void add_percentage(CLI::App& command, const std::string& name, double& share, const std::string& purpose) {
    command
        .add_option_function<std::string>(
            name,
            [name, &share](const std::string& text) {
                const auto read = parse_percentage(text);
                if (!read) {
                    throw CLI::ValidationError(
                        name,
                        fmt::format("{}: a percentage from 0 to {} is needed, for example 5%", text, most_percent));
                }
                share = *read;
            },
            fmt::format("{}. Default: {:g}%", purpose, 100 * share))
        ->type_name("PERCENT");
}

}  // namespace dmlconform::app
