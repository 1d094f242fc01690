// Names, dates, and whether an expectation speaks of an engine.
#include "engine/expectations/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/core/glob.h"

namespace dmlconform::expectations {
namespace {

constexpr std::array<const char*, expected_count> names{"fail", "error", "crash", "timeout", "skip", "flake"};

std::string lower_case(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return lower;
}

bool is_within(const std::optional<VersionRange>& range, std::string_view text) {
    if (!range) {
        return true;
    }
    const auto version = find_version(text);
    return version && range->contains(*version);
}

std::optional<unsigned> number(std::string_view text) {
    unsigned value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

}  // namespace

const char* to_string(Expected expected) {
    return names[static_cast<std::size_t>(expected)];
}

std::optional<Expected> parse_expected(std::string_view text) {
    const auto found = std::find(names.begin(), names.end(), text);
    return found == names.end() ? std::nullopt : std::optional(static_cast<Expected>(found - names.begin()));
}

Date today() {
    return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::optional<Date> parse_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return std::nullopt;
    }
    const auto year = number(text.substr(0, 4));
    const auto month = number(text.substr(5, 2));
    const auto day = number(text.substr(8, 2));
    if (!year || !month || !day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                           std::chrono::day(*day)};
    return date.ok() ? std::optional<Date>(date) : std::nullopt;
}

std::string to_string(Date date) {
    const std::chrono::year_month_day parts(date);
    return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(parts.year()), static_cast<unsigned>(parts.month()),
                       static_cast<unsigned>(parts.day()));
}

bool Expectation::concerns(const EngineInfo& engine_info) const {
    const auto has_library = [&](const auto& wanted) {
        return std::any_of(engine_info.libraries.begin(), engine_info.libraries.end(), [&](const auto& library) {
            return library.first == wanted.first && is_within(std::optional(wanted.second), library.second);
        });
    };
    return core::glob_matches(engine, engine_info.name) &&
           core::glob_matches(lower_case("*" + adapter + "*"), lower_case(engine_info.adapter)) &&
           is_within(driver, engine_info.driver) && std::all_of(libraries.begin(), libraries.end(), has_library);
}

std::string Expectation::place() const {
    return fmt::format("{}:{}", file, line);
}

}  // namespace dmlconform::expectations
