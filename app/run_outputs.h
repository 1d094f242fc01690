// The output files of a run: their options, and writing all of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/bundle_options.h"
#include "app/command.h"
#include "app/html_report.h"
#include "engine/report/console_report.h"
#include "engine/report/sink.h"

namespace dmlconform::app {

struct RunOutputOptions {
    std::string json;
    std::string junit;
    std::string html;
    std::string summary;
    std::string jsonl;
    bool github = false;
    BundleOptions bundles;
    /// Files that the command reads, or writes elsewhere, and that no output may replace.
    std::vector<std::string> needed_files;

    /// Adds the options for all outputs.
    void add_to(Command command);
    /// Adds the options for all outputs but bundles.
    void add_files_to(Command command);
    void add_json_to(Command command);
    /// Adds the options for outputs that only need the text of results.
    void add_reports_to(Command command);
};

/// All requested outputs. If one fails, it is abandoned, and the others continue.
class RunOutputs {
public:
    /// Creates the outputs. Fails if a file could not be written; nothing is written yet. `rerun_options`: options for
    /// a bundle's command besides the engine. `result_writer` writes the result, also the one that a page is made of.
    [[nodiscard]] static core::Result<RunOutputs> create(const RunOutputOptions& options, const report::Caller& caller,
                                                         std::vector<std::string> rerun_options = {},
                                                         const ResultWriter& result_writer = json_report);

    /// Adds a report that has no common option.
    void add_report(std::shared_ptr<report::Sink> report) { reports_.push_back(std::move(report)); }

    void begin(const report::RunContext& context, std::span<const EngineInfo> engines);
    void add(const run::CaseResult& result);
    /// Finishes all outputs except the result.
    void finish_reports(const run::RunTotals& totals, int exit_code);
    /// Finishes the result, which contains the exit code, after everything else that can fail. Returns `exit_code`, or
    /// exit_not_run if something could not be written.
    [[nodiscard]] int finish_result(const run::RunTotals& totals, int exit_code);

    [[nodiscard]] bool has_reports() const { return !reports_.empty(); }
    [[nodiscard]] bool any() const { return result_ != nullptr || has_reports(); }
    /// A summary of the bundles, one line each.
    [[nodiscard]] core::ShownText bundle_summary() const {
        return bundles_ == nullptr ? core::ShownText() : bundles_->summary();
    }

private:
    [[nodiscard]] static std::unique_ptr<report::Sink> json_report(const std::string& path);

    /// Abandons the outputs for which the step fails.
    template <typename Step>
    void each_report(const Step& step);
    template <typename Step>
    void with_result(const Step& step);

    std::unique_ptr<report::Sink> result_;
    std::vector<std::shared_ptr<report::Sink>> reports_;
    std::shared_ptr<report::Bundles> bundles_;
    /// True if an output was abandoned; the reason was printed on stderr.
    bool failed_ = false;
};

/// What reports say of a run that starts now.
[[nodiscard]] report::RunContext run_context(const Invocation& invocation,
                                             const std::optional<run::ShardInfo>& shard = std::nullopt);

}  // namespace dmlconform::app
