// Writes the export formats.
#include "engine/history/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/quantiles.h"
#include "engine/history/moment.h"

namespace dmlconform::history {
namespace {

using Json = nlohmann::ordered_json;

struct Summary {
    double median = 0;
    double low = 0;
    double high = 0;
};

Summary summary_of(std::vector<double> seconds) {
    std::sort(seconds.begin(), seconds.end());
    return {bench::quantile(seconds, 0.5), bench::quantile(seconds, 0.25), bench::quantile(seconds, 0.75)};
}

std::string text_of(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// A CSV field, quoted according to RFC 4180. Names are untrusted, and spreadsheets evaluate texts that begin like a
/// formula; such a text is prefixed with an apostrophe.
std::string field(std::string text) {
    if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) {
        text.insert(text.begin(), '\'');
    }
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

class CsvLines {
public:
    CsvLines(const Entry& entry, const Record& record, std::string& text)
        : record_(record),
          text_(text),
          start_(fmt::format("{},{},{},{},{}", entry.id, to_string(entry.kind), format_moment(entry.measured),
                             field(entry.commit), field(entry.machine))) {}

    void add(const std::string& engine, const std::string& name, const std::string& measure, double value) {
        const Device* device = record_.device(engine);
        text_ += fmt::format("{},{},{},{},{},{},{}\r\n", start_, field(engine),
                             field(device == nullptr ? "" : device->adapter),
                             field(device == nullptr ? "" : device->driver), field(name), measure, value);
    }

private:
    const Record& record_;
    std::string& text_;
    std::string start_;
};

void add_lines(const Entry& entry, const Record& record, std::string& text) {
    CsvLines lines(entry, record, text);
    for (const Times& times : record.times) {
        const Summary summary = summary_of(times.sample());
        lines.add(times.engine, times.benchmark, "median_seconds", summary.median);
        lines.add(times.engine, times.benchmark, "low_seconds", summary.low);
        lines.add(times.engine, times.benchmark, "high_seconds", summary.high);
        lines.add(times.engine, times.benchmark, "repetitions", static_cast<double>(times.seconds.size()));
        if (times.percent_of_roofline) {
            lines.add(times.engine, times.benchmark, "percent_of_roofline", *times.percent_of_roofline);
        }
    }
    for (const Outcome& outcome : record.outcomes) {
        for (std::size_t status = 0; status < outcome.counts.size(); ++status) {
            lines.add(outcome.engine, outcome.operator_name,
                      fmt::format("{}{}", run::to_string(static_cast<run::Status>(status)),
                                  outcome.gated ? "" : "_off_the_gate"),
                      static_cast<double>(outcome.counts[status]));
        }
        lines.add(outcome.engine, outcome.operator_name,
                  outcome.gated ? "execution_seconds" : "execution_seconds_off_the_gate", outcome.seconds);
    }
}

/// The number of the process that measured a repetition.
std::size_t process_of(const Times& times, std::size_t repetition) {
    std::size_t process = 0;
    for (std::size_t end = times.by_process[0]; repetition >= end; end += times.by_process[process]) {
        ++process;
    }
    return process;
}

}  // namespace

std::string bencher_metrics(const Record& record) {
    Json document = Json::object();
    for (const Times& times : record.times) {
        const Summary summary = summary_of(times.sample());
        document[times.benchmark]["latency"] = {
            {"value", summary.median * 1e9}, {"lower_value", summary.low * 1e9}, {"upper_value", summary.high * 1e9}};
        if (times.percent_of_roofline) {
            document[times.benchmark]["percent-of-roofline"] = {{"value", *times.percent_of_roofline}};
        }
    }
    for (const Outcome& outcome : record.outcomes) {
        if (!outcome.gated) {
            continue;
        }
        Json& measures = document[fmt::format("{}/{}", outcome.engine, outcome.operator_name)];
        for (std::size_t status = 0; status < outcome.counts.size(); ++status) {
            measures[run::to_string(static_cast<run::Status>(status))] = {{"value", outcome.counts[status]}};
        }
    }
    return text_of(document);
}

std::string google_benchmark_json(const Record& record, const Entry& entry) {
    Json context{{"date", format_moment(entry.measured)}, {"dmlconform.machine", record.machine}};
    if (!entry.commit.empty()) {
        context["dmlconform.commit"] = entry.commit;
    }
    for (const Device& device : record.devices) {
        context[fmt::format("dmlconform.{}.adapter", device.engine)] = device.adapter;
        context[fmt::format("dmlconform.{}.driver", device.engine)] = device.driver;
    }
    Json benchmarks = Json::array();
    for (const Times& times : record.times) {
        for (std::size_t i = 0; i < times.seconds.size(); ++i) {
            const double nanoseconds = times.seconds[i] * 1e9;
            Json line{{"name", times.benchmark}, {"run_name", times.benchmark},
                      {"run_type", "iteration"}, {"repetitions", times.seconds.size()},
                      {"repetition_index", i},   {"threads", 1},
                      {"iterations", 1},         {"real_time", nanoseconds},
                      {"cpu_time", nanoseconds}, {"time_unit", "ns"}};
            if (!times.by_process.empty()) {
                line[bench::process_counter] = process_of(times, i);
            }
            if (times.percent_of_roofline) {
                line["percent_of_roofline"] = *times.percent_of_roofline;
            }
            if (!times.label.empty()) {
                line["label"] = times.label;
            }
            benchmarks.push_back(std::move(line));
        }
    }
    return text_of({{"context", std::move(context)}, {"benchmarks", std::move(benchmarks)}});
}

core::Result<std::string> csv(Store& store) {
    const auto entries = store.entries();
    if (!entries) {
        return tl::unexpected(entries.error());
    }
    std::string text = "entry,kind,measured,commit,machine,engine,adapter,driver,name,measure,value\r\n";
    for (const Entry& entry : *entries) {
        const auto record = store.record(entry.id);
        if (!record) {
            return tl::unexpected(record.error());
        }
        add_lines(entry, *record, text);
    }
    return text;
}

}  // namespace dmlconform::history
