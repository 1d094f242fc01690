// Reads changes of fields, and applies them.
#include "engine/expectations/field_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include "engine/cases/element_reader.h"
#include "engine/core/element.h"
#include "engine/core/floating_format.h"
#include "engine/core/utf8.h"
#include "engine/expectations/field_condition.h"
#include "engine/operators/rules.h"

namespace dmlconform::expectations {
namespace {

using cases::JsonMember;
using cases::JsonValue;
using operators::Descriptor;
using operators::FieldType;
using operators::FieldValue;
using Schemas = std::span<const operators::OperatorSchema* const>;

/// Rules whose descriptors the references compute nevertheless. A convolution has as many results as its output has
/// elements along a dimension, and what a filter sees beyond the input is padding.
constexpr std::string_view computable_rules[] = {
    "QUANTIZED_LINEAR_CONVOLUTION.filterFits",
    "QUANTIZED_LINEAR_CONVOLUTION.outputSize",
};

const operators::Field* find_field(Schemas operators, const std::string& name) {
    for (const operators::OperatorSchema* const schema : operators) {
        if (const auto* const field = schema->find_field(name)) {
            return field;
        }
    }
    return nullptr;
}

bool holds_numbers(FieldType type) {
    return type == FieldType::uint || type == FieldType::int_ || type == FieldType::float_ ||
           type == FieldType::uint_array || type == FieldType::int_array || type == FieldType::float_array;
}

/// The number that the value is for the field. Empty if it is none.
std::optional<double> number_for(const operators::Field& field, const JsonValue& value) {
    if (!holds_numbers(field.type)) {
        return std::nullopt;
    }
    if (field.enumeration != nullptr && value.boolean() != nullptr) {
        return *value.boolean() ? 1 : 0;
    }
    if (field.enumeration != nullptr && value.string() != nullptr) {
        const auto parsed = field.enumeration->parse(*value.string());
        return parsed ? std::optional<double>(*parsed) : std::nullopt;
    }
    return cases::number_of(value);
}

/// { "atLeast": -1 }, for an input.
std::optional<FieldChange> read_bound(const JsonMember& member, const operators::Field& field) {
    const auto* const object = member.value.object();
    const JsonValue* const bound = member.value.find("atLeast");
    const auto number = bound == nullptr ? std::nullopt : cases::number_of(*bound);
    const bool fits = field.kind == operators::FieldKind::input && number && object->size() == 1;
    return fits ? std::optional(FieldChange{member.key, AtLeast{*number}}) : std::nullopt;
}

/// "StartPadding[1]": 0.
std::optional<FieldChange> read_entry(const JsonMember& member, const operators::Field& field) {
    const auto number = number_for(field, member.value);
    return number ? std::optional(FieldChange{member.key, *number}) : std::nullopt;
}

std::optional<FieldChange> read_change(const JsonMember& member, Schemas operators) {
    const auto* const field = find_field(operators, std::string(operators::array_of(member.key)));
    if (field == nullptr || !problem_of_name(member.key, *field).empty()) {
        return std::nullopt;
    }
    if (member.key != field->name) {
        return read_entry(member, *field);
    }
    if (member.value.is_null()) {
        return field->optional ? std::optional(FieldChange{member.key, std::monostate()}) : std::nullopt;
    }
    if (field->type == FieldType::tensor_desc) {
        return read_bound(member, *field);
    }
    if (const auto number = number_for(*field, member.value)) {
        return FieldChange{member.key, *number};
    }
    const std::string* const name = member.value.string();
    const auto* const other =
        name == nullptr ? nullptr : find_field(operators, std::string(operators::array_of(*name)));
    const bool fits = other != nullptr && other->type == field->type && problem_of_name(*name, *other).empty();
    return fits ? std::optional(FieldChange{member.key, *name}) : std::nullopt;
}

template <class Number>
std::optional<Number> converted(double value) {
    if constexpr (std::is_integral_v<Number>) {
        constexpr auto least = static_cast<double>(std::numeric_limits<Number>::lowest());
        constexpr auto most = static_cast<double>(std::numeric_limits<Number>::max());
        if (!(value >= least && value <= most && std::trunc(value) == value)) {
            return std::nullopt;
        }
    }
    return static_cast<Number>(value);
}

/// Sets a number, or each entry of an array, or that entry alone. False if the field does not hold numbers, or not such
/// ones.
bool set_number(FieldValue& field, double number, std::optional<std::size_t> entry) {
    return std::visit(
        [number, entry]<class T>(T& content) {
            if constexpr (std::is_arithmetic_v<T>) {
                const auto value = converted<T>(number);
                content = value.value_or(content);
                return value.has_value();
            } else if constexpr (std::is_same_v<T, std::vector<std::uint32_t>> ||
                                 std::is_same_v<T, std::vector<std::int32_t>> ||
                                 std::is_same_v<T, std::vector<float>>) {
                const auto value = converted<typename T::value_type>(number);
                for (std::size_t i = 0; i < content.size(); ++i) {
                    content[i] = value && i == entry.value_or(i) ? *value : content[i];
                }
                return value.has_value() && entry.value_or(0) < content.size();
            } else {
                return false;
            }
        },
        field);
}

/// Null if the operator lacks the field.
FieldValue* value_of(Descriptor& descriptor, const std::string& name) {
    const auto* const field = descriptor.schema->find_field(name);
    return field == nullptr ? nullptr
                            : &descriptor.values[static_cast<std::size_t>(field - descriptor.schema->fields.data())];
}

/// The elements of an input, none of which is NaN or below the bound. Nothing if data files are missing.
std::optional<cases::Initialiser> raised(const cases::Initialiser& initialiser, const core::TensorDesc& desc,
                                         double bound) {
    core::Tensor tensor(core::TensorDesc::packed(desc.data_type, desc.sizes));
    if (!initialiser.fill(tensor)) {
        return std::nullopt;
    }
    const auto bits = core::encode_element(desc.data_type, std::max(bound, -core::format_of(desc.data_type).largest));
    const std::uint64_t count = *core::element_count(desc.sizes);
    const auto elements = tensor.buffer.bytes();
    for (std::uint64_t i = 0; bits && i < count; ++i) {
        const double value = core::decode_element(desc.data_type, core::load_element(elements, desc.data_type, i));
        if (!(value >= bound)) {
            core::store_element(elements, desc.data_type, i, *bits);
        }
    }
    return cases::given_elements({elements.begin(), elements.end()});
}

/// Applies the changes of inputs' elements. False if the operator lacks an input.
bool raise_inputs(std::span<const FieldChange> changes, cases::Case& subject) {
    const auto slots = subject.descriptor->inputs();
    for (const FieldChange& change : changes) {
        const auto* const at_least = std::get_if<AtLeast>(&change.becomes);
        const auto slot = std::ranges::find(slots, change.field, &operators::TensorSlot::name);
        if (at_least == nullptr) {
            continue;
        }
        if (slot == slots.end() || slot->desc == nullptr) {
            return false;
        }
        auto& initialiser = subject.inputs[static_cast<std::size_t>(slot - slots.begin())];
        initialiser = initialiser ? raised(*initialiser, *slot->desc, at_least->bound) : std::nullopt;
        if (!initialiser) {
            return false;
        }
    }
    return true;
}

bool apply(const FieldChange& change, const Descriptor& before, Descriptor& descriptor) {
    FieldValue* const value = value_of(descriptor, std::string(operators::array_of(change.field)));
    if (value == nullptr) {
        return false;
    }
    if (std::holds_alternative<AtLeast>(change.becomes)) {
        return true;  // that is not in the descriptor
    }
    if (const double* const number = std::get_if<double>(&change.becomes)) {
        return set_number(*value, *number, operators::index_in(change.field));
    }
    const std::string* const other = std::get_if<std::string>(&change.becomes);
    if (other != nullptr && other->find('[') != std::string::npos) {
        const auto number = number_of(before, *other);
        return number && set_number(*value, *number, std::nullopt);
    }
    if (other != nullptr && before.schema->find_field(*other) == nullptr) {
        return false;
    }
    *value = other == nullptr ? FieldValue(operators::Null()) : before.value(*other);
    return true;
}

/// A descriptor that breaks one of these rules may break the rules behind it, too, as far as fields have changed.
bool has_zero(const Descriptor& descriptor) {
    return std::ranges::any_of(std::array{"Strides", "Dilations"},
                               [&](const char* field) { return std::ranges::count(descriptor.uints(field), 0U) != 0; });
}

bool is_computable(const Descriptor& descriptor) {
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    return !verdict ||
           (std::ranges::find(computable_rules, verdict->rule) != std::end(computable_rules) && !has_zero(descriptor));
}

}  // namespace

std::optional<std::vector<FieldChange>> read_field_changes(const JsonValue& value, Schemas operators,
                                                           cases::ProblemSink& problems) {
    if (value.object() == nullptr || value.object()->empty()) {
        problems.add(value.offset, "this must be an object with what fields become",
                     R"(for example { "BiasTensor": null } or { "StartPadding": "EndPadding" })");
        return std::nullopt;
    }
    std::vector<FieldChange> changes;
    for (const JsonMember& member : *value.object()) {
        const auto change = read_change(member, operators);
        if (!change) {
            problems.add(member.key_offset,
                         fmt::format("no operator of this entry has a field \"{}\" that can become this",
                                     core::shortened(member.key)),
                         "null is for optional fields; numbers, enumerators, and names of fields of the same type and "
                         "of their entries are for attributes; { \"atLeast\": 0 } is for inputs");
            return std::nullopt;
        }
        changes.push_back(*change);
    }
    return changes;
}

std::optional<cases::Case> changed(const cases::Case& subject, std::span<const FieldChange> changes) {
    auto descriptor = std::make_shared<Descriptor>(*subject.descriptor);
    const auto applies = [&](const FieldChange& change) { return apply(change, *subject.descriptor, *descriptor); };
    if (descriptor->graph != nullptr || !std::ranges::all_of(changes, applies) || !is_computable(*descriptor)) {
        return std::nullopt;
    }
    cases::Case other = subject;
    other.descriptor = std::move(descriptor);
    other.expected.assign(other.expected.size(), std::nullopt);
    other.tolerances.assign(other.tolerances.size(), std::nullopt);
    other.expected_in_fp32 = false;
    other.precision.reset();
    other.reference.reset();
    return raise_inputs(changes, other) ? std::optional(std::move(other)) : std::nullopt;
}

}  // namespace dmlconform::expectations
