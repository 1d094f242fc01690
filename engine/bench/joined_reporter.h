// Joins the reports of several calls of Google Benchmark into one, without the benchmarks that were left out.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/bench/benchmarks.h"

namespace dmlconform::bench {

/// Errors of repetitions that were not begun, or not ended. No report has them.
inline constexpr const char* not_needed = "dmlconform: not needed";
inline constexpr const char* interrupted = "dmlconform: interrupted";

class JoinedReporter final : public benchmark::BenchmarkReporter {
public:
    /// Passes on to `inner` under the names that benchmarks have without limits of their own. `longest_name`: in bytes.
    JoinedReporter(benchmark::BenchmarkReporter& inner, std::size_t longest_name, Watcher& watcher)
        : inner_(inner), longest_name_(longest_name), watcher_(watcher) {}

    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    /// Ends a call, and not the report.
    void Finalize() override {}

    /// Ends the report.
    void end();
    /// How many benchmarks have a time.
    [[nodiscard]] std::size_t timed() const { return timed_.size(); }

private:
    benchmark::BenchmarkReporter& inner_;
    std::size_t longest_name_;
    Watcher& watcher_;
    bool begun_ = false;
    bool goes_on_ = true;
    /// The repetitions of the last benchmark, whose aggregates come after them.
    std::int64_t repetitions_ = 0;
    std::set<std::string> timed_;
};

}  // namespace dmlconform::bench
