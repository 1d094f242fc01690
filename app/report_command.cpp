// `dmlconform report`: writes results as an HTML page or a Markdown summary.

#include <memory>

#include "app/command.h"
#include "app/comparison_options.h"
#include "app/documents.h"
#include "app/messages.h"
#include "app/standard_streams.h"
#include "engine/page/html_page.h"
#include "engine/page/markdown.h"
#include "engine/page/page_data.h"
#include "engine/report/result_file.h"
#if DMLCONFORM_HAS_HISTORY
#include "engine/history/store.h"
#include "engine/history/trends.h"
#endif

namespace dmlconform::app {
namespace {

struct ReportOptions {
    std::vector<std::string> results;
    std::vector<std::string> base;
    std::string history;
    std::string html;
    std::string markdown;
    page::PageData data;
};

/// Reads all files. False if one cannot be used; all such files have been reported.
bool read_results(ReportOptions& options) {
    bool good = true;
    const auto check = [&](const core::Result<void>& read) {
        if (!read) {
            print_error(read.error());
            good = false;
        }
    };
    for (const std::string& path : options.results) {
        check(report::is_result_file(path) ? options.data.add_run(path) : options.data.add_bench(path, false));
    }
    for (const std::string& path : options.base) {
        check(options.data.add_bench(path, true));
    }
    if (good && !options.data.base.empty()) {
        check(check_pairs(options.data.settings, options.data.base.size(), options.data.benches.size()));
    }
    if (good) {
        options.data.compare();
    }
    return good;
}

core::Result<void> read_trends([[maybe_unused]] const std::string& path, [[maybe_unused]] page::PageData& data) {
#if DMLCONFORM_HAS_HISTORY
    const auto store = history::Store::open(path, history::Store::Access::read);
    if (!store) {
        return tl::unexpected(store.error());
    }
    auto trends = history::trends(**store, {.threshold = data.settings.threshold});
    if (!trends) {
        return tl::unexpected(trends.error());
    }
    data.trends = std::move(*trends);
    return {};
#else
    return core::fail("this build has no SQLite, which histories need",
                      "build where SQLite's development files are installed");
#endif
}

/// Checks that the outputs can be written before anything is read. Sets `exit_code` on failure.
bool check_outputs(const ReportOptions& options, int& exit_code) {
    if (options.html.empty() && options.markdown.empty()) {
        warn("dmlconform: report writes nothing\n    hint: --html FILE, --markdown FILE, or both\n");
        exit_code = exit_usage;
        return false;
    }
    if (!options.html.empty() && !page::has_chart_library()) {
        warn(
            "dmlconform: this build has no Chart.js, which the page needs for its charts\n"
            "    hint: install it (on Debian: libjs-chart.js), configure and build again; --markdown does not need "
            "it\n");
        exit_code = exit_not_run;
        return false;
    }
    std::vector<std::string> read = options.results;
    read.insert(read.end(), options.base.begin(), options.base.end());
    read.push_back(options.history);
    if (!can_write_documents({options.html, options.markdown}, read)) {
        exit_code = exit_usage;
        return false;
    }
    return true;
}

int report_command(ReportOptions& options) {
    int exit_code = exit_ok;
    if (!check_outputs(options, exit_code)) {
        return exit_code;
    }
    if (!read_results(options)) {
        return exit_usage;
    }
    if (!options.history.empty()) {
        if (const auto read = read_trends(options.history, options.data); !read) {
            return failure(read.error(), exit_usage);
        }
    }
    const bool written = write_document(options.markdown, [&] { return page::markdown(options.data); }) &&
                         write_document(options.html, [&] { return page::html_page(options.data); });
    return written ? exit_ok : exit_not_run;
}

}  // namespace

void add_report_command(Command app, int& exit_code) {
    auto options = std::make_shared<ReportOptions>();
    const Command command =
        app.add_subcommand("report", "Show results as a page to look at, or as a summary for a pull request");
    command.add_option("RESULT", options->results, "Results of `run --json` or `bench --benchmark_out`")
        .required()
        .path("RESULT")
        .expected(1, -1);
    command
        .add_option("--html", options->html,
                    "Write a page that needs no other file and no network. - is the standard output")
        .path("FILE");
    command.add_option("--markdown", options->markdown, "Write the short form, in Markdown. - is the standard output")
        .path("FILE");
    command.add_option("--base", options->base, "Compare the benchmarks among the results with the ones in this file")
        .path("FILE");
    add_comparison_options(command, options->data.settings);
    command.add_option("--history", options->history, "Show the trends of this history, too").path("FILE");
    command.add_option("--title", options->data.title, "The heading of the page").capture_default_str();
    command.callback([options, &exit_code] { exit_code = report_command(*options); });
}

}  // namespace dmlconform::app
