// Results as JSON lines. Each is written immediately, so that a killed run leaves its results.
#pragma once

#include <string>
#include <vector>

#include "engine/report/new_file.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

/// Writes the file in place, unlike the other reports.
class JsonlReport final : public Sink {
public:
    explicit JsonlReport(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    [[nodiscard]] core::Result<void> failed() const;

    std::string path_;
    File file_;
    std::vector<std::string> engines_;
};

}  // namespace dmlconform::report
