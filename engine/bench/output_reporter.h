// Google Benchmark's reports into a file, with word of what could not be written: its own do not look.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bench/benchmarks.h"

namespace dmlconform::bench {

/// Passes everything on to a reporter of Google Benchmark's, and marks benchmarks that are unsettled.
class OutputReporter final : public benchmark::BenchmarkReporter {
public:
    /// `format`: "json", "console" or "csv". The names live as long as the reporter.
    OutputReporter(std::string_view format, const std::set<std::string>& timed_by_devices);

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    void Finalize() override;

    [[nodiscard]] Written written() const { return written_; }

private:
    benchmark::BenchmarkReporter& reporter();

    std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
    const std::set<std::string>& timed_by_devices_;
    Written written_ = Written::nothing;
};

}  // namespace dmlconform::bench
