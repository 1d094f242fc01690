// The table that `dmlconform bench` prints: a line for each benchmark as soon as it is done.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

namespace dmlconform::bench {

class LineReporter final : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& report) override;
    void Finalize() override;

private:
    std::size_t name_width_ = 0;
    std::size_t count_ = 0;
    std::size_t unsettled_ = 0;
};

}  // namespace dmlconform::bench
