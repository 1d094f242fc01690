// Results as JSON. Elements are strings, because JSON has no NaN and no 64-bit integers that every reader keeps.
#include "engine/report/json_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/core/element.h"
#include "engine/operators/graph.h"

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

Json pairs(const std::vector<std::pair<std::string, std::string>>& list) {
    Json object = Json::object();
    for (const auto& [name, version] : list) {
        object[name] = version;
    }
    return object;
}

Json engine_json(const EngineInfo& engine) {
    Json json{{"name", engine.name},
              {"adapter", engine.adapter},
              {"driver", engine.driver},
              {"libraries", pairs(engine.libraries)},
              {"featureLevel", core::to_string(engine.feature_level)}};
    if (!engine.command.empty()) {
        json["command"] = engine.command;
    }
    if (engine.is_reference) {
        json["reference"] = true;
    }
    return json;
}

/// Three digits are sufficient. Infinity, which JSON lacks, becomes null.
Json error_map_json(const compare::ErrorMap& map) {
    Json used = Json::array();
    for (const double share : map.used) {
        used.push_back(std::isfinite(share) ? Json(std::stod(fmt::format("{:.3g}", share))) : Json(nullptr));
    }
    Json wrong = Json::array();
    for (const double share : map.wrong) {
        wrong.push_back(std::stod(fmt::format("{:.3g}", share)));
    }
    return {{"rows", map.rows}, {"columns", map.columns}, {"used", std::move(used)}, {"wrong", std::move(wrong)}};
}

/// Five significant digits; clamped to the range of JSON's numbers.
double short_number(double value) {
    return std::stod(fmt::format("{:.5g}", std::clamp(value, -1e300, 1e300)));
}

Json precision_json(const run::OutputPrecision& precision, core::DataType type) {
    const compare::PrecisionStatistic& statistic = precision.statistic;
    Json json{{"elements", statistic.elements}, {"different", statistic.different}};
    if (statistic.elements != 0) {
        json["q"] = short_number(statistic.q());
        json["bias"] = short_number(statistic.bias());
    }
    if (statistic.can_tell()) {
        json["effectiveBits"] = short_number(compare::effective_bits(statistic.q(), type));
    }
    if (!precision.computes_as.empty()) {
        json["computesAs"] = precision.computes_as;
    }
    if (!precision.promised.empty()) {
        json["promised"] = precision.promised;
    }
    return json;
}

Json shard_json(const run::ShardInfo& info) {
    return {{"index", info.shard.index + 1},
            {"count", info.shard.count},
            {"cases", info.cases},
            {"casesOfAll", info.cases_of_all},
            // A string, because not every reader supports 64-bit integers.
            {"fingerprint", fmt::format("{:016x}", info.fingerprint)},
            {"dividedBy", info.by_durations ? "durations" : "ids"}};
}

Json comparison_json(const run::OutputResult& output) {
    const compare::Comparison& comparison = output.comparison;
    Json histogram = Json::object();
    for (std::size_t bucket = 0; bucket < comparison.histogram.counts.size(); ++bucket) {
        histogram[compare::UlpHistogram::label(bucket)] = comparison.histogram.counts[bucket];
    }
    Json json{{"name", output.name},
              {"dataType", core::name(output.desc.data_type)},
              {"sizes", output.desc.sizes},
              {"expectedFrom", !output.expected_by.empty() ? output.expected_by
                               : output.from_reference     ? "reference"
                                                           : "case"},
              {"tolerance", core::to_string(output.tolerance)},
              {"elements", comparison.elements},
              {"beyondTolerance", comparison.beyond},
              {"ulpHistogram", std::move(histogram)}};
    if (comparison.largest_fraction) {
        json["largestToleranceUsed"] = *comparison.largest_fraction;
    }
    if (const auto& worst = comparison.worst) {
        const core::DataType type = output.desc.data_type;
        json["worst"] = {{"index", worst->index},
                         {"coordinates", compare::coordinates_of(worst->index, output.desc.sizes)},
                         {"expected", core::format_element(type, worst->expected_bits)},
                         {"expectedBits", core::format_bits(type, worst->expected_bits)},
                         {"actual", core::format_element(type, worst->actual_bits)},
                         {"actualBits", core::format_bits(type, worst->actual_bits)}};
        json["worst"]["ulp"] = worst->ulp ? Json(*worst->ulp) : Json(nullptr);
        if (worst->slack) {
            // Null if it is infinite, which JSON cannot represent.
            json["worst"]["acceptedBelow"] = worst->slack->below;
            json["worst"]["acceptedAbove"] = worst->slack->above;
        }
    }
    if (output.precision) {
        json["precision"] = precision_json(*output.precision, output.desc.data_type);
    }
    if (!output.powerless.empty()) {
        json["powerless"] = output.powerless;
    }
    if (output.error_map) {
        json["errorMap"] = error_map_json(*output.error_map);
    }
    return json;
}

Json timing_json(const run::Timing& timing) {
    Json json{{"totalNanoseconds", timing.total.count()}, {"executeNanoseconds", timing.execute.count()}};
    if (timing.device) {
        json["deviceNanoseconds"] = timing.device->count();
    }
    if (timing.steady) {
        json["steadyNanoseconds"] = timing.steady->count();
    }
    return json;
}

Json expectation_json(const expectations::Expectation& expectation) {
    Json json{{"file", expectation.file},
              {"line", expectation.line},
              {"status", to_string(expectation.expected)},
              {"reason", expectation.title()}};
    if (!expectation.issue.empty()) {
        json["issue"] = expectation.issue;
    }
    return json;
}

Json graph_json(const run::CaseResult& result) {
    const cases::Case& subject = *result.subject;
    Json json{{"nodes", subject.descriptor->graph->nodes.size()}};
    if (!subject.description.empty()) {
        json["description"] = subject.description;
    }
    if (!subject.cuts.empty()) {
        json["cuts"] = subject.cuts;
    }
    if (result.nodes) {
        json["distinctNodes"] = result.nodes->judged;
        json["wrongNodes"] = result.nodes->wrong;
    }
    return json;
}

Json rejection_json(const operators::Rejection& rejection) {
    Json json{{"code", core::to_string(rejection.code)}, {"rule", rejection.rule}, {"message", rejection.message}};
    if (rejection.legal_from) {
        json["legalFromFeatureLevel"] = core::to_string(*rejection.legal_from);
    }
    return json;
}

/// Adds why the result has its status, as far as there is anything to say.
void add_reasons(const run::CaseResult& result, Json& json) {
    if (result.repetition != 0) {
        json["repetition"] = result.repetition;
    }
    if (!result.reason.empty()) {
        json["reason"] = result.reason;
    }
    if (!result.difference.empty()) {
        json["difference"] = result.difference;
    }
    if (!result.hint.empty()) {
        json["hint"] = result.hint;
    }
    if (result.actual) {
        json["actualStatus"] = to_string(*result.actual);
    }
    if (result.attempts > 1) {
        json["attempts"] = result.attempts;
    }
    if (result.expectation != nullptr) {
        json["expectation"] = expectation_json(*result.expectation);
    }
    if (result.rejection) {
        json["rejection"] = rejection_json(*result.rejection);
    }
}

/// Adds what was executed: the descriptor, and the graph that it is or belongs to.
void add_subject(const run::CaseResult& result, Json& json) {
    const cases::Case& subject = *result.subject;
    json["descriptor"] = operators::to_lines(*subject.descriptor);
    if (subject.descriptor->graph != nullptr) {
        json["graph"] = graph_json(result);
    }
    if (!subject.graph_id.empty()) {
        json["nodeOf"] = subject.graph_id;
        json["node"] = subject.node_name;
    }
}

/// Adds what came of it.
void add_outputs(const run::CaseResult& result, Json& json) {
    json["outputs"] = Json::array();
    for (const run::OutputResult& output : result.outputs) {
        json["outputs"].push_back(comparison_json(output));
    }
    if (!result.uncompared.empty()) {
        json["uncompared"] = result.uncompared;
    }
    for (const run::StrayOutput& stray : result.stray_writes) {
        json["strayWrites"].push_back(
            {{"output", stray.name}, {"offset", stray.write.offset}, {"bytes", stray.write.bytes}});
    }
    if (result.timing.total.count() != 0) {
        json["timing"] = timing_json(result.timing);
    }
}

Json result_object(const run::CaseResult& result, const std::string& engine) {
    const cases::Case& subject = *result.subject;
    Json json{{"id", subject.id},
              {"operator", subject.descriptor->schema->name},
              {"file", subject.file},
              {"line", subject.line},
              {"tags", subject.tags},
              {"engine", engine},
              {"status", to_string(result.status)},
              {"gated", result.gated}};
    add_reasons(result, json);
    add_subject(result, json);
    add_outputs(result, json);
    return json;
}

Json counts_json(const run::RunTotals& totals, bool gated) {
    Json counts = Json::object();
    for (std::size_t status = 0; status < run::status_count; ++status) {
        const auto which = static_cast<run::Status>(status);
        counts[to_string(which)] = totals.count(which, gated);
    }
    return counts;
}

/// Paths and command lines may contain invalid UTF-8, which is replaced instead of throwing.
std::string dump(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// The members of an object, without its braces.
std::string members(const Json& object) {
    const std::string text = dump(object, 1);
    return text.substr(1, text.size() - 3);
}

}  // namespace

std::string result_json(const run::CaseResult& result, const std::string& engine, bool ordered) {
    Json json = result_object(result, engine);
    if (ordered) {
        json["order"] = result.order;
    }
    return dump(json, -1);
}

std::string json_opening(const Json& head) {
    return "{" + members(head) + ",\n \"results\": [";
}

std::string json_closing(const run::RunTotals& totals, int exit_code) {
    const Json tail{{"summary", counts_json(totals, true)},
                    {"unspecified", counts_json(totals, false)},
                    {"unverified",
                     {{"cases", totals.unverified.cases},
                      {"inPart", totals.unverified.in_part},
                      {"powerless", totals.unverified.powerless},
                      {"filters", totals.unverified.filters}}},
                    {"precision",
                     {{"fp32", totals.precision.fp32},
                      {"less", totals.precision.less},
                      {"cannotTell", totals.precision.cannot_tell}}},
                    {"durationNanoseconds", totals.duration.count()},
                    {"exitCode", exit_code}};
    return "\n ]," + members(tail) + "\n}\n";
}

core::Result<void> JsonReport::begin(const RunContext& context, std::span<const EngineInfo> engines) {
    if (auto opened = file_.open(path_); !opened) {
        return opened;
    }
    Json head{{"format", "dmlconform-result"},       {"formatVersion", result_format_version},
              {"versions", pairs(context.versions)}, {"command", context.command},
              {"started", context.started},          {"machine", context.machine}};
    if (context.shard) {
        sharded_ = true;
        head["shard"] = shard_json(*context.shard);
    }
    head["engines"] = Json::array();
    for (const EngineInfo& engine : engines) {
        engines_.push_back(engine.name);
        head["engines"].push_back(engine_json(engine));
    }
    return file_.write(json_opening(head));
}

core::Result<void> JsonReport::add(const run::CaseResult& result) {
    const char* const before = std::exchange(first_, false) ? "\n  " : ",\n  ";
    return file_.write(before + result_json(result, engines_[result.engine], sharded_));
}

core::Result<void> JsonReport::finish(const run::RunTotals& totals, int exit_code) {
    if (auto written = file_.write(json_closing(totals, exit_code)); !written) {
        return written;
    }
    return file_.commit();
}

}  // namespace dmlconform::report
