// The JSON Schema of expectation files. The reader is expectation_file.cpp.
#include <nlohmann/json.hpp>

#include "engine/cases/schema_values.h"
#include "engine/expectations/expectation_file.h"
#include "engine/expectations/reduction_condition.h"

namespace dmlconform::expectations {
namespace {

using cases::described;
using Json = nlohmann::ordered_json;

Json condition_schema() {
    return {{"$ref", "#/$defs/condition"}};
}

Json number_schema() {
    return {{"$ref", "#/$defs/number"}};
}

/// What number_condition.cpp reads. Enumerators are strings.
Json number_definition() {
    const Json number{{"type", "number"}};
    const Json flag{{"type", "boolean"}};
    const Json bounds{{"type", "object"},
                      {"minProperties", 1},
                      {"properties",
                       {{"atLeast", number},
                        {"atMost", number},
                        {"above", number},
                        {"below", number},
                        {"multipleOf", {{"type", "integer"}, {"minimum", 1}}},
                        {"nan", flag},
                        {"infinite", flag},
                        {"negative", flag},
                        {"integer", flag},
                        {"fromInteger", number},
                        {"magnitude", number_schema()},
                        {"not", number_schema()}}},
                      {"additionalProperties", false}};
    const Json one{{"anyOf", {{{"type", {"number", "string", "boolean"}}}, bounds}}};
    return {{"anyOf", {one, {{"type", "array"}, {"minItems", 1}, {"items", one}}}}};
}

/// What tensor_condition.cpp reads.
Json tensor_definition() {
    const Json text{{"type", "string"}};
    return {{"type", {"object", "null"}},
            {"properties",
             {{"DataType", {{"anyOf", {text, {{"type", "array"}, {"minItems", 1}, {"items", text}}}}}},
              {"DimensionCount", number_schema()},
              {"significantDimensions", number_schema()},
              {"elements", number_schema()},
              {"addresses/elements", number_schema()},
              {"Sizes", {{"type", "object"}, {"additionalProperties", number_schema()}}},
              {"Strides", {{"enum", {"absent", "given", "packed", "strided", "repeating", "transposed", "unequal"}}}},
              {"GuaranteedBaseOffsetAlignment", number_schema()},
              {"values", number_schema()}}},
            {"additionalProperties", false}};
}

/// What dimension_condition.cpp reads. Other keys are tensors and arrays of the operators.
Json dimension_definition() {
    const Json names{{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", {{"type", "string"}}}};
    const Json other{{"$ref", "#/$defs/dimension"}};
    return {{"type", "object"},
            {"minProperties", 1},
            {"properties", {{"different", names}, {"less", names}, {"before", other}, {"after", other}}},
            {"additionalProperties", number_schema()}};
}

/// What reduction_condition.cpp reads.
Json reduction_definition() {
    Json properties{{"along", {{"type", "string"}}}, {"dense", {{"type", "boolean"}}}};
    for (const std::string_view number : reduction_numbers()) {
        properties[std::string(number)] = number_schema();
    }
    return {{"type", "object"},
            {"required", {"along"}},
            {"properties", std::move(properties)},
            {"additionalProperties", false}};
}

/// What condition.cpp reads. Other keys are fields of the operators.
Json condition_definition() {
    const Json names{{"type", "array"}, {"minItems", 2}, {"maxItems", 2}, {"items", {{"type", "string"}}}};
    const Json text{{"type", "string"}};
    return {{"type", "object"},
            {"properties",
             {{"anyOf", {{"type", "array"}, {"minItems", 1}, {"items", condition_schema()}}},
              {"not", condition_schema()},
              {"anyTensor", {{"$ref", "#/$defs/tensor"}}},
              {"everyTensor", {{"$ref", "#/$defs/tensor"}}},
              {"differentSizes", names},
              {"differentTypes", names},
              {"differentNumbers", names},
              {"elementsAlong", {{"type", "object"}, {"minProperties", 1}, {"maxProperties", 1}}},
              {"reduction", reduction_definition()},
              {"startsWith",
               {{"type", "object"}, {"minProperties", 3}, {"maxProperties", 3}, {"additionalProperties", text}}},
              {"someDimension", {{"$ref", "#/$defs/dimension"}}},
              {"meets", text},
              {"operators", {{"anyOf", {text, {{"type", "array"}, {"minItems", 1}, {"items", text}}}}}},
              {"someNode", condition_schema()},
              {"someElement", {{"type", "object"}, {"minProperties", 1}}},
              {"breaks", {{"anyOf", {text, {{"type", "array"}, {"items", text}}}}}}}}};
}

}  // namespace

std::string expectations_schema() {
    const Json text{{"type", "string"}, {"pattern", "\\S"}};
    const Json glob{{"type", "string"}, {"minLength", 1}};
    const Json globs{{"anyOf", {glob, {{"type", "array"}, {"minItems", 1}, {"items", glob}}}}};
    const Json name_or_number{{"type", {"string", "number"}}};
    const Json within{{"anyOf", {glob, {{"type", "array"}, {"minItems", 1}, {"items", name_or_number}}}}};
    const Json range{{"type", "string"}, {"pattern", "^[ ,]*((>=|<=|>|<|=)? *[0-9]+(\\.[0-9]+)*[ ,]*)+$"}};
    Json statuses = Json::array();
    for (std::size_t i = 0; i < expected_count; ++i) {
        statuses.push_back(to_string(static_cast<Expected>(i)));
    }
    Json entry{
        {"type", "object"},
        {"properties",
         {{"cases", described("Ids of cases, or globs of them: `*` any characters, `?` one.", globs)},
          {"operators", described("The entry is about every descriptor of these operators.", globs)},
          {"when",
           described("A condition on the descriptor, and on the inputs where that is needed.", condition_schema())},
          {"elements",
           described(
               "Which elements of the outputs may differ, by tests of inputs, of \"expected\" and of \"actual\". All "
               "others must not.",
               {{"type", "object"},
                {"minProperties", 1},
                {"properties",
                 {{"output", globs},
                  {"from", glob},
                  {"within", within},
                  {"acceptedWith", {{"type", "object"}, {"minProperties", 1}}},
                  {"computedAs", text},
                  {"timesTolerance", {{"type", "number"}, {"minimum", 1}}}}},
                {"additionalProperties", number_schema()}})},
          {"happens", described("What goes wrong. Default: any of them.",
                                {{"enum", {"rejected", "accepted", "differs", "precision", "unwritten"}}})},
          {"sometimes", described("Not every case fails, and a pass is a plain pass.", {{"type", "boolean"}})},
          {"timesTolerance", described("Elements are off by at most this many times their tolerance, or all errors "
                                       "together by this many times what FP32 may be off by.",
                                       {{"type", "integer"}, {"minimum", 1}})},
          {"finding", described("A heading on the page of findings that says more.", text)},
          {"engine", described("A glob of the engine's name. Default: every engine.", glob)},
          {"adapter", described("A part of the adapter's name.", text)},
          {"driver", described("Versions of the driver: \">=22.3, <23\".", range)},
          {"libraries", described("Versions of libraries that the engine runs on, by their names in the result.",
                                  {{"type", "object"}, {"additionalProperties", range}})},
          {"status", described("How the case ends.", {{"enum", std::move(statuses)}})},
          {"reason", described("For people.", text)},
          {"issue", described("A link.", text)},
          {"expires", described("The last day, in UTC, on which the expectation counts.",
                                {{"type", "string"}, {"format", "date"}, {"pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}})},
          {"retries", described("How often a case that flakes is run again. Default: 3.",
                                {{"type", "integer"}, {"minimum", 1}, {"maximum", 100}})}}},
        {"required", {"status", "reason"}},
        {"anyOf", {{{"required", {"cases"}}}, {{"required", {"operators"}}}}},
        {"additionalProperties", false},
        {"if", {{"required", {"retries"}}}},
        {"then", {{"properties", {{"status", {{"const", "flake"}}}}}}}};
    const Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                      {"title", "dmlconform expectations"},
                      {"description", "Generated by `dmlconform schema expectations`; do not edit."},
                      {"type", "object"},
                      {"properties",
                       {{"$schema", {{"type", "string"}}},
                        {"format", {{"const", std::string(format_name)}}},
                        {"formatVersion", {{"const", format_version}}},
                        {"description", {{"type", "string"}}},
                        {"expectations", {{"type", "array"}, {"items", std::move(entry)}}}}},
                      {"required", {"format", "formatVersion", "expectations"}},
                      {"additionalProperties", false},
                      {"$defs",
                       {{"condition", condition_definition()},
                        {"dimension", dimension_definition()},
                        {"tensor", tensor_definition()},
                        {"number", number_definition()}}}};
    return schema.dump(1) + "\n";
}

}  // namespace dmlconform::expectations
