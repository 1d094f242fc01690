// Assembles template, library and data.
#include "engine/page/html_page.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "engine/bench/quantiles.h"
#include "engine/core/embedded_text.h"
#include "engine/core/feature_level.h"

namespace dmlconform::page {

/// Written by the build: the files in template/, and Chart.js in chunks; no chunks if it was not found.
extern const std::span<const core::EmbeddedText> template_texts;
extern const std::span<const std::string_view> chart_library;

namespace {

/// In order of dependency.
constexpr std::array scripts{"format.js",   "filters.js", "tables.js", "charts.js", "command.js",
                             "failures.js", "graphs.js",  "matrix.js", "times.js",  "main.js"};

std::string_view text_named(std::string_view name) {
    const auto found = std::find_if(template_texts.begin(), template_texts.end(),
                                    [&](const core::EmbeddedText& text) { return text.name == name; });
    return found == template_texts.end() ? std::string_view() : found->text;
}

Json precision_json(const std::string& data_type, const Total& total) {
    const auto type = data_type == "FLOAT16" ? core::DataType::float16 : core::DataType::float32;
    const std::string name = total.precision_name(data_type);
    return {{"name", name},
            {"less", !name.empty() && !name.starts_with("FP32")},
            {"q", total.precision.q()},
            {"bits", compare::effective_bits(total.precision.q(), type)}};
}

Json totals_json(const Totals& totals) {
    Json rows = Json::array();
    for (const auto& [key, total] : totals) {
        rows.push_back({{"operator", key.operator_name},
                        {"type", key.data_type},
                        {"engine", key.engine},
                        {"counts", total.counts},
                        {"offGate", total.off_gate},
                        {"ulps", total.ulps},
                        {"tolerance", total.tolerance},
                        {"largestTolerance", total.largest_tolerance},
                        {"precision", precision_json(key.data_type, total)},
                        {"seconds", total.seconds}});
    }
    return rows;
}

Json failures_json(const PageData& data) {
    Json rows = Json::array();
    for (const Failure& failure : data.failures) {
        Json row = failure.result;
        row["type"] = failure.data_type;
        row["run"] = failure.run;
        rows.push_back(std::move(row));
    }
    return rows;
}

Json runs_json(const std::vector<RunFile>& runs) {
    Json rows = Json::array();
    for (const RunFile& run : runs) {
        rows.push_back({{"path", run.path},
                        {"engines", run.engines},
                        {"started", run.started},
                        {"machine", run.machine},
                        {"command", run.command}});
    }
    return rows;
}

/// The repetitions of a benchmark in all files of one side, and the time at the roofline, if the files have it.
Json sample_json(const std::vector<BenchFile>& files, const std::string& name) {
    Json seconds = Json::array();
    std::vector<double> rooflines;
    for (const BenchFile& file : files) {
        const auto found = file.content.benchmarks.find(name);
        if (found == file.content.benchmarks.end()) {
            continue;
        }
        for (const double time : found->second.seconds) {
            seconds.push_back(time);
        }
        if (const auto percents = found->second.counters.find("percent_of_roofline");
            percents != found->second.counters.end()) {
            rooflines.push_back(bench::median(found->second.seconds) * bench::median(percents->second) / 100);
        }
    }
    Json sample{{"seconds", std::move(seconds)}};
    if (!rooflines.empty()) {
        sample["roofline"] = bench::median(rooflines);
    }
    return sample;
}

Json benchmarks_json(const PageData& data) {
    std::map<std::string, Json> rows;
    for (const BenchFile& file : data.benches) {
        for (const auto& [name, times] : file.content.benchmarks) {
            if (!rows.contains(name)) {
                rows[name] = {{"name", name}, {"now", sample_json(data.benches, name)}};
            }
        }
    }
    for (const bench::ComparedBenchmark& compared : data.comparison.benchmarks) {
        Json& row = rows[compared.name];
        row["base"] = sample_json(data.base, compared.name);
        row["change"] = bench::to_string(compared.change);
        row["ratio"] = compared.ratio;
        row["spread"] = compared.spread;
        row["p"] = compared.p;
    }
    Json list = Json::array();
    for (auto& [name, row] : rows) {
        list.push_back(std::move(row));
    }
    return list;
}

Json bench_files_json(const std::vector<BenchFile>& files) {
    Json rows = Json::array();
    for (const BenchFile& file : files) {
        rows.push_back({{"path", file.path}, {"context", file.content.context}});
    }
    return rows;
}

Json data_json(const PageData& data) {
    Json statuses = Json::array();
    for (std::size_t status = 0; status < run::status_count; ++status) {
        const auto which = static_cast<run::Status>(status);
        statuses.push_back({{"name", run::to_string(which)}, {"failure", run::is_failure(which)}});
    }
    Json buckets = Json::array();
    for (std::size_t bucket = 0; bucket < compare::UlpHistogram::bucket_count; ++bucket) {
        buckets.push_back(compare::UlpHistogram::label(bucket));
    }
    return {{"title", data.title},
            {"statuses", std::move(statuses)},
            {"ulpBuckets", std::move(buckets)},
            {"runs", runs_json(data.runs)},
            {"totals", totals_json(data.totals)},
            {"failures", failures_json(data)},
            {"failureCount", data.failure_count},
            {"graphs", data.graphs.shown()},
            {"graphCount", data.graphs.size()},
            {"highestFeatureLevel", core::to_string(core::highest_feature_level)},
            {"threshold", data.settings.threshold},
            {"benchFiles", bench_files_json(data.benches)},
            {"baseFiles", bench_files_json(data.base)},
            {"benchmarks", benchmarks_json(data)},
            {"slower",
             {{"names", data.slower().names},
              {"text", data.slower().text()},
              {"isUnclear", data.slower().undecided + data.slower().missing != 0}}},
            {"onlyInBase", data.comparison.missing},
            {"differences", data.comparison.differences},
            {"trends", data.trends}};
}

/// Replaces a marker, which must occur exactly once.
void put(std::string& page, std::string_view mark, std::string_view text) {
    page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

bool has_chart_library() {
    return !chart_library.empty();
}

std::string embeddable_json(const Json& json) {
    // Everything that HTML interprets within a script element begins with "<".
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string safe;
    safe.reserve(text.size());
    for (const char c : text) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

std::string html_page(const PageData& data) {
    std::string library;
    for (const std::string_view piece : chart_library) {
        library += piece;
    }
    std::string script;
    for (const char* name : scripts) {
        script += text_named(name);
    }
    std::string page(text_named("page.html"));
    // The data come last, because they may contain text that looks like a marker.
    put(page, "/*STYLE*/", text_named("page.css"));
    put(page, "/*LIBRARY*/", library);
    put(page, "/*SCRIPT*/", script);
    put(page, "/*DATA*/", embeddable_json(data_json(data)));
    return page;
}

}  // namespace dmlconform::page
