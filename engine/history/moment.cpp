// Parses and formats a subset of ISO 8601.
#include "engine/history/moment.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/core/parse_number.h"

namespace dmlconform::history {
namespace {

using std::chrono::sys_days;

/// Removes two or four digits and the following separator from the front.
std::optional<int> take(std::string_view& text, std::size_t digits, char separator) {
    if (text.size() < digits + (separator != 0 ? 1 : 0) || (separator != 0 && text[digits] != separator)) {
        return std::nullopt;
    }
    const auto value = core::parse_number<int>(text.substr(0, digits));
    if (!value || *value < 0) {
        return std::nullopt;
    }
    text.remove_prefix(digits + (separator != 0 ? 1 : 0));
    return value;
}

/// The time zone in minutes east of Greenwich.
std::optional<int> parse_zone(std::string_view text) {
    if (text == "Z") {
        return 0;
    }
    if (text.size() != 6 || (text[0] != '+' && text[0] != '-')) {
        return std::nullopt;
    }
    const int sign = text[0] == '+' ? 1 : -1;
    text.remove_prefix(1);
    const auto hours = take(text, 2, ':');
    const auto minutes = take(text, 2, 0);
    if (!hours || !minutes || *hours > 23 || *minutes > 59) {
        return std::nullopt;
    }
    return sign * (60 * *hours + *minutes);
}

}  // namespace

std::optional<std::int64_t> parse_moment(std::string_view text) {
    const auto year = take(text, 4, '-');
    const auto month = year ? take(text, 2, '-') : std::nullopt;
    const auto day = month ? take(text, 2, 'T') : std::nullopt;
    const auto hour = day ? take(text, 2, ':') : std::nullopt;
    const auto minute = hour ? take(text, 2, ':') : std::nullopt;
    const auto second = minute ? take(text, 2, 0) : std::nullopt;
    const auto zone = second ? parse_zone(text) : std::nullopt;
    if (!zone || *hour > 23 || *minute > 59 || *second > 60) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) {
        return std::nullopt;
    }
    const std::int64_t days = sys_days(date).time_since_epoch().count();
    return ((days * 24 + *hour) * 60 + *minute - *zone) * 60 + *second;
}

std::string format_moment(std::int64_t seconds) {
    const std::chrono::sys_seconds moment{std::chrono::seconds(seconds)};
    const auto days = std::chrono::floor<std::chrono::days>(moment);
    const std::chrono::year_month_day date(days);
    const std::chrono::hh_mm_ss time(moment - days);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                       time.minutes().count(), time.seconds().count());
}

}  // namespace dmlconform::history
