// Schemas of struct fields: one definition for each type. Descriptions say what the catalogue knows about a field.
#include "engine/cases/field_schemas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "engine/core/data_type.h"

namespace dmlconform::cases {
namespace {

using operators::Field;
using operators::FieldKind;
using operators::FieldType;
using operators::OperatorSchema;

constexpr const char* optional_prefix = "optional_";

Schema sizes_value() {
    return array_value(integer_value(0, UINT32_MAX), Nullable::yes);
}

Schema buffer_schema() {
    std::vector<std::string> types;
    for (std::uint32_t i = 0; i < core::data_type_count; ++i) {
        types.emplace_back(core::name(static_cast<core::DataType>(i)));
    }
    return members(
        {{"DataType", described("The type of the elements.", name_value("DML_TENSOR_DATA_TYPE_", types))},
         {"Sizes", described("The number of elements along each dimension.", sizes_value())},
         {"Strides", described("The distance of elements along each dimension, in elements; 0 repeats. Packed if left "
                               "out.",
                               sizes_value())},
         {"Flags", name_value("DML_TENSOR_FLAG_", {"NONE", "OWNED_BY_DML"})},
         {"DimensionCount", reference("count")},
         {"TotalTensorSizeInBytes", described("The least that is enough, if left out.", integer_value(0, UINT64_MAX))},
         {"GuaranteedBaseOffsetAlignment", integer_value(0, UINT32_MAX)}});
}

/// Accepts both forms of a tensor. `buffer` is the name of the definition of their members.
Schema tensor_schema(std::string_view buffer) {
    const Schema long_form =
        members({{"Type", {{"enum", {"BUFFER", "DML_TENSOR_TYPE_BUFFER"}}}}, {"Desc", reference(buffer)}}, {"Desc"});
    return object_value(when({{"required", {"Type"}}}, long_form, reference(buffer)), Nullable::yes);
}

Schema enumeration_schema(const operators::Enumeration& enumeration) {
    if (enumeration.name == "BOOL") {
        Schema schema = integer_value(0, 1, Nullable::yes);
        schema["type"].push_back("boolean");
        return described("true or false (BOOL).", std::move(schema));
    }
    std::vector<std::string> names;
    for (const auto& enumerator : enumeration.enumerators) {
        names.push_back(enumerator.name.substr(enumeration.prefix().size()));
    }
    const Schema number{{"type", {"integer", "null"}}, {"minimum", 0}, {"maximum", UINT32_MAX}};
    return described(fmt::format("A value of {}, in full or without its prefix.", enumeration.name),
                     name_value(enumeration.prefix(), names, number));
}

/// The name of the definition for an attribute's type.
std::string type_of(const Field& field) {
    if (field.enumeration != nullptr) {
        return field.enumeration->name;
    }
    // In the order of FieldType.
    constexpr const char* names[] = {"tensor", "tensors", "activation", "activations", "uint",    "int",   "float",
                                     "uints",  "ints",    "floats",     "scale_bias",  "size_2d", "scalar"};
    static_assert(std::size(names) == static_cast<std::size_t>(FieldType::scalar_union) + 1);
    return names[static_cast<std::size_t>(field.type)];
}

Schema pair_value(const char* first, const char* second, const char* type) {
    return object_value(members({{first, reference(type)}, {second, reference(type)}}, {first, second}), Nullable::yes);
}

Schema attribute_definitions() {
    const auto integers = [](std::int64_t least, std::uint64_t most) {
        return array_value(integer_value(least, most), Nullable::yes);
    };
    return {{"uint", described("A whole number (UINT).", integer_value(0, UINT32_MAX, Nullable::yes))},
            {"count", described("A count. It may be left out: it is the length of the arrays that it counts.",
                                integer_value(0, UINT32_MAX, Nullable::yes))},
            {"int", described("An integer (INT).", integer_value(INT32_MIN, INT32_MAX, Nullable::yes))},
            {"float", described("A number (FLOAT), \"inf\", \"-inf\", \"nan\", or its bits: \"0x7f800000\".",
                                number_value(Nullable::yes))},
            {"uints", described("A list of whole numbers (UINT).", integers(0, UINT32_MAX))},
            {"ints", described("A list of integers (INT).", integers(INT32_MIN, INT32_MAX))},
            {"floats", described("A list of numbers (FLOAT).", array_value(number_value(), Nullable::yes))},
            {"scale_bias", described("Every element times Scale, plus Bias.", pair_value("Scale", "Bias", "float"))},
            {"size_2d", described("A width and a height.", pair_value("Width", "Height", "uint"))},
            {"scalar", described("A number of the type that the struct's data type says, or its bits: \"0x3c00\".",
                                 number_value(Nullable::yes))}};
}

/// Definitions for required and optional input and output tensors.
Schema tensor_definitions() {
    Schema buffer = reference("partial_buffer");
    buffer["required"] = {"DataType", "Sizes"};
    Schema definitions{{"buffer", std::move(buffer)},
                       {"partial_buffer", buffer_schema()},
                       {"tensor", tensor_schema("buffer")},
                       {"partial_tensor", tensor_schema("partial_buffer")},
                       {"partial_tensors", array_value(reference("tensor"), Nullable::yes)}};
    for (const char* kind : {"input", "output"}) {
        for (const bool optional : {false, true}) {
            const std::string name = fmt::format("{}{}", optional ? optional_prefix : "", kind);
            const std::string what =
                fmt::format("{} tensor{}. `dmlconform describe OPERATOR` shows its data types and dimensions.",
                            *kind == 'i' ? "An input" : "An output", optional ? ", or null if it is absent" : "");
            definitions[name] = described(what, reference("tensor"));
            definitions[name + "s"] =
                described("A list. Each is this: " + what, array_value(reference("tensor"), Nullable::yes));
        }
    }
    return definitions;
}

bool is_object(const Field& field) {
    return field.type == FieldType::operator_desc || field.type == FieldType::scale_bias ||
           field.type == FieldType::size_2d;
}

/// The definition for all fields of a name, in any operator.
struct CommonDefinition {
    /// If some fields of the name are optional and others are not, the more frequent variant.
    std::string definition;
    /// True if the definition applies also to a partial value, whose other members are in the file's defaults. Merging
    /// combines objects and replaces other values.
    bool holds_for_parts = false;
};

/// Common definitions by field name. Names whose types differ between operators have none.
std::map<std::string, CommonDefinition> find_common_definitions() {
    struct Uses {
        std::set<std::string> types;
        std::map<std::string, int> definitions;
        bool holds_for_parts = false;
    };
    std::map<std::string, Uses> by_name;
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        for (const Field& field : schema.fields) {
            Uses& uses = by_name[field.name];
            uses.types.insert(field.is_tensor() ? "tensor" : type_of(field));
            ++uses.definitions[definition_of(schema, field)];
            uses.holds_for_parts = !field.is_tensor() && !is_object(field);
        }
    }
    std::map<std::string, CommonDefinition> common;
    for (const auto& [name, uses] : by_name) {
        if (uses.types.size() == 1) {
            const auto most =
                std::ranges::max_element(uses.definitions, {}, &std::pair<const std::string, int>::second);
            common[name] = {most->first, uses.holds_for_parts};
        }
    }
    return common;
}

const std::map<std::string, CommonDefinition>& common_definitions() {
    static const auto common = find_common_definitions();
    return common;
}

/// One pattern for all names of a definition. Editors do not suggest names from patterns; they take them from the
/// operator's struct.
Schema patterns(bool hold_for_parts) {
    std::map<std::string, std::vector<std::string>> names;
    for (const auto& [name, common] : common_definitions()) {
        if (common.holds_for_parts == hold_for_parts) {
            names[common.definition].push_back(name);
        }
    }
    Schema result = Schema::object();
    for (const auto& [definition, list] : names) {
        result[fmt::format("^({})$", fmt::join(list, "|"))] = reference(definition);
    }
    return result;
}

Schema all_names() {
    Schema names = Schema::object();
    for (const std::string& name : operators::operator_names()) {
        for (const Field& field : operators::find_operator(name)->fields) {
            names[field.name] = true;
        }
    }
    return names;
}

}  // namespace

std::string definition_of(const OperatorSchema& schema, const Field& field) {
    if (schema.is_count(field)) {
        return "count";
    }
    const std::string prefix = field.optional ? optional_prefix : "";
    if (!field.is_tensor()) {
        return prefix + type_of(field);
    }
    return fmt::format("{}{}{}", prefix, field.kind == FieldKind::input ? "input" : "output",
                       field.type == FieldType::tensor_desc_array ? "s" : "");
}

Schema field_schema(const OperatorSchema& schema, const Field& field) {
    const std::string definition = definition_of(schema, field);
    const auto common = common_definitions().find(field.name);
    const bool is_common = common != common_definitions().end() && common->second.definition == definition;
    return is_common ? Schema(true) : reference(definition);
}

Schema field_definitions() {
    Schema definitions = attribute_definitions();
    definitions.update(tensor_definitions());
    Schema fields = reference("attributes");
    fields["patternProperties"] = patterns(false);
    // The patterns are in a separate definition. Otherwise validators would report an unknown name once for each
    // pattern.
    Schema parts = members(all_names());
    const Schema tensors{{"Tensor$", reference("partial_tensor")}, {"Tensors$", reference("partial_tensors")}};
    parts["allOf"] = Schema::array({reference("attributes"), {{"patternProperties", tensors}}});
    definitions.update({{"attributes", {{"patternProperties", patterns(true)}}},
                        {"fields", std::move(fields)},
                        {"parts", std::move(parts)}});
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        for (const Field& field : schema.fields) {
            if (field.enumeration != nullptr) {
                definitions[field.enumeration->name] = enumeration_schema(*field.enumeration);
            }
            if (field.optional && !field.is_tensor() && !schema.is_count(field)) {
                definitions[definition_of(schema, field)] =
                    described("May be null, or left out.", reference(type_of(field)));
            }
        }
    }
    return definitions;
}

}  // namespace dmlconform::cases
