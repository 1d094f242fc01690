// Evaluates conditions that must hold for the same dimension of several fields.
#include "engine/expectations/dimension_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "engine/core/utf8.h"
#include "engine/expectations/field_condition.h"
#include "engine/expectations/number_condition.h"
#include "engine/expectations/tensor_condition.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonValue;
using cases::ProblemSink;

struct DimensionTests {
    std::vector<std::pair<std::string, NumberCondition>> numbers;
    std::vector<std::array<std::string, 2>> different;
    /// The number of the first is less than that of the second.
    std::vector<std::array<std::string, 2>> less;
    /// Tests that must hold for some dimension before this one, or for some dimension after it.
    std::vector<DimensionTests> before;
    std::vector<DimensionTests> after;
};

/// Empty if there is no such dimension.
std::optional<double> along(const operators::Descriptor& descriptor, const std::string& name, std::size_t dimension) {
    if (const core::TensorDesc* const desc = find_tensor(descriptor, name).desc) {
        return dimension < desc->sizes.size() ? std::optional<double>(desc->sizes[dimension]) : std::nullopt;
    }
    return number_of(descriptor, fmt::format("{}[{}]", name, dimension));
}

bool holds_within(const DimensionTests& tests, const operators::Descriptor& descriptor, std::size_t first,
                  std::size_t end);

bool holds_for(const DimensionTests& tests, const operators::Descriptor& descriptor, std::size_t dimension) {
    const auto number_holds = [&](const auto& entry) {
        const auto number = along(descriptor, entry.first, dimension);
        return number && entry.second.holds(*number);
    };
    const auto compare = [&](const auto& names, const auto& compare_numbers) {
        const auto a = along(descriptor, names[0], dimension);
        const auto b = along(descriptor, names[1], dimension);
        return a && b && compare_numbers(*a, *b);
    };
    const auto differ = [&](const auto& names) { return compare(names, std::not_equal_to<>()); };
    const auto is_less = [&](const auto& names) { return compare(names, std::less<>()); };
    return std::all_of(tests.numbers.begin(), tests.numbers.end(), number_holds) &&
           std::all_of(tests.different.begin(), tests.different.end(), differ) &&
           std::all_of(tests.less.begin(), tests.less.end(), is_less) &&
           std::ranges::all_of(tests.before,
                               [&](const auto& other) { return holds_within(other, descriptor, 0, dimension); }) &&
           std::ranges::all_of(tests.after, [&](const auto& other) {
               return holds_within(other, descriptor, dimension + 1, core::max_dimension_count);
           });
}

/// True if the tests hold for some dimension from `first` on and before `end`.
bool holds_within(const DimensionTests& tests, const operators::Descriptor& descriptor, std::size_t first,
                  std::size_t end) {
    bool holds = false;
    for (std::size_t dimension = first; dimension < end && !holds; ++dimension) {
        holds = holds_for(tests, descriptor, dimension);
    }
    return holds;
}

class DimensionReader {
public:
    DimensionReader(const FindField& find_field, ProblemSink& problems)
        : find_field_(find_field), problems_(problems) {}

    std::optional<DimensionTests> read(const JsonValue& value) {
        if (value.object() == nullptr || value.object()->empty()) {
            problems_.add(value.offset, "\"someDimension\" must be an object of tests",
                          R"(for example { "Strides": 1, "different": ["OutputTensor", "WindowSizes"] })");
            return std::nullopt;
        }
        DimensionTests tests;
        for (const cases::JsonMember& member : *value.object()) {
            const bool fits = member.key == "different" ? read_two(member.value, tests.different)
                              : member.key == "less"    ? read_two(member.value, tests.less)
                              : member.key == "before"  ? read_other(member.value, tests.before)
                              : member.key == "after"   ? read_other(member.value, tests.after)
                                                        : read_number(member, tests);
            if (!fits) {
                return std::nullopt;
            }
        }
        return tests;
    }

private:
    bool read_other(const JsonValue& value, std::vector<DimensionTests>& tests) {
        auto other = read(value);
        if (other) {
            tests.push_back(std::move(*other));
        }
        return other.has_value();
    }

    bool has_dimensions(const std::string& name) const {
        const operators::Field* const field = find_field_(name);
        if (field == nullptr || (field->is_tensor() && !problem_of_single(name, *field).empty())) {
            return false;
        }
        const bool lists_numbers = field->type == operators::FieldType::uint_array ||
                                   field->type == operators::FieldType::int_array ||
                                   field->type == operators::FieldType::float_array;
        return field->is_tensor() || (lists_numbers && field->name == name);
    }

    bool read_number(const cases::JsonMember& member, DimensionTests& tests) {
        if (!has_dimensions(member.key)) {
            problems_.add(member.key_offset,
                          fmt::format("\"{}\" is neither a tensor nor an array of the operators of this entry",
                                      core::shortened(member.key)));
            return false;
        }
        auto test = read_number_condition(member.value, member.key, nullptr, problems_);
        if (test) {
            tests.numbers.emplace_back(member.key, std::move(*test));
        }
        return test.has_value();
    }

    bool read_two(const JsonValue& value, std::vector<std::array<std::string, 2>>& pairs) {
        const auto* names = value.array();
        std::array<std::string, 2> two;
        bool fits = names != nullptr && names->size() == two.size();
        for (std::size_t i = 0; fits && i < two.size(); ++i) {
            const std::string* const name = (*names)[i].string();
            fits = name != nullptr && has_dimensions(*name);
            two[i] = fits ? *name : std::string();
        }
        if (!fits) {
            problems_.add(value.offset, "two tensors or arrays of the operators of this entry have to be named here");
            return false;
        }
        pairs.push_back(std::move(two));
        return true;
    }

    const FindField& find_field_;
    ProblemSink& problems_;
};

}  // namespace

std::optional<Condition> read_dimension_condition(const JsonValue& value, const FindField& find_field,
                                                  ProblemSink& problems) {
    auto tests = DimensionReader(find_field, problems).read(value);
    if (!tests) {
        return std::nullopt;
    }
    return Condition{[tests = std::move(*tests)](CaseFacts& facts) {
                         return holds_within(tests, facts.descriptor(), 0, core::max_dimension_count);
                     },
                     false};
}

}  // namespace dmlconform::expectations
