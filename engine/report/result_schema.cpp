// The JSON Schema of result files. The writer is json_report.cpp; docs/result-format.md describes the members.
#include "engine/report/result_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/compare/comparison.h"
#include "engine/core/data_type.h"
#include "engine/run/result.h"

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

const Json string{{"type", "string"}};
const Json count{{"type", "integer"}, {"minimum", 0}};
const Json string_map{{"type", "object"}, {"additionalProperties", string}};

Json array_of(Json items) {
    return {{"type", "array"}, {"items", std::move(items)}};
}

/// An object with these members; those in `optional` may be absent.
Json object(Json members, const std::vector<std::string>& optional = {}) {
    Json required = Json::array();
    for (const auto& [name, schema] : members.items()) {
        if (std::find(optional.begin(), optional.end(), name) == optional.end()) {
            required.push_back(name);
        }
    }
    return {{"type", "object"}, {"properties", std::move(members)}, {"required", std::move(required)}};
}

Json status_names() {
    Json names = Json::array();
    for (std::size_t status = 0; status < run::status_count; ++status) {
        names.push_back(run::to_string(static_cast<run::Status>(status)));
    }
    return names;
}

Json summary_schema() {
    Json members = Json::object();
    for (const Json& name : status_names()) {
        members[name.get<std::string>()] = count;
    }
    return object(std::move(members));
}

/// Null if it is infinite.
const Json difference{{"type", {"number", "null"}}, {"minimum", 0}};

const Json share{{"type", "number"}, {"minimum", 0}, {"maximum", 1}};

Json worst_schema() {
    return object({{"index", count},
                   {"coordinates", array_of(count)},
                   {"expected", string},
                   {"expectedBits", string},
                   {"actual", string},
                   {"actualBits", string},
                   {"ulp", {{"type", {"integer", "null"}}, {"minimum", 0}}},
                   {"acceptedBelow", difference},
                   {"acceptedAbove", difference}},
                  {"acceptedBelow", "acceptedAbove"});
}

Json precision_schema() {
    const Json number{{"type", "number"}};
    return object({{"elements", count},
                   {"different", count},
                   {"q", {{"type", "number"}, {"minimum", 0}}},
                   {"bias", number},
                   {"effectiveBits", number},
                   {"computesAs", string},
                   {"promised", string}},
                  {"q", "bias", "effectiveBits", "computesAs", "promised"});
}

Json output_schema() {
    Json types = Json::array();
    for (std::uint32_t i = 1; i < core::data_type_count; ++i) {
        types.push_back(core::name(static_cast<core::DataType>(i)));
    }
    Json buckets = Json::object();
    for (std::size_t bucket = 0; bucket < compare::UlpHistogram::bucket_count; ++bucket) {
        buckets[compare::UlpHistogram::label(bucket)] = count;
    }
    return object(
        {{"name", string},
         {"dataType", {{"enum", std::move(types)}}},
         {"sizes", array_of(count)},
         // Alternatively the name of the engine that the run is against.
         {"expectedFrom", string},
         {"tolerance", string},
         {"elements", count},
         {"beyondTolerance", count},
         {"ulpHistogram", object(std::move(buckets))},
         {"largestToleranceUsed", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}},
         {"worst", worst_schema()},
         {"errorMap",
          object({{"rows", count}, {"columns", count}, {"used", array_of(difference)}, {"wrong", array_of(share)}},
                 {"wrong"})},
         {"precision", precision_schema()},
         {"powerless", string}},
        {"largestToleranceUsed", "worst", "errorMap", "precision", "powerless"});
}

Json case_result_schema() {
    const Json rejection =
        object({{"code", string}, {"rule", string}, {"message", string}, {"legalFromFeatureLevel", string}},
               {"legalFromFeatureLevel"});
    const Json timing = object({{"totalNanoseconds", count},
                                {"executeNanoseconds", count},
                                {"deviceNanoseconds", count},
                                {"steadyNanoseconds", count}},
                               {"deviceNanoseconds", "steadyNanoseconds"});
    const Json expectation = object(
        {{"file", string}, {"line", count}, {"status", string}, {"reason", string}, {"issue", string}}, {"issue"});
    const Json graph = object({{"nodes", count},
                               {"description", string},
                               {"cuts", array_of(string)},
                               {"distinctNodes", count},
                               {"wrongNodes", array_of(string)}},
                              {"description", "cuts", "distinctNodes", "wrongNodes"});
    return object({{"id", string},
                   {"operator", string},
                   {"file", string},
                   {"line", count},
                   {"tags", array_of(string)},
                   {"engine", string},
                   {"repetition", count},
                   {"status", {{"enum", status_names()}}},
                   {"gated", {{"type", "boolean"}}},
                   {"reason", string},
                   {"difference", string},
                   {"hint", string},
                   {"actualStatus", {{"enum", status_names()}}},
                   {"attempts", {{"type", "integer"}, {"minimum", 2}}},
                   {"expectation", expectation},
                   {"rejection", rejection},
                   {"descriptor", array_of(string)},
                   {"graph", graph},
                   {"nodeOf", string},
                   {"node", string},
                   {"outputs", array_of(output_schema())},
                   {"uncompared", array_of(string)},
                   {"strayWrites", array_of(object({{"output", string}, {"offset", count}, {"bytes", count}}))},
                   {"timing", timing},
                   {"order", count}},
                  {"repetition", "reason", "difference", "hint", "actualStatus", "attempts", "expectation", "rejection",
                   "graph", "nodeOf", "node", "uncompared", "strayWrites", "timing", "order"});
}

}  // namespace

std::string result_schema() {
    const Json engine = object({{"name", string},
                                {"adapter", string},
                                {"driver", string},
                                {"libraries", string_map},
                                {"featureLevel", string},
                                {"command", string},
                                {"reference", {{"const", true}}}},
                               {"command", "reference"});
    const Json shard = object({{"index", count},
                               {"count", count},
                               {"cases", count},
                               {"casesOfAll", count},
                               {"fingerprint", string},
                               {"dividedBy", {{"enum", {"ids", "durations"}}}}});
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", "dmlconform result"},
                {"description", "Generated by `dmlconform schema result`; do not edit."}};
    schema.update(
        object({{"format", {{"const", "dmlconform-result"}}},
                {"formatVersion", {{"const", 1}}},
                {"versions", string_map},
                {"command", array_of(string)},
                {"started", string},
                {"machine", string},
                {"shard", shard},
                {"durationNanoseconds", count},
                {"exitCode", count},
                {"engines", array_of(engine)},
                {"summary", summary_schema()},
                {"unspecified", summary_schema()},
                {"unverified",
                 object({{"cases", count}, {"inPart", count}, {"powerless", count}, {"filters", array_of(string)}})},
                {"precision", object({{"fp32", count}, {"less", count}, {"cannotTell", count}})},
                {"results", array_of(case_result_schema())}},
               {"shard"}));
    return schema.dump(1) + "\n";
}

}  // namespace dmlconform::report
