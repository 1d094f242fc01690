// Results as JSON. Elements are strings, because JSON has no NaN and no 64-bit integers that every reader keeps.
#include "engine/report/json_report.h"

#include <nlohmann/json.hpp>

#include "engine/core/element.h"

namespace dmlconform::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;

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
    return json;
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
              {"expectedFrom", output.from_reference ? "reference" : "case"},
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
            // Null where it is infinite, which JSON has no number for.
            json["worst"]["acceptedBelow"] = worst->slack->below;
            json["worst"]["acceptedAbove"] = worst->slack->above;
        }
    }
    return json;
}

Json timing_json(const run::Timing& timing) {
    Json json{{"totalNanoseconds", timing.total.count()}, {"executeNanoseconds", timing.execute.count()}};
    if (timing.device) {
        json["deviceNanoseconds"] = timing.device->count();
    }
    return json;
}

Json result_json(const run::CaseResult& result, const run::RunResult& run) {
    const cases::Case& subject = *result.subject;
    Json json{{"id", subject.id},
              {"operator", subject.descriptor->schema->name},
              {"file", subject.file},
              {"line", subject.line},
              {"tags", subject.tags},
              {"engine", run.engines[result.engine].name},
              {"status", to_string(result.status)},
              {"gated", result.gated}};
    if (!result.reason.empty()) {
        json["reason"] = result.reason;
    }
    if (result.rejection) {
        json["rejection"] = {{"code", core::to_string(result.rejection->code)},
                             {"rule", result.rejection->rule},
                             {"message", result.rejection->message}};
        if (result.rejection->legal_from) {
            json["rejection"]["legalFromFeatureLevel"] = core::to_string(*result.rejection->legal_from);
        }
    }
    json["descriptor"] = operators::to_lines(*subject.descriptor);
    json["outputs"] = Json::array();
    for (const run::OutputResult& output : result.outputs) {
        json["outputs"].push_back(comparison_json(output));
    }
    for (const run::StrayOutput& stray : result.stray_writes) {
        json["strayWrites"].push_back(
            {{"output", stray.name}, {"offset", stray.write.offset}, {"bytes", stray.write.bytes}});
    }
    if (result.timing.total.count() != 0) {
        json["timing"] = timing_json(result.timing);
    }
    return json;
}

}  // namespace

std::string json_report(const run::RunResult& run, const RunContext& context) {
    Json document{{"format", "dmlconform-result"},       {"formatVersion", format_version},
                  {"versions", pairs(context.versions)}, {"command", context.command},
                  {"started", context.started},          {"durationNanoseconds", run.duration.count()},
                  {"exitCode", context.exit_code}};
    document["engines"] = Json::array();
    for (const EngineInfo& engine : run.engines) {
        document["engines"].push_back(engine_json(engine));
    }
    Json counts = Json::object();
    Json unspecified = Json::object();
    for (std::size_t status = 0; status < run::status_count; ++status) {
        const auto which = static_cast<run::Status>(status);
        counts[to_string(which)] = run.count(which);
        unspecified[to_string(which)] = run.count(which, false);
    }
    document["summary"] = std::move(counts);
    document["unspecified"] = std::move(unspecified);
    document["results"] = Json::array();
    for (const run::CaseResult& result : run.results) {
        document["results"].push_back(result_json(result, run));
    }
    // Paths and command lines need not be UTF-8; what is not is replaced rather than thrown at.
    return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace dmlconform::report
