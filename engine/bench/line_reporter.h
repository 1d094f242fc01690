// The table of `dmlconform bench`: each benchmark's line is printed when it is finished.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace dmlconform::bench {

class LineReporter final : public benchmark::BenchmarkReporter {
public:
    /// The names live as long as the reporter. `width`: how many characters fit a line; 0: any number. Names that do
    /// not fit beside the numbers have a line of their own. `processes`: how many processes ran each benchmark, if each
    /// run stands for one of them; 0 if runs are repetitions of one process.
    LineReporter(const std::set<std::string>& timed_by_devices, std::size_t width, std::size_t processes = 0)
        : timed_by_devices_(timed_by_devices), width_(width), processes_(processes) {}

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    void Finalize() override;

private:
    const std::set<std::string>& timed_by_devices_;
    std::size_t width_;
    std::size_t processes_;
    std::size_t name_width_ = 0;
    std::size_t count_ = 0;
    std::size_t unsettled_ = 0;
    std::size_t noisy_ = 0;
    std::size_t disturbed_ = 0;
    /// Shares; the worst of all benchmarks.
    double longest_wait_ = 0;
    double largest_change_ = 0;
};

}  // namespace dmlconform::bench
