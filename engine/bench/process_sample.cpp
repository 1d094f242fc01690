// Reduces the repetitions of each process to one number.
#include "engine/bench/process_sample.h"

#include <algorithm>
#include <cmath>

#include "engine/bench/benchmark_name.h"
#include "engine/bench/quantiles.h"

namespace dmlconform::bench {
namespace {

constexpr double upper_quantile = 0.9;
/// A process that waits all the time does not end; this bounds the quotient.
constexpr double most_waited = 0.99;

/// By process of a file: the longest wait in any of its benchmarks.
using Waits = std::map<std::int64_t, double>;

Waits waits_in(const BenchmarkFile& file) {
    Waits waits;
    for (const auto& [name, times] : file.benchmarks) {
        for (const auto& [number, process] : times.processes) {
            if (!process.waited.empty()) {
                double& longest = waits[number];
                longest = std::max(longest, std::min(median(process.waited), most_waited));
            }
        }
    }
    return waits;
}

/// Adds a process, unless it did not settle and others did. `seconds`: of the benchmark, or of one of its nodes.
/// `longest_wait`: of the process.
void add_process(const ProcessTimes& process, const std::vector<double>& seconds, double longest_wait,
                 bool by_processor, ProcessSample& sample) {
    const bool settled = !process.unsettled;
    if (settled && !sample.settled) {
        const std::size_t unsettled = sample.times.size();
        sample = ProcessSample();
        sample.settled = true;
        sample.left_out = unsettled;
    }
    if (settled != sample.settled) {
        ++sample.left_out;
        return;
    }
    sample.times.push_back(time_of_process(seconds, by_processor));
    const double waited = process.waited.empty() ? 0 : longest_wait;
    if (!process.waited.empty()) {
        sample.waited.push_back(waited);
    }
    if (!process.yardstick.empty()) {
        sample.conditions.push_back(median(process.yardstick) / (1 - waited));
    }
}

}  // namespace

double time_of_process(const std::vector<double>& repetitions, bool by_processor) {
    return by_processor ? *std::ranges::min_element(repetitions) : median(repetitions);
}

std::vector<double> times_of_processes(const BenchmarkTimes& times, bool by_processor) {
    std::vector<double> each;
    for (const auto& [number, process] : times.processes) {
        each.push_back(time_of_process(process.seconds, by_processor));
    }
    return each;
}

double ProcessSample::deviation() const {
    if (times.size() < 2) {
        return 0;
    }
    const auto count = static_cast<double>(times.size());
    double mean = 0;
    for (const double value : times) {
        mean += std::log(value) / count;
    }
    double squares = 0;
    for (const double value : times) {
        squares += (std::log(value) - mean) * (std::log(value) - mean);
    }
    return std::sqrt(squares / (count - 1));
}

double ProcessSample::usual_wait() const {
    return waited.empty() ? 0 : median(waited);
}

SamplesByName samples_of(std::span<const BenchmarkFile> files) {
    SamplesByName samples;
    for (const BenchmarkFile& file : files) {
        Waits waits = waits_in(file);
        for (const auto& [name, times] : file.benchmarks) {
            const bool by_processor = split_name(name).by_processor;
            for (const auto& [number, process] : times.processes) {
                add_process(process, process.seconds, waits[number], by_processor, samples[name]);
            }
        }
    }
    return samples;
}

SamplesByName samples_of_nodes(std::span<const BenchmarkFile> files, const std::string& benchmark) {
    SamplesByName samples;
    for (const BenchmarkFile& file : files) {
        const auto found = file.benchmarks.find(benchmark);
        if (found == file.benchmarks.end()) {
            continue;
        }
        Waits waits = waits_in(file);
        const bool by_processor = split_name(benchmark).by_processor;
        for (const auto& [number, process] : found->second.processes) {
            for (const auto& [node, seconds] : process.nodes) {
                add_process(process, seconds, waits[number], by_processor, samples[node]);
            }
        }
    }
    return samples;
}

double difference_of_conditions(const ProcessSample& base, const ProcessSample& now) {
    if (base.conditions.empty() || now.conditions.empty()) {
        return 1;
    }
    const double ratio = median(now.conditions) / median(base.conditions);
    return std::max(ratio, 1 / ratio);
}

double range_of_conditions(const ProcessSample& base, const ProcessSample& now) {
    if (base.conditions.empty() || now.conditions.empty()) {
        return 1;
    }
    std::vector<double> all = base.conditions;
    all.insert(all.end(), now.conditions.begin(), now.conditions.end());
    std::ranges::sort(all);
    return quantile(all, upper_quantile) / quantile(all, 1 - upper_quantile);
}

}  // namespace dmlconform::bench
