// `dmlconform merge`: combines the results of shards into the result of the whole run.

#include <memory>
#include <nlohmann/json.hpp>

#include "app/command.h"
#include "app/idle_engines.h"
#include "app/messages.h"
#include "app/recorded_words.h"
#include "app/run_outputs.h"
#include "app/standard_streams.h"
#include "app/terminal.h"
#include "engine/report/console_report.h"
#include "engine/report/merge.h"

namespace dmlconform::app {
namespace {

struct MergeOptions {
    std::vector<std::string> files;
    RunOutputOptions outputs;
    bool strict = false;
    bool no_color = false;
};

/// Writes the merged result, whose results need not be passed to it.
class MergedResult final : public report::Sink {
public:
    MergedResult(report::Merge& merge, std::string path) : merge_(merge), path_(std::move(path)) {}

    core::Result<void> begin(const report::RunContext& /*context*/, std::span<const EngineInfo> /*engines*/) override {
        return {};
    }
    core::Result<void> add(const run::CaseResult& /*result*/) override { return {}; }
    core::Result<void> finish(const run::RunTotals& /*totals*/, int exit_code) override {
        return merge_.write_json(path_, exit_code);
    }

private:
    report::Merge& merge_;
    std::string path_;
};

/// Passes all results to the reports, in a second pass over the files.
core::Result<void> report_all(report::Merge& merge, const run::RunTotals& totals, const std::vector<std::string>& gaps,
                              int exit_code, RunOutputs& outputs) {
    report::RunContext context = merge.context();
    context.notes = gaps;
    outputs.begin(context, totals.engines);
    auto done = merge.for_each([&](const std::string& line) -> core::Result<void> {
        outputs.add(report::result_of(nlohmann::ordered_json::parse(line), totals.engines));
        return {};
    });
    if (done) {
        outputs.finish_reports(totals, exit_code);
    }
    return done;
}

int merge_command(MergeOptions& options) {
    options.outputs.needed_files = options.files;
    report::Merge merge;
    auto outputs = RunOutputs::create(options.outputs, {}, {}, [&merge](const std::string& path) {
        return std::make_unique<MergedResult>(merge, path);
    });
    if (!outputs) {
        return failure(outputs.error(), exit_usage);
    }
    for (const std::string& file : options.files) {
        if (const auto added = merge.add(file); !added) {
            return failure(added.error(), exit_usage);
        }
    }
    const auto gaps = merge.find_gaps();
    if (!gaps) {
        return failure(gaps.error(), exit_usage);
    }
    const run::RunTotals totals = merge.totals();
    const std::vector<std::string> words = merge.context().command;
    const auto idle = idle_engines(engines_named_in(words), totals);
    const bool too_little = (options.strict || has_option(words, "--strict")) && totals.unverified.any();
    const bool skipped = has_option(words, "--fail-on-skip") && !totals.skips.empty();
    const bool passed = gaps->empty() && totals.passed() && idle.empty() && !too_little && !skipped;
    const int exit_code = passed ? exit_ok : exit_unexpected;
    print(report::summary(totals, report::ConsoleStyle(use_color(options.no_color)), output_width()));
    print_idle(idle);
    if (skipped) {
        print_forbidden_skips(totals);
    }
    for (const std::string& gap : *gaps) {
        warn("dmlconform: {}\n", gap);
    }
    bool complete = true;
    if (outputs->has_reports()) {
        if (const auto reported = report_all(merge, totals, *gaps, exit_code, *outputs); !reported) {
            print_error(reported.error());
            complete = false;
        }
    }
    return outputs->finish_result(totals, complete ? exit_code : exit_not_run);
}

}  // namespace

void add_merge_command(Command app, int& exit_code) {
    auto options = std::make_shared<MergeOptions>();
    const Command command =
        app.add_subcommand("merge", "Combine the results of all shards into one (`run --shard I/N --json FILE`)");
    command.add_option("results", options->files, "The results of the shards, in any order").required().path("RESULT");
    options->outputs.add_json_to(command);
    options->outputs.add_reports_to(command);
    command.add_flag("--strict", options->strict,
                     "Fail where `run --strict` would, also if the shards were run without it");
    command.add_flag("--no-color", options->no_color, "Do not use colours, as with the environment variable NO_COLOR");
    command.callback([options, &exit_code] { exit_code = merge_command(*options); });
}

}  // namespace dmlconform::app
