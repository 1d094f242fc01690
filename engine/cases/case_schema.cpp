// Schema of files and cases. The operator decides which struct "desc" is.
//
// The file's "defaults" are merged under each case. So a case's operator can be in the case or in the defaults, and
// fields that a case lacks can be in the defaults, too. A schema validates unmerged objects. Therefore:
//   - if the defaults have no "desc", each case must have all required fields of its operator's struct;
//   - if they have one, both may have fields of any operator, and only the reader checks the rest.
#include "engine/cases/case_schema.h"

#include "engine/cases/activation_schema.h"
#include "engine/cases/data_schema.h"
#include "engine/cases/field_schemas.h"
#include "engine/cases/operator_groups.h"
#include "engine/core/feature_level.h"
#include "engine/core/precision.h"

namespace dmlconform::cases {
namespace {

using operators::Field;
using operators::OperatorSchema;

Schema strings(const char* pattern) {
    return {{"type", "string"}, {"pattern", pattern}};
}

const std::vector<OperatorGroup>& all_groups() {
    static const std::vector<OperatorGroup> groups = [] {
        const std::vector<std::string> names = operators::operator_names();
        return operator_groups({names.begin(), names.end()});
    }();
    return groups;
}

Schema by_tensor(std::string_view values) {
    return object_value({{"additionalProperties", reference(values)}});
}

Schema level_schema() {
    std::vector<std::string> levels;
    for (const core::FeatureLevel level : core::feature_levels()) {
        levels.push_back(core::to_string(level));
    }
    return name_value("", levels, strings("^(DML_FEATURE_LEVEL_)?[1-6]_[0-4]$"));
}

/// Accepts the short and the full name of each operator.
Schema operator_schema() {
    Schema names = Schema::array();
    for (const OperatorGroup& group : all_groups()) {
        names.push_back(reference("o" + group.id()));
    }
    names.push_back(reference("placeholder"));
    return {{"anyOf", std::move(names)}};
}

/// Members of a case, which the defaults may have, too.
Schema case_members() {
    const Schema text{{"type", "string"}};
    const Schema list_of_texts{{"type", "array"}, {"items", text}};
    const Schema lists{
        {"type", "object"}, {"minProperties", 1}, {"additionalProperties", {{"type", "array"}, {"minItems", 1}}}};
    const Schema in_place = object_value({{"minProperties", 1}, {"additionalProperties", text}});
    return members(
        {{"name", described("Unique in the file.", strings("^[A-Za-z0-9_./-]+$"))},
         {"description", described("Free text.", text)},
         {"operator", described("In full or without DML_OPERATOR_.", reference("operator"))},
         {"desc", described("The operator's struct, as in DirectML.h. `dmlconform describe OPERATOR` shows its fields, "
                            "the rules for them, and where Microsoft describes them.",
                            object_value(Schema::object()))},
         {"graph", described("Several operators, in place of \"operator\" and \"desc\".", reference("graph"))},
         {"minFeatureLevel",
          described("Engines below it skip the case. Default: the lowest at which it is legal.", level_schema())},
         {"inputs", described("Data for each input tensor.", by_tensor("data"))},
         {"expected",
          described("What each output has to be. Default: what the reference computes.", by_tensor("data"))},
         {"expectedPrecision",
          described("The expected values are another implementation's, which computed them in FP32.",
                    {{"const", "fp32"}})},
         {"expectError", described("The descriptor must be rejected with this HRESULT.",
                                   strings(R"(^([A-Z][A-Z_]+|0x[0-9a-fA-F]{1,8}|\$\{.+\})$)"))},
         {"tolerance", described("By output, or \"*\" for all. Default: the operator's own.", by_tensor("tolerance"))},
         {"precision",
          described("How precisely engines have to compute. Default: in FP32, or as `run --precision` says.",
                    {{"enum", Schema(core::precision_names)}})},
         {"inPlace", described("Outputs that are computed in the memory of an input.", in_place)},
         {"tags", described("For --tag. Cases tagged \"unspecified\" do not decide the exit code.", list_of_texts)},
         {"sweep", described("Variables and their values. \"${name}\" stands for each of them in turn.", lists)},
         {"skipInvalid",
          described("Leaves expansions of the sweep out whose descriptor is illegal.", {{"type", "boolean"}})}});
}

/// Condition: the object's "operator" is one of the group.
Schema is_one_of(const OperatorGroup& group) {
    return {{"properties", {{"operator", reference("o" + group.id())}}}};
}

Schema struct_schema(const OperatorSchema& schema) {
    Schema fields = Schema::object();
    std::vector<std::string> required;
    for (const Field& field : schema.fields) {
        fields[field.name] = field_schema(schema, field);
        if (!field.optional && !schema.is_count(field)) {
            required.push_back(field.name);
        }
    }
    return members(std::move(fields), required);
}

Schema all_of_groups(const auto& make) {
    Schema conditions = Schema::array();
    for (const OperatorGroup& group : all_groups()) {
        conditions.push_back(make(group));
    }
    return {{"allOf", std::move(conditions)}};
}

Schema all_cases(Schema schema) {
    return {{"properties", {{"cases", {{"items", std::move(schema)}}}}}};
}

Schema defaults_have(const char* key) {
    return {{"required", {"defaults"}}, {"properties", {{"defaults", {{"required", {key}}}}}}};
}

/// Selects the schema of "desc" by the operator.
Schema by_operator_schema() {
    const Schema by_operator =
        all_of_groups([](const OperatorGroup& group) { return when(is_one_of(group), reference("d" + group.id())); });
    Schema schema = when({{"required", {"operator"}}}, by_operator);
    schema["required"] = {"desc"};
    schema["properties"]["desc"] = reference("fields");
    return schema;
}

/// A case without a graph must have all required fields of its operator's struct.
Schema whole_case_schema() {
    return when({{"required", {"graph"}}}, {{"properties", {{"operator", false}, {"desc", false}, {"inPlace", false}}}},
                reference("by_operator"));
}

Schema graph_schema() {
    const auto or_swept = [](const Schema& schema) { return Schema{{"anyOf", {schema, reference("placeholder")}}}; };
    const Schema names = or_swept({{"type", "array"}, {"items", {{"type", "string"}}}});
    return object_value(
        members({{"nodes", described("Operators, in any order.",
                                     {{"type", "array"}, {"minItems", 1}, {"items", or_swept(reference("node"))}})},
                 {"constants", described("Inputs whose data is fixed when the graph is compiled.", names)},
                 {"outputs", described("Values that are read back.", names)}},
                {"nodes", "outputs"}));
}

Schema node_schema() {
    const Schema text{{"type", "string"}};
    const Schema reinterpreted = members({{"value", text}, {"reinterpret", {{"const", true}}}}, {"value"});
    Schema schema = members(
        {{"name", described("Unique in the graph.", strings("^[A-Za-z0-9_./-]+$"))},
         {"operator", described("In full or without DML_OPERATOR_.", reference("operator"))},
         {"desc", described("The operator's struct, as in a case.", object_value(Schema::object()))},
         {"inputs", described("The value that each input tensor is. One of another data type needs { \"value\": …, "
                              "\"reinterpret\": true }.",
                              object_value({{"additionalProperties", {{"anyOf", {text, reinterpreted}}}}}))},
         {"outputs",
          described("The name of each output tensor's value.", object_value({{"additionalProperties", text}}))},
         {"inPlace", described("Outputs that are computed in the memory of an input.",
                               object_value({{"minProperties", 1}, {"additionalProperties", text}}))}},
        {"name", "operator", "desc"});
    schema["type"] = "object";
    schema["allOf"] = {reference("by_operator")};
    return schema;
}

/// Cases without an operator have that of the defaults. If both the defaults and a case name one, only the reader
/// checks that case.
Schema by_operator_of_defaults() {
    const Schema by_operator = all_of_groups([](const OperatorGroup& group) {
        return when({{"properties", {{"defaults", is_one_of(group)}}}}, all_cases(reference("d" + group.id())));
    });
    Schema condition = defaults_have("operator");
    condition["properties"].update(all_cases({{"properties", {{"operator", false}}}})["properties"]);
    return when(std::move(condition), by_operator);
}

Schema partial_descs() {
    const Schema partial{{"properties", {{"desc", reference("parts")}}}};
    Schema schema = all_cases(partial);
    schema["properties"]["defaults"] = partial;
    return schema;
}

Schema file_schema() {
    Schema schema =
        members({{"$schema", {{"type", "string"}}},
                 {"description", described("Free text.", {{"type", "string"}})},
                 {"defaults", described("Merged under every case; the case's own value wins.", reference("case"))},
                 {"cases", {{"type", "array"}, {"minItems", 1}, {"items", reference("case")}}}},
                {"cases"});
    const auto unless_in_defaults = [](const char* key) {
        return when({{"not", defaults_have(key)}}, all_cases({{"required", {key}}}));
    };
    Schema whole = by_operator_of_defaults();
    whole["properties"] = all_cases(reference("whole_case"))["properties"];
    const Schema has_operator =
        when({{"not", defaults_have("operator")}},
             all_cases(when({{"required", {"graph"}}}, Schema::object(), {{"required", {"operator"}}})));
    schema["allOf"] = {unless_in_defaults("name"), has_operator,
                       when(defaults_have("desc"), partial_descs(), std::move(whole))};
    return schema;
}

Schema definitions() {
    Schema all{{"placeholder", {{"type", "string"}, {"pattern", R"(^\$\{.+\}$)"}}}, {"operator", operator_schema()}};
    all.update(data_definitions());
    Schema one_case = case_members();
    one_case["type"] = "object";
    all["case"] = std::move(one_case);
    all["whole_case"] = whole_case_schema();
    all["by_operator"] = by_operator_schema();
    all["graph"] = graph_schema();
    all["node"] = node_schema();
    all.update(field_definitions());
    all.update(activation_definitions());
    for (const OperatorGroup& group : all_groups()) {
        all["o" + group.id()] = {{"enum", group.names()}};
        all["d" + group.id()] = {{"properties", {{"desc", struct_schema(*group.operators.front())}}}};
    }
    return all;
}

/// Appends JSON with one line for each definition and condition. Then editors load the schema quickly, and a change of
/// one operator changes only its lines.
void append(std::string& text, const Schema& value, bool in_lines) {
    if (!value.is_structured()) {
        text += value.dump();
        return;
    }
    const char* separator = in_lines ? "\n" : "";
    text += value.is_object() ? "{" : "[";
    for (const auto& [key, member] : value.items()) {
        text += separator;
        text += value.is_object() ? Schema(key).dump() + ":" : "";
        append(text, member, key == "$defs" || key == "allOf");
        separator = in_lines ? ",\n" : ",";
    }
    text += in_lines ? "\n" : "";
    text += value.is_object() ? "}" : "]";
}

}  // namespace

std::string case_file_schema() {
    Schema schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                  {"title", "dmlconform case file"},
                  {"description", "Generated by `dmlconform schema case-file`; do not edit."},
                  {"type", "object"}};
    schema.update(file_schema());
    schema["$defs"] = definitions();
    std::string text;
    append(text, schema, true);
    return text + "\n";
}

}  // namespace dmlconform::cases
