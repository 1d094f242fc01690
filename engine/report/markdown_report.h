// A summary in Markdown, for people who look at a CI job.
#pragma once

#include <string>
#include <vector>

#include "engine/report/sink.h"

namespace dmlconform::report {

/// The outcome, totals, and the first failures, flakes and expected failures. The length is limited.
class MarkdownReport final : public Sink {
public:
    /// `append`: adds to a file that other steps of the job share, instead of replacing it.
    MarkdownReport(std::string path, bool append) : path_(std::move(path)), append_(append) {}

    [[nodiscard]] core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    struct Section {
        std::size_t count = 0;
        std::vector<std::string> rows;
    };

    [[nodiscard]] std::string text(const run::RunTotals& totals, int exit_code) const;

    std::string path_;
    bool append_;
    std::vector<EngineInfo> engines_;
    std::vector<std::string> notes_;
    Section failures_;
    Section flakes_;
    Section expected_;
};

}  // namespace dmlconform::report
