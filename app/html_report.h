// The page of `dmlconform report` as a report of a run.
#pragma once

#include <memory>
#include <string>

#include "engine/report/json_report.h"
#include "engine/report/sink.h"

namespace dmlconform::app {

/// Writes the results to a temporary file, from which the page is made at the end: results may exceed the memory, and
/// the page is made of files.
class HtmlReport final : public report::Sink {
public:
    explicit HtmlReport(std::string path);
    ~HtmlReport() override;

    [[nodiscard]] core::Result<void> begin(const report::RunContext& context,
                                           std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    std::string path_;
    std::string temporary_;
    report::JsonReport result_;
};

}  // namespace dmlconform::app
