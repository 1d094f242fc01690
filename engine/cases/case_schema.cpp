// The form of a file and of a case, and which struct a case's "desc" is, which its operator decides.
//
// The file's "defaults" are merged under each case. So the operator of a case stands in the case or in the defaults,
// and a field that a case lacks may be there, too. A schema sees no merged objects. Therefore:
//   - where the defaults have no "desc", each case has all required fields of its operator's struct;
//   - where they have one, both have fields that some operator has, and only the reader knows the rest.
#include "engine/cases/case_schema.h"

#include "engine/cases/activation_schema.h"
#include "engine/cases/data_schema.h"
#include "engine/cases/field_schemas.h"
#include "engine/cases/operator_groups.h"
#include "engine/core/feature_level.h"

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

/// Each operator's two names.
Schema operator_schema() {
    Schema names = Schema::array();
    for (const OperatorGroup& group : all_groups()) {
        names.push_back(reference("o" + group.id()));
    }
    names.push_back(reference("placeholder"));
    return {{"anyOf", std::move(names)}};
}

/// What a case and the defaults may have.
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
         {"minFeatureLevel",
          described("Engines below it skip the case. Default: the lowest at which it is legal.", level_schema())},
         {"inputs", described("Data for each input tensor.", by_tensor("data"))},
         {"expected",
          described("What each output has to be. Default: what the reference computes.", by_tensor("data"))},
         {"expectError", described("The descriptor must be rejected with this HRESULT.",
                                   strings(R"(^([A-Z][A-Z_]+|0x[0-9a-fA-F]{1,8}|\$\{.+\})$)"))},
         {"tolerance", described("By output, or \"*\" for all. Default: the operator's own.", by_tensor("tolerance"))},
         {"inPlace", described("Outputs that are computed in the memory of an input.", in_place)},
         {"tags", described("For --tag. Cases tagged \"unspecified\" do not decide the exit code.", list_of_texts)},
         {"sweep", described("Variables and their values. \"${name}\" stands for each of them in turn.", lists)},
         {"skipInvalid",
          described("Leaves expansions of the sweep out whose descriptor is illegal.", {{"type", "boolean"}})}});
}

/// In the object at hand, "operator" is one of the group's.
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

/// A case with all that its struct needs. Which one that is, its own operator says.
Schema whole_case_schema() {
    const Schema by_operator =
        all_of_groups([](const OperatorGroup& group) { return when(is_one_of(group), reference("d" + group.id())); });
    Schema schema = when({{"required", {"operator"}}}, by_operator);
    schema["required"] = {"desc"};
    schema["properties"]["desc"] = reference("fields");
    return schema;
}

/// The operator of cases that name none is that of the defaults. Where the defaults and a case have one, the reader
/// checks the other cases.
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
    schema["allOf"] = {unless_in_defaults("name"), unless_in_defaults("operator"),
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
    all.update(field_definitions());
    all.update(activation_definitions());
    for (const OperatorGroup& group : all_groups()) {
        all["o" + group.id()] = {{"enum", group.names()}};
        all["d" + group.id()] = {{"properties", {{"desc", struct_schema(*group.operators.front())}}}};
    }
    return all;
}

/// One line for each definition and for each condition: short enough to be read by an editor at every start, and a
/// change of one operator is a change of its lines.
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
