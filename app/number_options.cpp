// Parses the numbers and sizes of options.
#include "app/number_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/ascii_case.h"
#include "engine/core/checked.h"
#include "engine/core/parse_number.h"

namespace dmlconform::app {
namespace {

/// The power of 1024 for a unit; empty for an unknown unit.
std::optional<unsigned> power_of(std::string_view unit) {
    constexpr std::string_view letters = "KMGTPE";
    const auto upper = [](char c) { return core::upper_case(c); };
    if (unit.empty() || (unit.size() == 1 && upper(unit[0]) == 'B')) {
        return 0;
    }
    const std::size_t power = letters.find(upper(unit[0]));
    unit.remove_prefix(1);
    if (!unit.empty() && upper(unit[0]) == 'I') {
        unit.remove_prefix(1);
        if (unit.empty()) {
            return std::nullopt;
        }
    }
    const bool good = power != std::string_view::npos && (unit.empty() || (unit.size() == 1 && upper(unit[0]) == 'B'));
    return good ? std::optional(static_cast<unsigned>(power + 1)) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
    return core::parse_number<std::uint64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
    const auto value = core::parse_number<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto count = parse_whole_number(text.substr(0, digits));
    const auto power = power_of(text.substr(digits));
    return count && power ? core::checked_multiply(*count, std::uint64_t{1} << (10 * *power)) : std::nullopt;
}

ValueRule whole_number(std::uint64_t least, std::uint64_t most) {
    return {[least, most](std::string& text) {
                const auto value = parse_whole_number(text);
                if (!value || *value < least || *value > most) {
                    return fmt::format("\"{}\" must be a whole number from {} to {}", text, least, most);
                }
                text = fmt::to_string(*value);  // CLI11 parses it again, and would read a leading 0 as octal
                return std::string();
            },
            fmt::format("{} to {}", least, most)};
}

ValueRule number(double least, double most) {
    return {[least, most](std::string& text) {
                const auto value = parse_number(text);
                return value && *value >= least && *value <= most
                           ? std::string()
                           : fmt::format("\"{}\" must be a number from {} to {}", text, least, most);
            },
            fmt::format("{} to {}", least, most)};
}

ValueRule size_in_bytes() {
    return {[](std::string& text) {
                const auto value = parse_size(text);
                if (!value) {
                    return fmt::format("\"{}\" is not a size: write a number of bytes, or 64K, 256M, 2G, …", text);
                }
                text = fmt::to_string(*value);
                return std::string();
            },
            ""};
}

}  // namespace dmlconform::app
