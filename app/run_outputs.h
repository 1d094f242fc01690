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
    void add_to(CLI::App& command);
    void add_json_to(CLI::App& command);
    /// Those for which a result need not be more than its text.
    void add_reports_to(CLI::App& command);
};

/// All outputs that were asked for. One that cannot be written any more is given up, and the others go on.
class RunOutputs {
public:
    /// An error when a file could not be written. Nothing is written yet. `rerun_options`: what a bundle's command
    /// needs besides the engine.
    [[nodiscard]] static core::Result<RunOutputs> create(const RunOutputOptions& options, const report::Caller& caller,
                                                         std::vector<std::string> rerun_options = {});

    void begin(const report::RunContext& context, std::span<const EngineInfo> engines);
    void add(const run::CaseResult& result);
    void finish(const run::RunTotals& totals, int exit_code);

    /// Whether any was given up; why was said on stderr.
    [[nodiscard]] bool failed() const { return failed_; }
    [[nodiscard]] bool any() const { return !sinks_.empty(); }
    /// What became of bundles, a line each.
    [[nodiscard]] std::string bundle_summary() const { return bundles_ == nullptr ? "" : bundles_->summary(); }

private:
    template <typename Step>
    void each(const Step& step);

    std::vector<std::shared_ptr<report::Sink>> sinks_;
    std::shared_ptr<report::Bundles> bundles_;
    bool failed_ = false;
};

}  // namespace dmlconform::app
