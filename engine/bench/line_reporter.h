// The table that `dmlconform bench` prints: a line for each benchmark as soon as it is done.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace dmlconform::bench {

class LineReporter final : public benchmark::BenchmarkReporter {
public:
    /// The names live as long as the reporter.
    explicit LineReporter(const std::set<std::string>& timed_by_devices) : timed_by_devices_(timed_by_devices) {}

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    void Finalize() override;

private:
    const std::set<std::string>& timed_by_devices_;
    std::size_t name_width_ = 0;
    std::size_t count_ = 0;
    std::size_t unsettled_ = 0;
};

}  // namespace dmlconform::bench
