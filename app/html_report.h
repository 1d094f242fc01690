// The page of `dmlconform report` as a report of a run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/report/sink.h"

namespace dmlconform::app {

/// Creates the writer of a result's JSON file.
using ResultWriter = std::function<std::unique_ptr<report::Sink>(const std::string& path)>;

/// Writes the results to a temporary file, from which the page is made at the end: results may exceed the memory, and
/// the page is made of files.
class HtmlReport final : public report::Sink {
public:
    HtmlReport(std::string path, const ResultWriter& result_writer);
    ~HtmlReport() override;

    [[nodiscard]] core::Result<void> begin(const report::RunContext& context,
                                           std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    std::string path_;
    std::string temporary_;
    std::unique_ptr<report::Sink> result_;
};

}  // namespace dmlconform::app
