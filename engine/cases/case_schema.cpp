// Builds the schema: one definition for each operator's struct, and conditions that pick the right one for a case.
#include "engine/cases/case_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "engine/cases/case_reader.h"
#include "engine/core/feature_level.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::cases {
namespace {

using Json = nlohmann::ordered_json;
using operators::Field;
using operators::FieldType;
using operators::OperatorSchema;

Json reference(std::string_view name) {
    return {{"$ref", fmt::format("#/$defs/{}", name)}};
}

/// A field's value may also be null, a pointer that a descriptor can have if only to be rejected, or a sweep's
/// placeholder.
Json field_value(Json schema) {
    return {{"anyOf", Json::array({std::move(schema), {{"type", "null"}}, reference("placeholder")})}};
}

/// The schema, or a sweep's placeholder in its place.
Json or_placeholder(Json schema) {
    return {{"anyOf", Json::array({std::move(schema), reference("placeholder")})}};
}

Json integer(std::int64_t least, std::uint64_t most) {
    return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}

Json array_of(Json items) {
    return {{"type", "array"}, {"items", or_placeholder(std::move(items))}};
}

Json object(Json properties, const std::vector<std::string>& required = {}) {
    Json schema{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) {
        schema["required"] = required;
    }
    return schema;
}

/// Both spellings of a name with a prefix.
Json both_spellings(std::string_view prefix, const std::vector<std::string>& suffixes) {
    Json names = Json::array();
    for (const std::string& suffix : suffixes) {
        names.push_back(suffix);
    }
    for (const std::string& suffix : suffixes) {
        names.push_back(fmt::format("{}{}", prefix, suffix));
    }
    return names;
}

Json data_type_schema() {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < core::data_type_count; ++i) {
        names.emplace_back(core::name(static_cast<core::DataType>(i)));
    }
    return {{"enum", both_spellings("DML_TENSOR_DATA_TYPE_", names)}};
}

Json tensor_schema() {
    const Json properties{
        {"DataType", or_placeholder(data_type_schema())},
        {"Sizes", reference("uints")},
        {"Strides", reference("uints")},
        {"Flags", or_placeholder({{"enum", both_spellings("DML_TENSOR_FLAG_", {"NONE", "OWNED_BY_DML"})}})},
        {"DimensionCount", reference("uint")},
        {"TotalTensorSizeInBytes", or_placeholder(integer(0, UINT64_MAX))},
        {"GuaranteedBaseOffsetAlignment", reference("uint")}};
    Json long_form =
        object({{"Type", {{"enum", {"BUFFER", "DML_TENSOR_TYPE_BUFFER"}}}}, {"Desc", object(properties)}}, {"Type"});
    return {{"anyOf", {object(properties), std::move(long_form)}}};
}

Json enumeration_schema(const operators::Enumeration& enumeration) {
    if (enumeration.name == "BOOL") {
        return {{"anyOf", {{{"type", "boolean"}}, integer(0, UINT32_MAX)}}};
    }
    std::vector<std::string> names;
    for (const auto& enumerator : enumeration.enumerators) {
        names.push_back(enumerator.name.substr(enumeration.prefix().size()));
    }
    return {{"anyOf", {{{"enum", both_spellings(enumeration.prefix(), names)}}, integer(0, UINT32_MAX)}}};
}

/// The definition for a field's type.
std::string definition_of(const Field& field) {
    if (field.enumeration != nullptr) {
        return field.enumeration->name;
    }
    switch (field.type) {
        case FieldType::tensor_desc:
            return "tensor";
        case FieldType::tensor_desc_array:
            return "tensors";
        case FieldType::operator_desc:
            return "activation";
        case FieldType::operator_desc_array:
            return "activations";
        case FieldType::uint:
            return "uint";
        case FieldType::int_:
            return "int";
        case FieldType::float_:
            return "float";
        case FieldType::uint_array:
            return "uints";
        case FieldType::int_array:
            return "ints";
        case FieldType::float_array:
            return "floats";
        case FieldType::scale_bias:
            return "scaleBias";
        case FieldType::size_2d:
            return "size2d";
        case FieldType::scalar_union:
        default:
            return "scalar";
    }
}

Json desc_schema(const OperatorSchema& schema) {
    Json properties = Json::object();
    for (const Field& field : schema.fields) {
        properties[field.name] = reference(definition_of(field));
    }
    return object(std::move(properties));
}

/// The activations, and whatever else some operator can fuse.
std::vector<std::string> fusable_operators() {
    const std::vector<std::string> all = operators::operator_names();
    std::set<std::string> fusable;
    for (const std::string& name : all) {
        const OperatorSchema& schema = *operators::find_operator(name);
        if (schema.short_name().starts_with("ACTIVATION_")) {
            fusable.insert(name);
        }
        for (const auto& [activation, level] : schema.fusable) {
            fusable.insert(activation);
        }
    }
    return {fusable.begin(), fusable.end()};
}

/// One alternative for each operator that can be fused: attributes beside the type, or in a "Desc".
Json activation_schema() {
    Json alternatives = Json::array();
    for (const std::string& name : fusable_operators()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        const Json type{{"enum", {std::string(schema.short_name()), schema.name}}};
        Json short_form = desc_schema(schema);
        short_form["properties"]["Type"] = type;
        short_form["required"] = {"Type"};
        alternatives.push_back(std::move(short_form));
        alternatives.push_back(object({{"Type", type}, {"Desc", reference(schema.name)}}, {"Type", "Desc"}));
    }
    return {{"anyOf", std::move(alternatives)}};
}

Json element_schema() {
    return {{"anyOf", {{{"type", "number"}}, {{"type", "string"}, {"pattern", "^([+-]?inf|nan|0x[0-9a-fA-F]+)$"}}}}};
}

Json data_schema() {
    const Json seed = or_placeholder(integer(0, UINT64_MAX));
    const auto random = [&](std::vector<std::string> kinds, const std::vector<std::string>& parameters) {
        Json properties{{"random", {{"enum", kinds}}}, {"seed", seed}};
        for (const std::string& parameter : parameters) {
            properties[parameter] = or_placeholder({{"type", "number"}});
        }
        return object(std::move(properties), {"random"});
    };
    const Json element = or_placeholder(reference("element"));
    return {{"anyOf",
             {reference("elements"), object({{"value", element}}, {"value"}),
              object({{"start", element}, {"step", element}, {"valueStart", element}, {"valueDelta", element}}),
              random({"uniform", "integer"}, {"min", "max"}), random({"normal"}, {"mean", "stddev"}),
              random({"bits", "special"}, {}), object({{"file", or_placeholder({{"type", "string"}})}}, {"file"})}}};
}

Json tolerance_schema() {
    const Json bound{{"type", "number"}, {"minimum", 0}};
    Json schema = object({{"ulp", or_placeholder(integer(0, UINT64_MAX))},
                          {"abs", or_placeholder(bound)},
                          {"rel", or_placeholder(bound)},
                          {"exact", {{"const", true}}}});
    schema["minProperties"] = 1;
    return schema;
}

Json by_tensor(std::string_view values) {
    return {{"type", "object"}, {"additionalProperties", or_placeholder(reference(values))}};
}

/// Both spellings of every operator.
Json operator_schema() {
    Json names = Json::array();
    for (const std::string& name : operators::operator_names()) {
        names.push_back(name);
        names.push_back(operators::find_operator(name)->short_name());
    }
    return {{"enum", std::move(names)}};
}

Json case_properties() {
    Json levels = Json::array();
    for (const core::FeatureLevel level : core::feature_levels()) {
        levels.push_back(core::to_string(level));
    }
    return {
        {"name", {{"type", "string"}, {"pattern", "^[A-Za-z0-9_./-]+$"}}},
        {"description", {{"type", "string"}}},
        {"operator", or_placeholder(reference("operator"))},
        {"desc", or_placeholder({{"type", "object"}})},
        {"minFeatureLevel",
         or_placeholder({{"anyOf",
                          {{{"enum", std::move(levels)}},
                           {{"type", "string"}, {"pattern", "^(DML_FEATURE_LEVEL_)?[1-6]_[0-4]$"}}}}})},
        {"inputs", or_placeholder(by_tensor("data"))},
        {"expected", or_placeholder(by_tensor("data"))},
        {"expectError", or_placeholder({{"type", "string"}, {"pattern", "^([A-Z][A-Z_]+|0x[0-9a-fA-F]{1,8})$"}})},
        {"tolerance", or_placeholder(by_tensor("tolerance"))},
        {"inPlace",
         or_placeholder({{"type", "object"}, {"minProperties", 1}, {"additionalProperties", {{"type", "string"}}}})},
        {"tags", {{"type", "array"}, {"items", {{"type", "string"}}}}},
        {"sweep",
         {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", {{"type", "array"}, {"minItems", 1}}}}},
        {"skipInvalid", {{"type", "boolean"}}}};
}

/// Conditions on `operator` in the object at hand: if it names this operator, `consequence` holds.
Json when_operator(const OperatorSchema& schema, Json consequence) {
    return {{"if",
             {{"required", {"operator"}},
              {"properties", {{"operator", {{"enum", {schema.name, std::string(schema.short_name())}}}}}}}},
            {"then", std::move(consequence)}};
}

Json desc_is(const OperatorSchema& schema) {
    return {{"properties", {{"desc", or_placeholder(reference(schema.name))}}}};
}

Json case_schema() {
    Json schema = object(case_properties());
    schema["allOf"] = Json::array();
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& op = *operators::find_operator(name);
        schema["allOf"].push_back(when_operator(op, desc_is(op)));
    }
    return schema;
}

/// Where the operator stands in the defaults, it decides about the cases that name none of their own.
Json defaults_conditions() {
    Json conditions = Json::array();
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& op = *operators::find_operator(name);
        Json inherited{{"if", {{"not", {{"required", {"operator"}}}}}}, {"then", desc_is(op)}};
        Json condition = when_operator(op, {});
        conditions.push_back({{"if", {{"required", {"defaults"}}, {"properties", {{"defaults", condition["if"]}}}}},
                              {"then", {{"properties", {{"cases", {{"items", std::move(inherited)}}}}}}}});
    }
    return conditions;
}

/// One line for each definition and for each condition: short enough to be read by an editor at every start, and a
/// change of one operator is a change of its lines.
std::string to_text(const Json& schema) {
    const auto lines_of = [](const Json& members) {
        std::vector<std::string> lines;
        for (const auto& [key, value] : members.items()) {
            lines.push_back(members.is_object() ? fmt::format("{}:{}", Json(key).dump(), value.dump()) : value.dump());
        }
        return fmt::format("{}", fmt::join(lines, ",\n"));
    };
    std::vector<std::string> parts;
    for (const auto& [key, value] : schema.items()) {
        const bool long_object = value.is_object() && key == "$defs";
        const bool long_array = value.is_array() && key == "allOf";
        const std::string text = long_object  ? "{\n" + lines_of(value) + "\n}"
                                 : long_array ? "[\n" + lines_of(value) + "\n]"
                                              : value.dump();
        parts.push_back(fmt::format("{}:{}", Json(key).dump(), text));
    }
    return fmt::format("{{\n{}\n}}\n", fmt::join(parts, ",\n"));
}

}  // namespace

std::string case_file_schema() {
    const Json number = element_schema();
    const Json unsigned_integer = integer(0, UINT32_MAX);
    const Json signed_integer = integer(INT32_MIN, INT32_MAX);
    Json definitions{
        {"placeholder",
         {{"type", "string"}, {"pattern", "^\\$\\{.+\\}$"}, {"description", "a variable of the case's sweep"}}},
        {"uint", field_value(unsigned_integer)},
        {"int", field_value(signed_integer)},
        {"float", field_value(number)},
        {"uints", field_value(array_of(unsigned_integer))},
        {"ints", field_value(array_of(signed_integer))},
        {"floats", field_value(array_of(number))},
        {"scaleBias",
         field_value(object({{"Scale", reference("float")}, {"Bias", reference("float")}}, {"Scale", "Bias"}))},
        {"size2d",
         field_value(object({{"Width", reference("uint")}, {"Height", reference("uint")}}, {"Width", "Height"}))},
        {"scalar", field_value(number)},
        {"tensor", field_value(tensor_schema())},
        {"tensors", field_value(array_of(reference("tensor")))},
        {"activation", field_value(activation_schema())},
        {"activations", field_value(array_of(reference("activation")))},
        {"element", number},
        {"elements",
         {{"type", "array"},
          {"items", {{"anyOf", {reference("element"), reference("elements"), reference("placeholder")}}}}}},
        {"data", data_schema()},
        {"tolerance", tolerance_schema()},
        {"operator", operator_schema()},
        {"case", case_schema()}};
    for (const std::string& name : operators::operator_names()) {
        const OperatorSchema& schema = *operators::find_operator(name);
        definitions[name] = desc_schema(schema);
        for (const Field& field : schema.fields) {
            if (field.enumeration != nullptr) {
                definitions[field.enumeration->name] = field_value(enumeration_schema(*field.enumeration));
            }
        }
    }
    Json properties{{"$schema", {{"type", "string"}}},
                    {"description", {{"type", "string"}}},
                    {"defaults", reference("case")},
                    {"cases", {{"type", "array"}, {"minItems", 1}, {"items", reference("case")}}}};
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "dmlconform case file"},
                {"description", "Generated by `dmlconform schema case-file`; do not edit."}};
    schema.update(object(std::move(properties), {"cases"}));
    schema["allOf"] = defaults_conditions();
    schema["$defs"] = std::move(definitions);
    return to_text(schema);
}

}  // namespace dmlconform::cases
