// Reads and evaluates conditions on fields, with one function for each kind of field.
#include "engine/expectations/field_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/element.h"
#include "engine/core/glob.h"
#include "engine/core/utf8.h"
#include "engine/expectations/tensor_condition.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonValue;
using cases::ProblemSink;
using operators::Descriptor;
using operators::FieldType;
using operators::FieldValue;

/// Null if the operator lacks the field. For "Strides[1]", the field is Strides.
const FieldValue* value_of(const Descriptor& descriptor, const std::string& name) {
    const std::string field(operators::array_of(name));
    return descriptor.has_field(field) ? &descriptor.value(field) : nullptr;
}

bool is_array_of_numbers(FieldType type) {
    return type == FieldType::uint_array || type == FieldType::int_array || type == FieldType::float_array;
}

/// True for "[0]" to "[65535]" without leading zeros.
bool is_index(std::string_view text, std::size_t end) {
    std::size_t index = 0;
    const auto parsed = std::from_chars(text.data() + 1, text.data() + text.size(), index);
    return parsed.ec == std::errc() && index < end && text == fmt::format("[{}]", index);
}

std::optional<Condition> read_tensor(const JsonValue& value, const std::string& name, ProblemSink& problems) {
    const auto test = read_tensor_condition(value, name, problems);
    if (!test) {
        return std::nullopt;
    }
    const auto holds = [test = *test, name](CaseFacts& facts) {
        const bool has_field = facts.descriptor().schema->find_field(std::string(operators::array_of(name))) != nullptr;
        return has_field && test.holds(find_tensor(facts.descriptor(), name), facts);
    };
    return Condition{holds, test->values.has_value()};
}

/// Holds if the field is absent, which null in a condition means.
Condition absent(const std::string& name) {
    return {[name](CaseFacts& facts) {
                const FieldValue* const value = value_of(facts.descriptor(), name);
                return value != nullptr && std::holds_alternative<operators::Null>(*value);
            },
            false};
}

template <class T>
constexpr bool is_number_array = std::is_same_v<T, std::vector<std::uint32_t>> ||
                                 std::is_same_v<T, std::vector<std::int32_t>> || std::is_same_v<T, std::vector<float>>;

/// For an array, holds if it does for some entry, or for the one at the index.
bool any_number(const FieldValue& value, const NumberCondition& test, std::optional<std::size_t> index) {
    return std::visit(
        [&]<class T>(const T& content) {
            if constexpr (std::is_arithmetic_v<T>) {
                return test.holds(static_cast<double>(content));
            } else if constexpr (is_number_array<T>) {
                if (index) {
                    return *index < content.size() && test.holds(static_cast<double>(content[*index]));
                }
                return std::any_of(content.begin(), content.end(),
                                   [&](auto entry) { return test.holds(static_cast<double>(entry)); });
            } else {
                return false;
            }
        },
        value);
}

std::optional<Condition> read_number(const JsonValue& value, const std::string& name, const operators::Field& field,
                                     ProblemSink& problems) {
    auto test = read_number_condition(value, name, field.enumeration, problems);
    if (!test) {
        return std::nullopt;
    }
    return Condition{[test = std::move(*test), name, index = operators::index_in(name)](CaseFacts& facts) {
                         const FieldValue* const number = value_of(facts.descriptor(), name);
                         return number != nullptr && any_number(*number, test, index);
                     },
                     false};
}

std::optional<Condition> read_scalar(const JsonValue& value, const std::string& name, ProblemSink& problems) {
    auto test = read_number_condition(value, name, nullptr, problems);
    if (!test) {
        return std::nullopt;
    }
    return Condition{[test = std::move(*test), name](CaseFacts& facts) {
                         const FieldValue* const found = value_of(facts.descriptor(), name);
                         const auto* scalar = found == nullptr ? nullptr : std::get_if<operators::ScalarUnion>(found);
                         const auto type =
                             scalar == nullptr
                                 ? core::DataType::unknown
                                 : facts.descriptor().scalar_type(*facts.descriptor().schema->find_field(name));
                         return type != core::DataType::unknown && test.holds(core::decode_element(type, scalar->bits));
                     },
                     false};
}

/// Two numbers of a struct, each with a key.
template <class Struct, class Number>
std::optional<Condition> read_pair(const JsonValue& value, const std::string& name,
                                   const std::array<std::pair<std::string, Number Struct::*>, 2>& members,
                                   ProblemSink& problems) {
    if (value.object() == nullptr) {
        problems.add(value.offset, fmt::format("the test of {} must be null or an object with \"{}\" and \"{}\"; this "
                                               "is {}",
                                               name, members[0].first, members[1].first, value.kind_name()));
        return std::nullopt;
    }
    const std::array<std::string, 2> keys{members[0].first, members[1].first};
    cases::check_keys(value, keys, fmt::format("a test of {}", name), problems);
    std::vector<std::pair<Number Struct::*, NumberCondition>> tests;
    for (const auto& [key, member] : members) {
        if (const JsonValue* found = value.find(key)) {
            if (auto test = read_number_condition(*found, fmt::format("{}.{}", name, key), nullptr, problems)) {
                tests.emplace_back(member, std::move(*test));
            }
        }
    }
    return Condition{[tests, name](CaseFacts& facts) {
                         const FieldValue* const found = value_of(facts.descriptor(), name);
                         const auto* content = found == nullptr ? nullptr : std::get_if<Struct>(found);
                         return content != nullptr && std::all_of(tests.begin(), tests.end(), [&](const auto& test) {
                                    return test.second.holds(static_cast<double>(content->*(test.first)));
                                });
                     },
                     false};
}

/// Reads a condition on a fused activation, or on one of several, by a glob for its type.
std::optional<Condition> read_activation(const JsonValue& value, const std::string& name, ProblemSink& problems) {
    const std::string* const glob = value.string();
    if (glob == nullptr) {
        problems.add(value.offset, fmt::format("the test of {} must be null, or a glob of an operator's name; this is "
                                               "{}",
                                               name, value.kind_name()));
        return std::nullopt;
    }
    return Condition{
        [glob = *glob, name](CaseFacts& facts) {
            const auto matches = [&glob](const operators::OperatorDesc& fused) {
                return core::glob_matches(glob, fused->schema->short_name());
            };
            const FieldValue* const found = value_of(facts.descriptor(), name);
            if (const auto* fused = found == nullptr ? nullptr : std::get_if<operators::OperatorDesc>(found)) {
                return matches(*fused);
            }
            const auto* several = found == nullptr ? nullptr : std::get_if<operators::OperatorDescArray>(found);
            return several != nullptr && std::ranges::any_of(several->items, matches);
        },
        false};
}

}  // namespace

std::string problem_of_name(const std::string& name, const operators::Field& field) {
    constexpr std::size_t most_tensors = 65536;
    const std::size_t bracket = name.find('[');
    if (bracket == std::string::npos) {
        return field.type == FieldType::tensor_desc_array
                   ? fmt::format("{0} is an array: name one of its tensors, such as {0}[0]", field.name)
                   : "";
    }
    if (field.type != FieldType::tensor_desc_array && !is_array_of_numbers(field.type)) {
        return fmt::format("{} is not an array of tensors or numbers, and has no index", field.name);
    }
    const std::size_t end = is_array_of_numbers(field.type) ? core::max_dimension_count : most_tensors;
    return is_index(std::string_view(name).substr(bracket), end)
               ? ""
               : fmt::format("\"{}\" has no index from [0] to [{}]", core::shortened(name), end - 1);
}

std::string problem_of_single(const std::string& name, const operators::Field& field) {
    const bool whole = is_array_of_numbers(field.type) && name.find('[') == std::string::npos;
    return whole ? fmt::format("{0} is an array: name one of its numbers, such as {0}[0]", field.name)
                 : problem_of_name(name, field);
}

std::optional<double> number_of(const Descriptor& descriptor, const std::string& name) {
    const FieldValue* const value = value_of(descriptor, name);
    std::optional<double> number;
    if (value != nullptr) {
        std::visit(
            [&]<class T>(const T& content) {
                if constexpr (std::is_arithmetic_v<T>) {
                    number = static_cast<double>(content);
                } else if constexpr (is_number_array<T>) {
                    const auto index = operators::index_in(name);
                    if (index && *index < content.size()) {
                        number = static_cast<double>(content[*index]);
                    }
                }
            },
            *value);
    }
    return number;
}

TensorFact find_tensor(const Descriptor& descriptor, std::string_view name) {
    const auto inputs = descriptor.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].name == name) {
            return {inputs[i].desc, i};
        }
    }
    for (const operators::TensorSlot& output : descriptor.outputs()) {
        if (output.name == name) {
            return {output.desc, {}};
        }
    }
    return {};
}

std::optional<Condition> read_field_condition(const JsonValue& value, const std::string& name,
                                              const operators::Field& field, ProblemSink& problems) {
    switch (field.type) {
        case FieldType::tensor_desc:
        case FieldType::tensor_desc_array:
            return read_tensor(value, name, problems);
        default:
            break;
    }
    if (value.is_null()) {
        const bool never_absent =
            field.type == FieldType::uint || field.type == FieldType::int_ || field.type == FieldType::float_;
        if (never_absent || name.find('[') != std::string::npos) {
            problems.add(value.offset, fmt::format("{} is a number, and never absent", name));
            return std::nullopt;
        }
        return absent(name);
    }
    switch (field.type) {
        case FieldType::operator_desc:
        case FieldType::operator_desc_array:
            return read_activation(value, name, problems);
        case FieldType::scale_bias:
            return read_pair<operators::ScaleBias, float>(
                value, name, {{{"Scale", &operators::ScaleBias::scale}, {"Bias", &operators::ScaleBias::bias}}},
                problems);
        case FieldType::size_2d:
            return read_pair<operators::Size2D, std::uint32_t>(
                value, name, {{{"Width", &operators::Size2D::width}, {"Height", &operators::Size2D::height}}},
                problems);
        case FieldType::scalar_union:
            return read_scalar(value, name, problems);
        default:
            return read_number(value, name, field, problems);
    }
}

}  // namespace dmlconform::expectations
