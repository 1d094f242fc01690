// Numbers the repetitions of all processes in one sequence, and computes their statistics.
#include "engine/bench/merged_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <utility>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/line_reporter.h"
#include "engine/bench/quantiles.h"
#include "engine/bench/repetitions.h"
#include "engine/bench/steadiness.h"

namespace dmlconform::bench {
namespace {

using Json = nlohmann::ordered_json;
using Run = benchmark::BenchmarkReporter::Run;

/// What bench writes: benchmarks have the unit that timing.cpp sets.
constexpr double seconds_per_microsecond = 1e-6;
constexpr const char* microseconds = "us";

bool is_repetition(const Json& entry) {
    return entry.is_object() && entry.contains("run_name") && entry["run_name"].is_string() &&
           entry.value("run_type", std::string("iteration")) == "iteration";
}

bool has_failed(const Json& entry) {
    const auto found = entry.find("error_occurred");
    return found != entry.end() && *found == true;
}

/// A failed repetition has a time as well, which is 0.
bool has_time(const Json& entry) {
    return !has_failed(entry) && entry.contains("real_time") && entry["real_time"].is_number() &&
           entry.value("time_unit", "") == microseconds;
}

std::vector<double> values_of(const std::vector<Json>& repetitions, const std::string& member) {
    std::vector<double> values;
    for (const Json& entry : repetitions) {
        if (has_time(entry) && entry.contains(member) && entry[member].is_number()) {
            values.push_back(entry[member].get<double>());
        }
    }
    return values;
}

double mean_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    return sum / static_cast<double>(values.size());
}

double deviation_of(const std::vector<double>& values) {
    const double mean = mean_of(values);
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return values.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(values.size() - 1));
}

struct Statistic {
    const char* name;
    const char* unit;
    std::function<double(const std::vector<double>&)> of;
};

const std::vector<Statistic>& statistics() {
    static const std::vector<Statistic> all{
        {"mean", "time", mean_of},
        {"median", "time", [](const std::vector<double>& values) { return median(values); }},
        {"stddev", "time", deviation_of},
        {"cv", "percentage", [](const std::vector<double>& values) { return deviation_of(values) / mean_of(values); }}};
    return all;
}

/// At least one of the repetitions has a time.
Json aggregate(const std::vector<Json>& repetitions, const std::string& name, const Statistic& statistic) {
    const std::vector<double> times = values_of(repetitions, "real_time");
    const Json& first = *std::ranges::find_if(repetitions, has_time);
    Json entry{{"name", name + "_" + statistic.name},
               {"run_name", name},
               {"run_type", "aggregate"},
               {"repetitions", times.size()},
               {"threads", first.value("threads", 1)},
               {"aggregate_name", statistic.name},
               {"aggregate_unit", statistic.unit},
               {"iterations", times.size()},
               {"real_time", statistic.of(times)},
               {"cpu_time", statistic.of(values_of(repetitions, "cpu_time"))},
               {"time_unit", microseconds}};
    if (first.contains("label")) {
        entry["label"] = first["label"];
    }
    return entry;
}

/// The repetitions that have times, by process.
std::map<std::int64_t, std::vector<Json>> by_process(const std::vector<Json>& repetitions) {
    std::map<std::int64_t, std::vector<Json>> processes;
    for (const Json& entry : repetitions) {
        if (has_time(entry)) {
            processes[entry[process_counter].get<std::int64_t>()].push_back(entry);
        }
    }
    return processes;
}

bool processes_drift(const std::vector<Json>& repetitions) {
    std::vector<double> medians;
    for (const auto& [number, process] : by_process(repetitions)) {
        medians.push_back(median(values_of(process, "real_time")));
    }
    return is_unsettled(medians, TimedBy::host);
}

/// One run with the medians of a process's numbers.
Run run_of(const std::string& name, const std::vector<Json>& process) {
    Run run;
    run.run_name.function_name = name;
    run.run_type = Run::RT_Iteration;
    run.iterations = 1;
    run.real_accumulated_time = median(values_of(process, "real_time")) * seconds_per_microsecond;
    for (const auto& [member, value] : process.front().items()) {
        if (const auto values = values_of(process, member); !values.empty()) {
            run.counters[member] = benchmark::Counter(median(values));
        }
    }
    return run;
}

/// One run without a time for each process in which a repetition failed.
Runs failures_of(const std::string& name, const std::vector<Json>& repetitions) {
    Runs failures;
    std::set<std::int64_t> processes;
    for (const Json& entry : repetitions) {
        if (has_failed(entry) && processes.insert(entry[process_counter].get<std::int64_t>()).second) {
            const auto message = entry.find("error_message");
            Run& run = failures.emplace_back();
            run.run_name.function_name = name;
            run.run_type = Run::RT_Iteration;
            set_error(run, message != entry.end() && message->is_string() ? message->get<std::string>() : "no reason");
        }
    }
    return failures;
}

}  // namespace

core::Result<void> MergedResults::add(std::string_view text) {
    Json document = Json::parse(text, nullptr, false);
    if (!document.is_object() || !document.contains("benchmarks") || !document["benchmarks"].is_array()) {
        return core::fail("it did not write results of Google Benchmark");
    }
    if (processes_ == 0 && document.contains("context") && document["context"].is_object()) {
        context_ = document["context"];
    }
    for (Json& entry : document["benchmarks"]) {
        if (!is_repetition(entry)) {
            continue;
        }
        const auto name = entry["run_name"].get<std::string>();
        auto [found, is_new] = repetitions_.try_emplace(name);
        if (is_new) {
            names_.push_back(name);
        }
        entry[process_counter] = processes_;
        found->second.push_back(std::move(entry));
    }
    ++processes_;
    return {};
}

std::size_t MergedResults::timed() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        repetitions_, [](const auto& benchmark) { return std::ranges::any_of(benchmark.second, has_time); }));
}

std::string MergedResults::document() const {
    Json document{{"context", context_}, {"benchmarks", Json::array()}};
    document["context"]["dmlconform.processes"] = fmt::to_string(processes_);
    for (const std::string& name : names_) {
        std::vector<Json> repetitions = repetitions_.at(name);
        const bool drift = processes_drift(repetitions);
        for (std::size_t i = 0; i < repetitions.size(); ++i) {
            repetitions[i]["repetitions"] = repetitions.size();
            repetitions[i]["repetition_index"] = i;
            if (drift) {
                repetitions[i][unsettled_counter] = 1;
            }
        }
        for (const Json& entry : repetitions) {
            document["benchmarks"].push_back(entry);
        }
        if (repetitions.size() > 1 && std::ranges::any_of(repetitions, has_time)) {
            for (const Statistic& statistic : statistics()) {
                document["benchmarks"].push_back(aggregate(repetitions, name, statistic));
            }
        }
    }
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string MergedResults::table(std::size_t width) const {
    std::vector<Runs> rows;
    benchmark::BenchmarkReporter::Context context;
    context.name_field_width = 0;  // the constructor does not set it
    for (const std::string& name : names_) {
        Runs runs;
        for (const auto& [number, process] : by_process(repetitions_.at(name))) {
            runs.push_back(run_of(name, process));
        }
        const Runs failures = failures_of(name, repetitions_.at(name));
        runs.insert(runs.end(), failures.begin(), failures.end());
        if (!runs.empty()) {
            rows.push_back(std::move(runs));
            context.name_field_width = std::max(context.name_field_width, name.size());
        }
    }
    // Single values of a device's clock are judged more strictly, but here each value comes from another process.
    const std::set<std::string> by_devices;
    LineReporter lines(by_devices, width, processes_);
    std::ostringstream text;
    lines.SetOutputStream(&text);
    lines.ReportContext(context);
    for (const Runs& runs : rows) {
        lines.ReportRuns(runs);
    }
    lines.Finalize();
    return text.str();
}

}  // namespace dmlconform::bench
