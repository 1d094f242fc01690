// A table of Google Benchmark's options, each with the kind of its values.
#include "app/google_benchmark_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <regex>
#include <string_view>

#include "app/number_options.h"
#include "engine/cases/problems.h"
#include "engine/core/utf8.h"

namespace dmlconform::app {
namespace {

enum class Value { truth, seconds, count, color, format, unit, expression, pairs, text };

struct KnownOption {
    std::string_view name;
    Value value;
};

constexpr std::string_view prefix = "--benchmark_";

constexpr std::array<KnownOption, 16> options{{{"list_tests", Value::truth},
                                               {"filter", Value::expression},
                                               {"min_time", Value::seconds},
                                               {"min_warmup_time", Value::seconds},
                                               {"repetitions", Value::count},
                                               {"enable_random_interleaving", Value::truth},
                                               {"report_aggregates_only", Value::truth},
                                               {"display_aggregates_only", Value::truth},
                                               {"format", Value::format},
                                               {"out", Value::text},
                                               {"out_format", Value::format},
                                               {"color", Value::color},
                                               {"counters_tabular", Value::truth},
                                               {"perf_counters", Value::text},
                                               {"context", Value::pairs},
                                               {"time_unit", Value::unit}}};

constexpr double most_seconds = 1'000'000;
constexpr std::uint64_t most_repetitions = 100'000;

/// Limit for regular expressions: they are parsed recursively, so a long one could crash the program.
constexpr std::size_t longest_expression = 1000;

bool is_one_of(const std::string& text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_truth(const std::string& text) {
    return is_one_of(text, {"true", "false", "yes", "no", "on", "off", "1", "0"});
}

bool is_expression(const std::string& text) {
    if (text.size() > longest_expression) {
        return false;
    }
    try {
        // Like Google Benchmark, which treats a leading "-" as negation.
        std::regex(text.starts_with('-') ? text.substr(1) : text, std::regex::extended);
        return true;
    } catch (const std::regex_error&) {
        return false;
    }
}

/// True for "name=value,name=value". Google Benchmark silently ignores other texts.
bool are_pairs(std::string_view text) {
    while (!text.empty()) {
        const std::string_view pair = text.substr(0, text.find(','));
        if (pair.find('=') == std::string_view::npos || pair.find('=') != pair.rfind('=')) {
            return false;
        }
        text.remove_prefix(std::min(pair.size() + 1, text.size()));
    }
    return true;
}

/// Newer versions want an "s" after seconds, which older ones reject; both accept a plain number.
std::string without_unit(std::string text, Value kind) {
    if (kind == Value::seconds && text.ends_with('s')) {
        text.pop_back();
    }
    return text;
}

/// What the value must be; empty if it is valid.
std::string wanted(Value kind, const std::string& text) {
    switch (kind) {
        case Value::truth:
            return is_truth(text) ? "" : "true or false";
        case Value::seconds: {
            const auto seconds = parse_number(text);
            return seconds && *seconds >= 0 && *seconds <= most_seconds
                       ? ""
                       : fmt::format("a number of seconds from 0 to {}", most_seconds);
        }
        case Value::count: {
            const auto count = parse_whole_number(text);
            return count && *count >= 1 && *count <= most_repetitions
                       ? ""
                       : fmt::format("a whole number from 1 to {}", most_repetitions);
        }
        case Value::color:
            return text == "auto" || is_truth(text) ? "" : "auto, true or false";
        case Value::format:
            return is_one_of(text, {"console", "json", "csv"}) ? "" : "console, json or csv";
        case Value::unit:
            return is_one_of(text, {"ns", "us", "ms", "s"}) ? "" : "ns, us, ms or s";
        case Value::expression:
            return is_expression(text) ? ""
                                       : fmt::format("a regular expression of at most {} bytes", longest_expression);
        case Value::pairs:
            return are_pairs(text) ? "" : "NAME=VALUE, or several of these with commas between them";
        case Value::text:
            break;
    }
    return "";
}

core::Error unknown(const std::string& name) {
    std::vector<std::string> names;
    for (const KnownOption& option : options) {
        names.push_back(std::string(prefix) + std::string(option.name));
    }
    const std::string meant = cases::suggestion(name, names);
    return {fmt::format("bench has no option {}", name),
            meant.empty() ? "`dmlconform bench --help` lists its options" : meant};
}

}  // namespace

core::Result<std::string> google_benchmark_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto option = std::find_if(options.begin(), options.end(), [&](const KnownOption& known) {
        return name.starts_with(prefix) && name.substr(prefix.size()) == known.name;
    });
    if (option == options.end()) {
        return tl::unexpected(unknown(name));
    }
    if (equals == std::string::npos) {
        return option->value == Value::truth
                   ? core::Result<std::string>(word)
                   : core::fail(fmt::format("{} needs a value", name), fmt::format("{}=VALUE, without a blank", name));
    }
    const std::string value = without_unit(word.substr(equals + 1), option->value);
    if (const std::string what = wanted(option->value, value); !what.empty()) {
        return core::fail(fmt::format("{}: \"{}\" must be {}", name, core::shortened(word.substr(equals + 1)), what));
    }
    return name + "=" + value;
}

core::Result<std::vector<std::string>> google_benchmark_options(const std::vector<std::string>& words) {
    std::vector<std::string> read;
    for (const std::string& word : words) {
        auto option = google_benchmark_option(word);
        if (!option) {
            return tl::unexpected(std::move(option.error()));
        }
        read.push_back(std::move(*option));
    }
    return read;
}

}  // namespace dmlconform::app
