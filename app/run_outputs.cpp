// From options to sinks.
#include "app/run_outputs.h"

#include <algorithm>

#include "app/messages.h"
#include "engine/report/json_report.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

std::string is_a_path(const std::string& path) {
    return path.empty() ? "the path is empty" : "";
}

}  // namespace

void RunOutputOptions::add_to(CLI::App& command) {
    command.add_option("--json", json, "Write the complete result to this file")->type_name("FILE")->check(is_a_path);
}

core::Result<RunOutputs> RunOutputs::create(const RunOutputOptions& options) {
    RunOutputs outputs;
    if (!options.json.empty()) {
        if (auto writable = report::check_writable(options.json); !writable) {
            return tl::unexpected(std::move(writable.error()));
        }
        outputs.sinks_.push_back(std::make_unique<report::JsonReport>(options.json));
    }
    return outputs;
}

template <typename Step>
void RunOutputs::each(const Step& step) {
    const auto gone = std::remove_if(sinks_.begin(), sinks_.end(), [&](const std::unique_ptr<report::Sink>& sink) {
        const core::Result<void> done = step(*sink);
        if (!done) {
            print_error(done.error());
            failed_ = true;
        }
        return !done;
    });
    sinks_.erase(gone, sinks_.end());
}

void RunOutputs::begin(const report::RunContext& context, std::span<const EngineInfo> engines) {
    each([&](report::Sink& sink) { return sink.begin(context, engines); });
}

void RunOutputs::add(const run::CaseResult& result) {
    each([&](report::Sink& sink) { return sink.add(result); });
}

void RunOutputs::finish(const run::RunTotals& totals, int exit_code) {
    each([&](report::Sink& sink) { return sink.finish(totals, exit_code); });
}

}  // namespace dmlconform::app
