// Reads and evaluates conditions on numbers.
#include "engine/expectations/number_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/cases/element_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/utf8.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonValue;
using cases::ProblemSink;

class NumberReader {
public:
    NumberReader(std::string_view name, const operators::Enumeration* enumeration, ProblemSink& problems)
        : name_(name), enumeration_(enumeration), problems_(problems) {}

    NumberCondition read(const JsonValue& value) {
        NumberCondition test;
        if (value.array() == nullptr) {
            test.any_of.push_back(read_one(value));
            return test;
        }
        if (value.array()->empty()) {
            problems_.add(value.offset, fmt::format("{} is one of nothing", name_));
        }
        for (const JsonValue& item : *value.array()) {
            test.any_of.push_back(read_one(item));
        }
        return test;
    }

private:
    NumberBounds read_one(const JsonValue& value) {
        if (value.object() != nullptr) {
            return read_bounds(value);
        }
        NumberBounds bounds;
        bounds.equals = read_number(value, name_);
        return bounds;
    }

    std::optional<double> read_number(const JsonValue& value, std::string_view what) {
        if (const auto number = cases::number_of(value)) {
            return number;
        }
        if (enumeration_ != nullptr && value.boolean() != nullptr) {
            return *value.boolean() ? 1 : 0;
        }
        if (enumeration_ != nullptr && value.string() != nullptr) {
            if (const auto parsed = enumeration_->parse(*value.string())) {
                return *parsed;
            }
            problems_.add(value.offset, fmt::format("\"{}\" is not a value of {}", core::shortened(*value.string()),
                                                    enumeration_->name));
            return std::nullopt;
        }
        problems_.add(value.offset, fmt::format("{} must be a number; this is {}", what, value.kind_name()));
        return std::nullopt;
    }

    NumberBounds read_bounds(const JsonValue& value) {
        static const std::array<std::string, 12> keys{"atLeast",    "atMost",      "above",     "below",
                                                      "multipleOf", "nan",         "infinite",  "negative",
                                                      "integer",    "fromInteger", "magnitude", "not"};
        cases::check_keys(value, keys, fmt::format("a test of {}", name_), problems_);
        if (value.object()->empty()) {
            problems_.add(value.offset, fmt::format("the test of {} has no bounds", name_));
        }
        NumberBounds bounds;
        for (const auto& [key, bound] : {std::pair{"atLeast", &bounds.at_least}, std::pair{"atMost", &bounds.at_most},
                                         std::pair{"above", &bounds.above}, std::pair{"below", &bounds.below},
                                         std::pair{"fromInteger", &bounds.from_integer}}) {
            if (const JsonValue* found = value.find(key)) {
                *bound = read_number(*found, fmt::format("\"{}\"", key));
            }
        }
        for (const auto& [key, flag] :
             {std::pair{"nan", &bounds.nan}, std::pair{"infinite", &bounds.infinite},
              std::pair{"negative", &bounds.negative}, std::pair{"integer", &bounds.integer}}) {
            if (const JsonValue* found = value.find(key)) {
                *flag = read_flag(*found, key);
            }
        }
        if (const JsonValue* found = value.find("multipleOf")) {
            bounds.multiple_of = cases::read_unsigned(*found, "\"multipleOf\"", UINT32_MAX, problems_);
            if (bounds.multiple_of == 0) {
                problems_.add(found->offset, "nothing but 0 is a multiple of 0");
            }
        }
        if (const JsonValue* found = value.find("magnitude")) {
            bounds.magnitude = read(*found);
        }
        if (const JsonValue* found = value.find("not")) {
            bounds.is_not = read(*found);
        }
        if (is_empty(bounds)) {
            problems_.add(value.offset, fmt::format("no number passes the test of {}: it contradicts itself", name_));
        }
        return bounds;
    }

    /// Considers only bounds and flags.
    static bool is_empty(const NumberBounds& bounds) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double low = std::max(bounds.at_least.value_or(-infinity), bounds.above.value_or(-infinity));
        const double high = std::min(bounds.at_most.value_or(infinity), bounds.below.value_or(infinity));
        const bool open = bounds.above == low || bounds.below == high;
        const bool bounded = bounds.at_least || bounds.at_most || bounds.above || bounds.below;
        return std::isnan(low) || std::isnan(high) || low > high || (low == high && open) ||
               (bounds.nan == true && (bounded || bounds.infinite == true || bounds.integer == true)) ||
               bounds.from_integer.value_or(0) < 0;
    }

    std::optional<bool> read_flag(const JsonValue& value, const char* key) {
        if (value.boolean() == nullptr) {
            problems_.add(value.offset,
                          fmt::format("\"{}\" must be true or false; this is {}", key, value.kind_name()));
            return std::nullopt;
        }
        return *value.boolean();
    }

    std::string_view name_;
    const operators::Enumeration* enumeration_;
    ProblemSink& problems_;
};

}  // namespace

bool NumberCondition::holds(double value) const {
    return std::any_of(any_of.begin(), any_of.end(), [&](const NumberBounds& bounds) { return bounds.holds(value); });
}

bool NumberBounds::holds(double value) const {
    const auto is = [](const std::optional<bool>& wanted, bool actual) { return !wanted || *wanted == actual; };
    return (!equals || value == *equals) && (!at_least || value >= *at_least) && (!at_most || value <= *at_most) &&
           (!above || value > *above) && (!below || value < *below) &&
           (!multiple_of || std::fmod(value, static_cast<double>(*multiple_of)) == 0) && is(nan, std::isnan(value)) &&
           is(infinite, std::isinf(value)) && is(negative, std::signbit(value)) &&
           is(integer, std::trunc(value) == value) &&
           (!from_integer || std::fabs(value - std::nearbyint(value)) <= *from_integer * std::fabs(value)) &&
           (!magnitude || magnitude->holds(std::fabs(value))) && (!is_not || !is_not->holds(value));
}

std::optional<NumberCondition> read_number_condition(const JsonValue& value, std::string_view name,
                                                     const operators::Enumeration* enumeration, ProblemSink& problems) {
    const std::size_t before = problems.count();
    NumberCondition test = NumberReader(name, enumeration, problems).read(value);
    return problems.count() == before ? std::optional(std::move(test)) : std::nullopt;
}

}  // namespace dmlconform::expectations
