// Reads operator structs, with one function for each kind of field.
#include "engine/cases/descriptor_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "engine/cases/element_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/utf8.h"

namespace dmlconform::cases {
namespace {

using operators::Field;
using operators::FieldType;
using operators::FieldValue;
using operators::OperatorSchema;

std::optional<float> read_float(const JsonValue& value, const ValueName& name, ProblemSink& problems) {
    const auto bits = read_element(value, core::DataType::float32);
    if (!bits) {
        problems.add(value.offset, fmt::format("{}: {}", name.text(), bits.error().message), bits.error().hint);
        return std::nullopt;
    }
    return static_cast<float>(core::decode_element(core::DataType::float32, *bits));
}

std::optional<std::int32_t> read_int(const JsonValue& value, const ValueName& name, ProblemSink& problems) {
    const auto integer = integer_of(value);
    const auto bits = integer ? core::encode_element(core::DataType::int32, *integer)
                              : core::Result<std::uint64_t>(core::fail(fmt::format(
                                    "must be an integer; this is {}",
                                    value.is_number() ? number_text(value) : std::string(value.kind_name()))));
    if (!bits) {
        problems.add(value.offset, fmt::format("{}: {}", name.text(), bits.error().message), bits.error().hint);
        return std::nullopt;
    }
    return static_cast<std::int32_t>(core::decode_element(core::DataType::int32, *bits));
}

/// Reads a number, an enumerator, or true and false for BOOL.
std::optional<std::uint32_t> read_uint(const JsonValue& value, const Field& field, ProblemSink& problems) {
    if (field.enumeration == nullptr || value.is_number()) {
        const bool is_bool = field.enumeration != nullptr && field.enumeration->name == "BOOL";
        const auto number = read_unsigned(value, field.name, is_bool ? 1 : largest_uint, problems);
        return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::nullopt;
    }
    const operators::Enumeration& enumeration = *field.enumeration;
    if (value.boolean() != nullptr && enumeration.name == "BOOL") {
        return *value.boolean() ? 1 : 0;
    }
    const std::string* text = value.string();
    if (text == nullptr) {
        problems.add(value.offset, fmt::format("{} must be a value of {}; this is {}", field.name, enumeration.name,
                                               value.kind_name()));
        return std::nullopt;
    }
    const auto parsed = enumeration.parse(*text);
    if (!parsed) {
        std::vector<std::string> names;
        for (const auto& enumerator : enumeration.enumerators) {
            names.push_back(enumerator.name.substr(enumeration.prefix().size()));
        }
        problems.add(value.offset, fmt::format("\"{}\" is not a value of {}", core::shortened(*text), enumeration.name),
                     names.size() <= 4 ? fmt::format("it has {}", fmt::join(names, ", ")) : suggestion(*text, names));
    }
    return parsed;
}

/// Reads an array with `read_item(item, name)`. Continues after an item with a problem, to report further ones.
template <class T, class ReadItem>
std::optional<std::vector<T>> read_array(const JsonValue& value, const std::string& name, ProblemSink& problems,
                                         ReadItem&& read_item) {
    const auto* items = value.array();
    if (items == nullptr) {
        problems.add(value.offset, fmt::format("{} must be an array; this is {}", name, value.kind_name()));
        return std::nullopt;
    }
    std::vector<T> result;
    for (std::size_t i = 0; i < items->size(); ++i) {
        if (auto item = read_item((*items)[i], ValueName(name, i))) {
            result.push_back(std::move(*item));
        }
    }
    return result.size() == items->size() ? std::optional(std::move(result)) : std::nullopt;
}

/// Reads an object of exactly two members with `read_member(value, name)`.
template <class T, class ReadMember>
std::optional<std::array<T, 2>> read_pair(const JsonValue& value, const Field& field,
                                          const std::array<std::string, 2>& keys, ProblemSink& problems,
                                          ReadMember&& read_member) {
    std::array<const JsonValue*, 2> members{value.find(keys[0]), value.find(keys[1])};
    if (members[0] == nullptr || members[1] == nullptr || !check_keys(value, keys, field.name, problems)) {
        problems.add(value.offset, fmt::format(R"({} must be {{ "{}": …, "{}": … }})", field.name, keys[0], keys[1]));
        return std::nullopt;
    }
    const auto first = read_member(*members[0], keys[0]);
    const auto second = read_member(*members[1], keys[1]);
    return first && second ? std::optional(std::array<T, 2>{*first, *second}) : std::nullopt;
}

/// Reads a struct. The tensors of a fused operator may be missing; validation requires them to be null.
std::optional<operators::Descriptor> read_fields(const JsonValue& desc, const OperatorSchema& schema, bool fused,
                                                 ProblemSink& problems);

const OperatorSchema* read_activation_type(const JsonValue& value, ProblemSink& problems) {
    const JsonValue* type = value.find("Type");
    const std::string* name = type == nullptr ? nullptr : type->string();
    if (name == nullptr) {
        problems.add(value.offset, "a fused activation needs a \"Type\"",
                     R"(for example { "Type": "ACTIVATION_RELU" })");
        return nullptr;
    }
    const OperatorSchema* schema = operators::find_operator(*name);
    if (schema == nullptr) {
        problems.add(
            type->offset, fmt::format("\"{}\" is not an operator that the catalogue has", core::shortened(*name)),
            operator_suggestion(operators::find_operator("ACTIVATION_" + *name) != nullptr ? "ACTIVATION_" + *name
                                                                                           : *name));
    }
    return schema;
}

/// Reads {"Type": "ACTIVATION_ELU", "Alpha": 0.5}, or the form with the attributes inside "Desc".
std::optional<operators::OperatorDesc> read_activation(const JsonValue& value, ProblemSink& problems) {
    const OperatorSchema* schema = read_activation_type(value, problems);
    if (schema == nullptr) {
        return std::nullopt;
    }
    JsonValue attributes;
    if (const JsonValue* inner = value.find("Desc")) {
        static const std::array<std::string, 2> keys{"Type", "Desc"};
        check_keys(value, keys, "a fused activation in the long form", problems);
        attributes = *inner;
    } else {
        JsonValue::Object members;
        for (const JsonMember& member : *value.object()) {
            if (member.key != "Type") {
                members.push_back(member);
            }
        }
        attributes = {value.offset, std::make_shared<const JsonValue::Object>(std::move(members))};
    }
    auto descriptor = read_fields(attributes, *schema, true, problems);
    if (!descriptor) {
        return std::nullopt;
    }
    return std::make_shared<const operators::Descriptor>(std::move(*descriptor));
}

/// Reads a number whose data type is in another field, which precedes it in the struct.
std::optional<operators::ScalarUnion> read_scalar(const JsonValue& value, const Field& field,
                                                  const operators::Descriptor& so_far, ProblemSink& problems) {
    const core::DataType type = so_far.scalar_type(field);
    if (type == core::DataType::unknown) {
        // A missing or unknown data type is reported for its own field.
        if (std::holds_alternative<std::uint32_t>(so_far.value(field.data_type_field))) {
            problems.add(value.offset, fmt::format("{} has no type: {} is UNKNOWN", field.name, field.data_type_field),
                         fmt::format(R"(for example "{}": "FLOAT32")", field.data_type_field));
        }
        return std::nullopt;
    }
    const auto bits = read_element(value, type);
    if (!bits) {
        problems.add(value.offset, fmt::format("{}: {}", field.name, bits.error().message), bits.error().hint);
        return std::nullopt;
    }
    return operators::ScalarUnion{*bits};
}

class FieldReader {
public:
    /// `so_far` has the values of the preceding fields.
    FieldReader(const Field& field, const operators::Descriptor& so_far, ProblemSink& problems)
        : field_(field), so_far_(so_far), problems_(problems) {}

    std::optional<FieldValue> read(const JsonValue& value) {
        switch (field_.type) {
            case FieldType::tensor_desc:
                return as_value(read_tensor_desc(value, problems_));
            case FieldType::tensor_desc_array:
                return wrapped<operators::TensorDescArray>(read_array<core::TensorDesc>(
                    value, field_.name, problems_,
                    [&](const JsonValue& item, const ValueName&) { return read_tensor_desc(item, problems_); }));
            case FieldType::operator_desc:
                return as_value(read_activation(value, problems_));
            case FieldType::operator_desc_array:
                return wrapped<operators::OperatorDescArray>(read_array<operators::OperatorDesc>(
                    value, field_.name, problems_,
                    [&](const JsonValue& item, const ValueName&) { return read_activation(item, problems_); }));
            case FieldType::uint:
                return as_value(read_uint(value, field_, problems_));
            case FieldType::int_:
                return as_value(read_int(value, field_.name, problems_));
            case FieldType::float_:
                return as_value(read_float(value, field_.name, problems_));
            case FieldType::uint_array:
                return as_value(read_dimensions(value, field_.name, problems_));
            default:
                return read_rest(value);
        }
    }

private:
    std::optional<FieldValue> read_rest(const JsonValue& value) {
        const auto number = [&](const JsonValue& item, const ValueName& name) {
            return read_float(item, name, problems_);
        };
        const auto integer = [&](const JsonValue& item, const ValueName& name) {
            return read_int(item, name, problems_);
        };
        const auto size = [&](const JsonValue& item, const ValueName& name) {
            return read_unsigned(item, name, largest_uint, problems_);
        };
        if (field_.type == FieldType::int_array) {
            return as_value(read_array<std::int32_t>(value, field_.name, problems_, integer));
        }
        if (field_.type == FieldType::float_array) {
            return as_value(read_array<float>(value, field_.name, problems_, number));
        }
        if (field_.type == FieldType::scale_bias) {
            const auto pair = read_pair<float>(value, field_, {"Scale", "Bias"}, problems_, number);
            return pair ? std::optional(FieldValue(operators::ScaleBias{(*pair)[0], (*pair)[1]})) : std::nullopt;
        }
        if (field_.type == FieldType::size_2d) {
            const auto pair = read_pair<std::uint64_t>(value, field_, {"Width", "Height"}, problems_, size);
            return pair ? std::optional(FieldValue(operators::Size2D{static_cast<std::uint32_t>((*pair)[0]),
                                                                     static_cast<std::uint32_t>((*pair)[1])}))
                        : std::nullopt;
        }
        return as_value(read_scalar(value, field_, so_far_, problems_));
    }

    template <class T>
    static std::optional<FieldValue> as_value(std::optional<T> value) {
        return value ? std::optional(FieldValue(std::move(*value))) : std::nullopt;
    }
    template <class Wrapper, class T>
    static std::optional<FieldValue> wrapped(std::optional<std::vector<T>> items) {
        return items ? std::optional(FieldValue(Wrapper{std::move(*items)})) : std::nullopt;
    }

    const Field& field_;
    const operators::Descriptor& so_far_;
    ProblemSink& problems_;
};

/// Sets counts that the file leaves out, and compares the others with the lengths of their arrays.
void fill_in_counts(operators::Descriptor& descriptor, const JsonValue& desc, ProblemSink& problems) {
    const OperatorSchema& schema = *descriptor.schema;
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& array = schema.fields[i];
        const auto length = array.count_field.empty() ? std::nullopt : operators::array_length(descriptor.values[i]);
        if (!length) {
            continue;
        }
        const Field* count_field = schema.find_field(array.count_field);
        FieldValue& count = descriptor.values[static_cast<std::size_t>(count_field - schema.fields.data())];
        const auto* number = std::get_if<std::uint32_t>(&count);
        const JsonValue* written = desc.find(array.count_field);
        if (number == nullptr) {
            count = static_cast<std::uint32_t>(*length);
        } else if (*number != *length) {
            problems.add(
                desc.find(array.name)->offset,
                fmt::format("{} has {} entries, but {} is {}", array.name, *length, array.count_field, *number),
                written != nullptr ? fmt::format("{} may be left out", array.count_field)
                                   : "arrays with one count must be equally long");
        }
    }
    // The count of absent arrays is 0.
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        if (schema.is_count(schema.fields[i]) && desc.find(schema.fields[i].name) == nullptr &&
            std::holds_alternative<operators::Null>(descriptor.values[i])) {
            descriptor.values[i] = std::uint32_t{0};
        }
    }
}

/// Reports each member that is no field.
void check_fields(const JsonValue& desc, const OperatorSchema& schema, ProblemSink& problems) {
    const auto is_field = [&](const JsonMember& member) { return schema.find_field(member.key) != nullptr; };
    if (std::ranges::all_of(*desc.object(), is_field)) {
        return;
    }
    std::vector<std::string> names;
    std::ranges::transform(schema.fields, std::back_inserter(names), &Field::name);
    check_keys(desc, names, schema.name, problems);
}

std::optional<operators::Descriptor> read_fields(const JsonValue& desc, const OperatorSchema& schema, bool fused,
                                                 ProblemSink& problems) {
    const std::size_t before = problems.count();
    if (desc.object() == nullptr) {
        problems.add(desc.offset, fmt::format("expected the fields of {}, found {}", schema.name, desc.kind_name()));
        return std::nullopt;
    }
    check_fields(desc, schema, problems);

    operators::Descriptor descriptor{&schema, std::vector<FieldValue>(schema.fields.size())};
    for (std::size_t i = 0; i < schema.fields.size(); ++i) {
        const Field& field = schema.fields[i];
        const JsonValue* value = desc.find(field.name);
        if (value != nullptr && !value->is_null()) {
            if (auto read = FieldReader(field, descriptor, problems).read(*value)) {
                descriptor.values[i] = std::move(*read);
            }
        } else if (value == nullptr && !field.optional && !schema.is_count(field) && !(fused && field.is_tensor())) {
            // An explicit null is kept as a null pointer, which validation rejects. A missing key is more likely a
            // mistake.
            problems.add(desc.offset, fmt::format("{} is missing \"{}\"", schema.short_name(), field.name));
        }
    }
    fill_in_counts(descriptor, desc, problems);
    return problems.count() == before ? std::optional(std::move(descriptor)) : std::nullopt;
}

}  // namespace

std::string operator_suggestion(std::string_view name) {
    std::vector<std::string> names = operators::operator_names();
    if (!name.starts_with("DML_")) {
        for (std::string& full : names) {
            full = operators::find_operator(full)->short_name();
        }
    }
    return suggestion(name, names);
}

std::optional<operators::Descriptor> read_descriptor(const JsonValue& desc, const OperatorSchema& schema,
                                                     ProblemSink& problems) {
    return read_fields(desc, schema, false, problems);
}

}  // namespace dmlconform::cases
