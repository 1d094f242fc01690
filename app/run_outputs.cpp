// Creates reports from options.
#include "app/run_outputs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "app/documents.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/bench/machine.h"
#include "engine/page/html_page.h"
#include "engine/report/github_report.h"
#include "engine/report/json_report.h"
#include "engine/report/jsonl_report.h"
#include "engine/report/junit_report.h"
#include "engine/report/markdown_report.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

void add_file(Command command, const char* name, std::string& path, const char* what) {
    command.add_option(name, path, fmt::format("{}. - is the standard output", what)).path("FILE");
}

std::string environment_text(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

void RunOutputOptions::add_to(Command command) {
    add_files_to(command);
    bundles.add_to(command);
}

void RunOutputOptions::add_files_to(Command command) {
    add_json_to(command);
    add_reports_to(command);
    add_file(command, "--jsonl", jsonl, "Write each result to this file as a line of JSON, as soon as it is there");
}

void RunOutputOptions::add_json_to(Command command) {
    add_file(command, "--json", json, "Write the complete result to this file");
}

void RunOutputOptions::add_reports_to(Command command) {
    add_file(command, "--junit", junit,
             "Write JUnit XML to this file. Default for `run`: what the environment's XML_OUTPUT_FILE or GTEST_OUTPUT "
             "names");
    add_file(command, "--html", html, "Write the page of `dmlconform report` to this file");
    add_file(command, "--summary", summary,
             "Write a summary in Markdown to this file. If it is $GITHUB_STEP_SUMMARY, the summary is appended");
    command.add_flag("--github", github, "Print annotations of failing cases for GitHub Actions");
}

std::unique_ptr<report::Sink> RunOutputs::json_report(const std::string& path) {
    return std::make_unique<report::JsonReport>(path);
}

core::Result<RunOutputs> RunOutputs::create(const RunOutputOptions& options, const report::Caller& caller,
                                            std::vector<std::string> rerun_options, const ResultWriter& result_writer) {
    if (!options.html.empty() && !page::has_chart_library()) {
        return core::fail("this build has no Chart.js, which the page of --html needs for its charts",
                          "install it (on Debian: libjs-chart.js), configure and build again");
    }
    const std::vector<std::string> paths{options.json, options.junit, options.html, options.summary, options.jsonl};
    if (auto good = check_outputs(paths, options.needed_files); !good) {
        return tl::unexpected(std::move(good.error()));
    }
    if (std::ranges::find(paths, report::standard_output_path) != paths.end()) {
        if (options.github) {
            return core::fail("--github and another output both need the standard output",
                              "write the other one to a file");
        }
        leave_output_to_a_document();
    }
    RunOutputs outputs;
    if (!options.json.empty()) {
        outputs.result_ = result_writer(options.json);
    }
    if (!options.junit.empty()) {
        outputs.reports_.push_back(std::make_unique<report::JunitReport>(options.junit, caller));
    }
    if (!options.html.empty()) {
        outputs.reports_.push_back(std::make_unique<HtmlReport>(options.html, result_writer));
    }
    if (!options.summary.empty()) {
        const bool append = options.summary == environment_text("GITHUB_STEP_SUMMARY");
        outputs.reports_.push_back(std::make_unique<report::MarkdownReport>(options.summary, append));
    }
    if (!options.jsonl.empty()) {
        outputs.reports_.push_back(std::make_unique<report::JsonlReport>(options.jsonl));
    }
    if (options.github) {
        outputs.reports_.push_back(
            std::make_unique<report::GithubReport>(stdout, environment_text("GITHUB_WORKSPACE")));
    }
    if (!options.bundles.folder.empty()) {
        if (auto usable = report::check_bundle_folder(options.bundles.folder); !usable) {
            return tl::unexpected(std::move(usable.error()));
        }
        outputs.bundles_ = std::make_shared<report::Bundles>(options.bundles.settings(std::move(rerun_options)));
        outputs.reports_.push_back(outputs.bundles_);
    }
    return outputs;
}

template <typename Step>
void RunOutputs::each_report(const Step& step) {
    std::erase_if(reports_, [&](const std::shared_ptr<report::Sink>& sink) {
        const core::Result<void> done = step(*sink);
        if (!done) {
            print_error(done.error());
            failed_ = true;
        }
        return !done;
    });
}

template <typename Step>
void RunOutputs::with_result(const Step& step) {
    if (result_ == nullptr) {
        return;
    }
    if (const core::Result<void> done = step(*result_); !done) {
        print_error(done.error());
        failed_ = true;
        result_.reset();
    }
}

void RunOutputs::begin(const report::RunContext& context, std::span<const EngineInfo> engines) {
    const auto step = [&](report::Sink& sink) { return sink.begin(context, engines); };
    with_result(step);
    each_report(step);
}

void RunOutputs::add(const run::CaseResult& result) {
    const auto step = [&](report::Sink& sink) { return sink.add(result); };
    with_result(step);
    each_report(step);
}

void RunOutputs::finish_reports(const run::RunTotals& totals, int exit_code) {
    each_report([&](report::Sink& sink) { return sink.finish(totals, exit_code); });
}

int RunOutputs::finish_result(const run::RunTotals& totals, int exit_code) {
    const int code = failed_ || !flush_output() ? exit_not_run : exit_code;
    with_result([&](report::Sink& sink) { return sink.finish(totals, code); });
    return failed_ ? exit_not_run : code;
}

report::RunContext run_context(const Invocation& invocation, const std::optional<run::ShardInfo>& shard) {
    const auto now = fmt::gmtime(std::chrono::system_clock::now());
    return {invocation.words, versions(), fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now), bench::machine_name(), shard};
}

}  // namespace dmlconform::app
