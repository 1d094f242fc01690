// Names and dates, and whether an expectation applies to an engine or a case.
#include "engine/expectations/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/core/ascii_case.h"
#include "engine/core/glob.h"
#include "engine/core/parse_number.h"

namespace dmlconform::expectations {
namespace {

constexpr std::array<const char*, expected_count> names{"fail", "error", "crash", "timeout", "skip", "flake"};

constexpr std::array<const char*, happening_count> happening_names{"",        "rejected",  "accepted",
                                                                   "differs", "precision", "unwritten"};

bool matches_any(const std::vector<std::string>& globs, std::string_view text) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return core::glob_matches(glob, text); });
}

bool is_within(const std::optional<VersionRange>& range, std::string_view text) {
    if (!range) {
        return true;
    }
    const auto version = find_version(text);
    return version && range->contains(*version);
}

}  // namespace

const char* to_string(Expected expected) {
    return names[static_cast<std::size_t>(expected)];
}

std::optional<Expected> parse_expected(std::string_view text) {
    const auto found = std::find(names.begin(), names.end(), text);
    return found == names.end() ? std::nullopt : std::optional(static_cast<Expected>(found - names.begin()));
}

const char* to_string(Happening happening) {
    return happening_names[static_cast<std::size_t>(happening)];
}

std::optional<Happening> parse_happening(std::string_view text) {
    const auto found = std::find(happening_names.begin() + 1, happening_names.end(), text);
    return found == happening_names.end() ? std::nullopt
                                          : std::optional(static_cast<Happening>(found - happening_names.begin()));
}

Date today() {
    return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::optional<Date> parse_date(std::string_view text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return std::nullopt;
    }
    const auto year = core::parse_number<unsigned>(text.substr(0, 4));
    const auto month = core::parse_number<unsigned>(text.substr(5, 2));
    const auto day = core::parse_number<unsigned>(text.substr(8, 2));
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
           core::glob_matches(core::lower_case("*" + adapter + "*"), core::lower_case(engine_info.adapter)) &&
           is_within(driver, engine_info.driver) && std::all_of(libraries.begin(), libraries.end(), has_library);
}

bool Expectation::meets(const std::string& id, CaseFacts& facts) const {
    // A case that must be rejected cannot be rejected wrongly, and cannot differ. But DirectML can crash on it.
    const bool fits =
        !cases.empty() || expected == Expected::crash || facts.has_to_be_rejected() == (happens == Happening::accepted);
    return fits && (cases.empty() || matches_any(cases, id)) &&
           (operators.empty() || matches_any(operators, facts.descriptor().schema->short_name())) &&
           (!when || when->holds(facts));
}

bool Expectation::means_some_element(CaseFacts& facts) const {
    return !elements || elements->holds_somewhere(facts);
}

bool Expectation::is_about(std::string_view operator_name) const {
    return cases.empty() && matches_any(operators, operator_name);
}

std::string Expectation::what_is_done() const {
    std::string who = engine;
    std::erase(who, '*');
    who = fmt::format("{}{}", who.empty() ? "an engine" : who, sometimes ? " sometimes" : "");
    switch (expected) {
        case Expected::error:
            return who + " fails to run it";
        case Expected::crash:
            return who + " crashes";
        case Expected::timeout:
            return who + " does not answer in time";
        default:
            break;
    }
    switch (happens) {
        case Happening::rejected:
            return who + " rejects it";
        case Happening::accepted:
            return who + " accepts it";
        case Happening::precision:
            return who + " computes less precisely";
        case Happening::unwritten:
            return who + " does not write all of its output";
        default:
            return who + " computes something else";
    }
}

bool Expectation::forbids_a_pass() const {
    return expected != Expected::skip && expected != Expected::flake && !sometimes;
}

std::string Expectation::title() const {
    return finding.empty() ? reason : fmt::format("{}: {}", finding, reason);
}

std::string Expectation::location() const {
    return fmt::format("{}:{}", file, line);
}

}  // namespace dmlconform::expectations
