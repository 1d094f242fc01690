// Reduces results of both kinds to what a history keeps.
#include "engine/history/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/bench/benchmark_file.h"
#include "engine/bench/quantiles.h"
#include "engine/core/hash.h"
#include "engine/history/moment.h"
#include "engine/operators/operator_name.h"
#include "engine/report/result_file.h"

namespace dmlconform::history {
namespace {

/// Prefix of the entries that dmlconform adds to Google Benchmark's context.
constexpr std::string_view context_prefix = "dmlconform.";
constexpr std::string_view adapter_suffix = ".adapter";

std::string context_of(const bench::BenchmarkFile& file, const std::string& name) {
    const auto found = file.context.find(name);
    return found == file.context.end() ? std::string() : found->second;
}

std::vector<Device> devices_of(const bench::BenchmarkFile& file) {
    std::vector<Device> devices;
    for (const auto& [name, value] : file.context) {
        if (!name.starts_with(context_prefix) || !name.ends_with(adapter_suffix) ||
            name.size() <= context_prefix.size() + adapter_suffix.size()) {
            continue;
        }
        const std::string engine =
            name.substr(context_prefix.size(), name.size() - context_prefix.size() - adapter_suffix.size());
        devices.push_back({engine, value, context_of(file, fmt::format("{}{}.driver", context_prefix, engine))});
    }
    return devices;
}

core::Result<Record> read_bench(const std::string& path) {
    const auto file = bench::read_benchmark_file(path);
    if (!file) {
        return tl::unexpected(file.error());
    }
    Record record;
    record.kind = Kind::bench;
    record.measured = parse_moment(context_of(*file, "date"));
    record.machine = context_of(*file, "dmlconform.machine");
    if (record.machine.empty()) {
        record.machine = context_of(*file, "host_name");
    }
    record.devices = devices_of(*file);
    for (const auto& [name, times] : file->benchmarks) {
        Times& entry = record.times.emplace_back();
        entry.benchmark = name;
        if (times.processes.size() < 2) {
            entry.seconds = times.seconds;
        }
        for (const auto& [number, process] : times.processes) {
            if (times.processes.size() > 1) {
                entry.seconds.insert(entry.seconds.end(), process.seconds.begin(), process.seconds.end());
                entry.by_process.push_back(process.seconds.size());
            }
        }
        if (const std::string engine = name.substr(0, name.find('/')); record.device(engine) != nullptr) {
            entry.engine = engine;
            // Labels of other programs may say anything.
            entry.label = times.descriptor.empty() ? "" : fmt::format("{} {}", times.label, times.descriptor);
        }
        if (const auto percents = times.counters.find("percent_of_roofline"); percents != times.counters.end()) {
            entry.percent_of_roofline = bench::median(percents->second);
        }
    }
    return record;
}

core::Result<Record> read_run(const std::string& path) {
    using Key = std::tuple<std::string, std::string, bool>;
    std::map<Key, Outcome> outcomes;
    const auto header = report::read_result_file(path, [&](nlohmann::ordered_json& result) {
        const auto text = [&](const char* name) { return result[name].get<std::string>(); };
        const std::string operator_name(operators::short_name_of(text("operator")));
        const bool gated = result["gated"].get<bool>();
        Outcome& outcome = outcomes[{text("engine"), operator_name, gated}];
        ++outcome.counts[static_cast<std::size_t>(*report::status_named(text("status")))];
        if (const auto timing = result.find("timing"); timing != result.end()) {
            outcome.seconds += (*timing)["executeNanoseconds"].get<double>() / 1e9;
        }
        return core::Result<void>();
    });
    if (!header) {
        return tl::unexpected(header.error());
    }
    Record record;
    record.kind = Kind::run;
    record.measured = parse_moment(header->started);
    record.machine = header->machine;
    for (const report::StoredEngine& engine : header->engines) {
        record.devices.push_back({engine.name, engine.adapter, engine.driver});
    }
    for (auto& [key, outcome] : outcomes) {
        std::tie(outcome.engine, outcome.operator_name, outcome.gated) = key;
        record.outcomes.push_back(std::move(outcome));
    }
    return record;
}

/// FNV-1a over texts and their lengths, so that different lists do not concatenate to the same text.
class Hash {
public:
    void add(std::string_view text) {
        add_bytes(fmt::format("{}:", text.size()));
        add_bytes(text);
    }
    void add(double number) { add(std::string_view(fmt::format("{:a}", number))); }
    [[nodiscard]] std::string text() const { return fmt::format("{:016x}-{}", state_, length_); }

private:
    void add_bytes(std::string_view text) {
        state_ = core::fnv1a(text, state_);
        length_ += text.size();
    }

    std::uint64_t state_ = core::fnv1a_start;
    std::uint64_t length_ = 0;
};

}  // namespace

const char* to_string(Kind kind) {
    return kind == Kind::bench ? "bench" : "run";
}

std::vector<double> Times::sample() const {
    if (by_process.empty()) {
        return seconds;
    }
    std::vector<double> medians;
    auto next = seconds.begin();
    for (const std::size_t count : by_process) {
        const auto end = next + static_cast<std::ptrdiff_t>(count);
        medians.push_back(bench::median({next, end}));
        next = end;
    }
    return medians;
}

const Device* Record::device(const std::string& engine) const {
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const Device& entry) { return entry.engine == engine; });
    return found == devices.end() ? nullptr : &*found;
}

core::Result<Record> read_record(const std::string& path) {
    return report::is_result_file(path) ? read_run(path) : read_bench(path);
}

std::string fingerprint(const Record& record) {
    Hash hash;
    hash.add(to_string(record.kind));
    hash.add(record.measured ? format_moment(*record.measured) : "");
    hash.add(record.machine);
    for (const Device& device : record.devices) {
        for (const std::string& text : {device.engine, device.adapter, device.driver}) {
            hash.add(text);
        }
    }
    for (const Times& times : record.times) {
        hash.add(times.benchmark);
        hash.add(static_cast<double>(times.seconds.size()));
        std::for_each(times.seconds.begin(), times.seconds.end(), [&](double seconds) { hash.add(seconds); });
        for (const std::size_t count : times.by_process) {
            hash.add(static_cast<double>(count));
        }
        if (!times.label.empty()) {
            hash.add(times.label);
        }
    }
    for (const Outcome& outcome : record.outcomes) {
        hash.add(outcome.engine);
        hash.add(outcome.operator_name);
        hash.add(outcome.gated ? "on" : "off");
        for (const std::uint64_t count : outcome.counts) {
            hash.add(static_cast<double>(count));
        }
        hash.add(outcome.seconds);
    }
    return hash.text();
}

std::string fingerprint_without_labels(Record record) {
    for (Times& times : record.times) {
        times.label.clear();
    }
    return fingerprint(record);
}

}  // namespace dmlconform::history
