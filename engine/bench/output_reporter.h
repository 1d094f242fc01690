// Google Benchmark's own reports, in which benchmarks that did not settle are marked.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dmlconform::bench {

/// Forwards everything to one of Google Benchmark's reporters, and marks benchmarks that have not settled.
class OutputReporter final : public benchmark::BenchmarkReporter {
public:
    /// `format`: "json", "console" or "csv". The names must outlive the reporter.
    OutputReporter(std::string_view format, const std::set<std::string>& timed_by_devices);

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    void Finalize() override;

private:
    benchmark::BenchmarkReporter& reporter();

    std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
    const std::set<std::string>& timed_by_devices_;
};

}  // namespace dmlconform::bench
