// Reduces the repetitions of each process to one number.
#include "engine/bench/process_sample.h"

#include <algorithm>
#include <cmath>

#include "engine/bench/quantiles.h"

namespace dmlconform::bench {
namespace {

constexpr double upper_quantile = 0.9;
/// A process that waits all the time does not end; this bounds the quotient.
constexpr double most_waited = 0.99;

/// Adds a process, unless it did not settle and others did. `seconds`: of the benchmark, or of one of its nodes.
void add_process(const ProcessTimes& process, const std::vector<double>& seconds, ProcessSample& sample) {
    const bool settled = !process.unsettled;
    if (settled && !sample.settled) {
        sample = {{}, {}, true};
    }
    if (settled != sample.settled) {
        return;
    }
    sample.medians.push_back(median(seconds));
    if (!process.yardstick.empty()) {
        const double waited = process.waited.empty() ? 0 : std::min(median(process.waited), most_waited);
        sample.conditions.push_back(median(process.yardstick) / (1 - waited));
    }
}

}  // namespace

double ProcessSample::deviation() const {
    if (medians.size() < 2) {
        return 0;
    }
    const auto count = static_cast<double>(medians.size());
    double mean = 0;
    for (const double value : medians) {
        mean += std::log(value) / count;
    }
    double squares = 0;
    for (const double value : medians) {
        squares += (std::log(value) - mean) * (std::log(value) - mean);
    }
    return std::sqrt(squares / (count - 1));
}

SamplesByName samples_of(std::span<const BenchmarkFile> files) {
    SamplesByName samples;
    for (const BenchmarkFile& file : files) {
        for (const auto& [name, times] : file.benchmarks) {
            for (const auto& [number, process] : times.processes) {
                add_process(process, process.seconds, samples[name]);
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
        for (const auto& [number, process] : found->second.processes) {
            for (const auto& [node, seconds] : process.nodes) {
                add_process(process, seconds, samples[node]);
            }
        }
    }
    return samples;
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
