// Annotations for GitHub Actions: commands in the log that mark the lines of failing cases.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/sink.h"

namespace dmlconform::report {

/// An error for each failure on the gate, and a warning for each flake.
class GithubReport final : public Sink {
public:
    /// `workspace` is the folder of the checkout, to which paths are made relative; may be empty.
    GithubReport(std::FILE* stream, std::string workspace) : stream_(stream), workspace_(std::move(workspace)) {}

    [[nodiscard]] core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    [[nodiscard]] core::Result<void> write(std::string_view text);

    std::FILE* stream_;
    std::string workspace_;
    std::vector<std::string> engines_;
    std::size_t errors_ = 0;
    std::size_t warnings_ = 0;
};

}  // namespace dmlconform::report
