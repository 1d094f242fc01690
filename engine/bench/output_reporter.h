// Google Benchmark's reports into a file, with word of what could not be written: its own do not look.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <string_view>
#include <vector>

#include "engine/bench/benchmarks.h"

namespace dmlconform::bench {

/// Passes everything on to a reporter of Google Benchmark's, and marks benchmarks that are unsettled.
class OutputReporter final : public benchmark::BenchmarkReporter {
public:
    /// `format`: "json", "console" or "csv".
    explicit OutputReporter(std::string_view format);

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    void Finalize() override;

    [[nodiscard]] Written written() const { return written_; }

private:
    benchmark::BenchmarkReporter& reporter();

    std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
    Written written_ = Written::nothing;
};

}  // namespace dmlconform::bench
