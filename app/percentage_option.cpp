// Parses percentages.
#include "app/percentage_option.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "app/number_options.h"

namespace dmlconform::app {
namespace {

constexpr double most_percent = 1000;

/// Converts "5%" or "5" to a share of 1. Empty for other texts.
std::optional<double> parse_percentage(std::string_view text) {
    if (text.ends_with('%')) {
        text.remove_suffix(1);
    }
    const auto percent = parse_number(text);
    return percent && *percent >= 0 && *percent <= most_percent ? std::optional(*percent / 100) : std::nullopt;
}

}  // namespace

void add_percentage(Command command, const std::string& name, double& share, const std::string& purpose) {
    command
        .add_text_option(
            name,
            [name, &share](const std::string& text) {
                const auto read = parse_percentage(text);
                if (!read) {
                    throw_wrong_value(name, fmt::format("{}: a percentage from 0 to {} is needed, for example 5%", text,
                                                        most_percent));
                }
                share = *read;
            },
            fmt::format("{}. Default: {:g}%", purpose, 100 * share))
        .type_name("PERCENT");
}

}  // namespace dmlconform::app
