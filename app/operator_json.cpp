// Describes an operator in JSON.
#include "app/operator_json.h"

#include <nlohmann/json.hpp>

#include "app/operator_text.h"
#include "engine/operators/constraint_rules.h"
#include "engine/operators/rules.h"
#include "engine/run/engine_list.h"

namespace dmlconform::app {
namespace {

using Json = nlohmann::ordered_json;
using operators::Field;

Json field_json(const operators::OperatorSchema& schema, const Field& field) {
    static constexpr const char* kinds[] = {"input", "output", "attribute"};
    static constexpr const char* types[] = {"tensor", "tensors", "operator", "operators", "UINT",   "INT",   "FLOAT",
                                            "UINT[]", "INT[]",   "FLOAT[]",  "scaleBias", "size2D", "scalar"};
    Json json{{"name", field.name},
              {"kind", kinds[static_cast<std::size_t>(field.kind)]},
              {"type", types[static_cast<std::size_t>(field.type)]},
              {"optional", field.optional}};
    if (field.required_before) {
        json["optionalFrom"] = core::to_string(*field.required_before);
    }
    if (!field.count_field.empty()) {
        json["countField"] = field.count_field;
    }
    if (schema.is_count(field)) {
        json["isCount"] = true;
    }
    if (field.enumeration != nullptr) {
        json["enumeration"] = {{"name", field.enumeration->name}, {"values", Json::object()}};
        for (const auto& enumerator : field.enumeration->enumerators) {
            json["enumeration"]["values"][enumerator.name] = enumerator.value;
        }
    }
    return json;
}

Json support_json(const operators::OperatorSchema& schema) {
    Json rows = Json::array();
    for (const Field& field : schema.fields) {
        const auto found = schema.tensor_support.find(field.name);
        if (found == schema.tensor_support.end()) {
            continue;
        }
        for (const operators::TensorSupport& row : found->second) {
            Json types = Json::array();
            for (const core::DataType type : row.data_types) {
                types.push_back(core::name(type));
            }
            rows.push_back({{"tensor", field.name},
                            {"fromFeatureLevel", core::to_string(row.level)},
                            {"minDimensions", row.min_dimensions},
                            {"maxDimensions", row.max_dimensions},
                            {"dataTypes", std::move(types)}});
        }
    }
    return rows;
}

Json constraints_json(const operators::OperatorSchema& schema) {
    Json sentences = Json::array();
    for (const operators::ExplainedRule& rule : operators::explained_constraints(schema)) {
        sentences.push_back(rule.sentence);
    }
    return sentences;
}

/// All rules by name.
Json explanations_json(const operators::OperatorSchema& schema) {
    Json rules = Json::object();
    for (const operators::ExplainedRule& rule : operators::explained_rules(schema)) {
        rules[rule.name] = {{"sentence", rule.sentence}, {"formulas", rule.formulas}};
    }
    return rules;
}

}  // namespace

Json operator_json(const operators::OperatorSchema& schema) {
    Json fields = Json::array();
    for (const Field& field : schema.fields) {
        fields.push_back(field_json(schema, field));
    }
    Json tolerances = Json::object();
    for (const auto& [tolerance, types] : default_tolerances(schema)) {
        for (const std::string& type : types) {
            tolerances[type] = tolerance;
        }
    }
    Json fusable = Json::object();
    for (const auto& [activation, level] : schema.fusable) {
        fusable[activation] = core::to_string(level);
    }
    Json in_place = Json::object();
    for (const auto& [output, inputs] : schema.in_place) {
        in_place[output] = inputs;
    }
    return {{"name", schema.name},
            {"number", schema.number},
            {"featureLevel", core::to_string(schema.introduced)},
            {"engines", run::engines_for(schema)},
            {"documentation", documentation_link(schema)},
            {"fields", std::move(fields)},
            {"tensors", support_json(schema)},
            {"constraints", constraints_json(schema)},
            {"rules", own_rules(schema)},
            {"explanations", explanations_json(schema)},
            {"tolerances", std::move(tolerances)},
            {"inPlace", std::move(in_place)},
            {"fusable", std::move(fusable)}};
}

}  // namespace dmlconform::app
