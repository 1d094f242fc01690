// Schema of fused activations: one condition for each struct, because the required fields depend on "Type". The form
// with "Desc", for people who copy C++ code, is only checked for names and types of fields.
#include "engine/cases/activation_schema.h"

#include <set>

#include "engine/cases/field_schemas.h"
#include "engine/cases/operator_groups.h"

namespace dmlconform::cases {
namespace {

/// Full names of all operators that some operator can fuse.
std::set<std::string> fusable_operators() {
    std::set<std::string> fusable;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        if (schema.short_name().starts_with("ACTIVATION_")) {
            fusable.insert(name);
        }
        for (const auto& [activation, level] : schema.fusable) {
            fusable.insert(activation);
        }
    }
    return fusable;
}

/// The form with the attributes beside "Type". Tensors may be missing: those of a fused operator are null.
Schema short_form(const operators::OperatorSchema& schema) {
    Schema fields{{"Type", true}};
    std::vector<std::string> required;
    for (const operators::Field& field : schema.fields) {
        fields[field.name] = field.is_tensor() ? Schema(true) : reference(definition_of(schema, field));
        if (!field.is_tensor() && !field.optional && !schema.is_count(field)) {
            required.push_back(field.name);
        }
    }
    return members(std::move(fields), required);
}

Schema activation_schema() {
    Schema types = Schema::array();
    Schema conditions = Schema::array();
    for (const OperatorGroup& group : operator_groups(fusable_operators())) {
        const Schema is_of_group{{"enum", group.names()}};
        types.insert(types.end(), is_of_group["enum"].begin(), is_of_group["enum"].end());
        conditions.push_back(when({{"properties", {{"Type", is_of_group}}}}, short_form(*group.operators.front())));
    }
    const Schema long_form = members({{"Type", true}, {"Desc", reference("parts")}});
    Schema schema = when({{"required", {"Desc"}}}, long_form, {{"allOf", std::move(conditions)}});
    schema["required"] = {"Type"};
    schema["properties"] = {{"Type", {{"enum", std::move(types)}}}};
    return schema;
}

}  // namespace

Schema activation_definitions() {
    return {{"activation", described("A fused activation: { \"Type\": \"ACTIVATION_ELU\", \"Alpha\": 0.5 }.",
                                     object_value(activation_schema(), Nullable::yes))},
            {"activations",
             described("A list of fused activations.", array_value(reference("activation"), Nullable::yes))}};
}

}  // namespace dmlconform::cases
