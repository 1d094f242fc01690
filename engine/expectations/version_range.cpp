// Parses and compares versions.
#include "engine/expectations/version_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "engine/core/utf8.h"

namespace dmlconform::expectations {
namespace {

constexpr std::string_view digits = "0123456789";

/// Parses "22.3.6" without any other text.
std::optional<Version> parse_version(std::string_view text) {
    Version version;
    while (true) {
        std::uint64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc()) {
            return std::nullopt;
        }
        version.push_back(number);
        if (rest == end) {
            return version;
        }
        if (*rest != '.') {
            return std::nullopt;
        }
        text.remove_prefix(static_cast<std::size_t>(rest - text.data()) + 1);
    }
}

}  // namespace

std::optional<Version> find_version(std::string_view text) {
    std::size_t start = text.find_first_of(digits);
    while (start != std::string_view::npos) {
        std::size_t end = start;
        bool dotted = false;
        while (true) {
            end = std::min(text.find_first_not_of(digits, end), text.size());
            const bool more =
                end + 1 < text.size() && text[end] == '.' && digits.find(text[end + 1]) != std::string_view::npos;
            if (!more) {
                break;
            }
            dotted = true;
            ++end;
        }
        if (dotted) {
            return parse_version(text.substr(start, end - start));
        }
        start = text.find_first_of(digits, end);
    }
    return std::nullopt;
}

core::Result<VersionRange> VersionRange::parse(std::string_view text) {
    // Longer ones first, because ">=" begins with ">".
    static const std::array<std::pair<std::string_view, Relation>, 5> relations{{{">=", Relation::greater_or_equal},
                                                                                 {"<=", Relation::less_or_equal},
                                                                                 {">", Relation::greater},
                                                                                 {"<", Relation::less},
                                                                                 {"=", Relation::equal}}};
    constexpr std::string_view separators = " ,";
    VersionRange range;
    for (std::size_t at = text.find_first_not_of(separators); at != std::string_view::npos;
         at = text.find_first_not_of(separators, at)) {
        Bound bound;
        for (const auto& [sign, relation] : relations) {
            if (text.substr(at).starts_with(sign)) {
                bound.relation = relation;
                // "< 24.1" is accepted, too.
                at = std::min(text.find_first_not_of(' ', at + sign.size()), text.size());
                break;
            }
        }
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        const auto version = parse_version(text.substr(at, end - at));
        if (!version) {
            return core::fail(fmt::format("\"{}\" is not a version", core::shortened(text.substr(at, end - at))),
                              "a range is \">=22.3 <24.1\", for example, or \"22.3\" for 22.3 and all 22.3.x");
        }
        bound.version = *version;
        range.bounds_.push_back(std::move(bound));
        at = end;
    }
    if (range.bounds_.empty()) {
        return core::fail("the range is empty", "leave it out to mean every version");
    }
    if (!range.contains_any()) {
        return core::fail(fmt::format("no version is \"{}\"", core::shortened(text)),
                          "the bounds contradict each other");
    }
    return range;
}

bool VersionRange::contains_any() const {
    // If the range is not empty, its minimum is 0, a bound, or the version after a bound.
    return contains({0}) || std::any_of(bounds_.begin(), bounds_.end(), [&](const Bound& bound) {
               Version next = bound.version;
               ++next.back();
               return contains(bound.version) || contains(next);
           });
}

bool VersionRange::contains(const Version& version) const {
    return std::all_of(bounds_.begin(), bounds_.end(), [&](const Bound& bound) {
        Version compared = version;
        compared.resize(bound.version.size());
        const auto order = compared <=> bound.version;
        switch (bound.relation) {
            case Relation::less:
                return order < 0;
            case Relation::less_or_equal:
                return order <= 0;
            case Relation::greater:
                return order > 0;
            case Relation::greater_or_equal:
                return order >= 0;
            default:
                return order == 0;
        }
    });
}

}  // namespace dmlconform::expectations
