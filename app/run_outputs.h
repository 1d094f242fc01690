// The files that a run writes: the options for them, and keeping them all up to date.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/bundle_options.h"
#include "app/command.h"
#include "engine/report/console_report.h"
#include "engine/report/sink.h"

namespace dmlconform::app {

struct RunOutputOptions {
    std::string json;
    std::string junit;
    std::string summary;
    std::string jsonl;
    bool github = false;
    BundleOptions bundles;

    /// All that a run can write.
    void add_to(Command command);
    void add_json_to(Command command);
    /// Those for which a result need not be more than its text.
    void add_reports_to(Command command);
};

/// All outputs that were asked for. One that cannot be written any more is given up, and the others go on.
class RunOutputs {
public:
    /// An error when a file could not be written. Nothing is written yet. `rerun_options`: what a bundle's command
    /// needs besides the engine.
    [[nodiscard]] static core::Result<RunOutputs> create(const RunOutputOptions& options, const report::Caller& caller,
                                                         std::vector<std::string> rerun_options = {});

    /// One more, which does not come from an option of all runs.
    void add_report(std::shared_ptr<report::Sink> report) { reports_.push_back(std::move(report)); }

    void begin(const report::RunContext& context, std::span<const EngineInfo> engines);
    void add(const run::CaseResult& result);
    /// Ends all but the result.
    void finish_reports(const run::RunTotals& totals, int exit_code);
    /// Ends the result, after everything else that can fail, because it says what the program ends with. Returns that:
    /// `exit_code`, or exit_not_run where something could not be written.
    [[nodiscard]] int finish_result(const run::RunTotals& totals, int exit_code);

    [[nodiscard]] bool any() const { return result_ != nullptr || !reports_.empty(); }
    /// What became of bundles, a line each.
    [[nodiscard]] core::ShownText bundle_summary() const {
        return bundles_ == nullptr ? core::ShownText() : bundles_->summary();
    }

private:
    /// Gives up those for which the step fails.
    template <typename Step>
    void each_report(const Step& step);
    template <typename Step>
    void with_result(const Step& step);

    std::unique_ptr<report::Sink> result_;
    std::vector<std::shared_ptr<report::Sink>> reports_;
    std::shared_ptr<report::Bundles> bundles_;
    /// Whether any was given up; why was said on stderr.
    bool failed_ = false;
};

}  // namespace dmlconform::app
