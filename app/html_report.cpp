// Makes a page from the results of a run.
#include "app/html_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "engine/page/html_page.h"
#include "engine/page/page_data.h"
#include "engine/report/output_file.h"

namespace dmlconform::app {
namespace {

std::string temporary_path() {
    std::random_device random;
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    return (folder / fmt::format("dmlconform-{:08x}{:08x}.json", random(), random())).string();
}

}  // namespace

HtmlReport::HtmlReport(std::string path, const ResultWriter& result_writer)
    : path_(std::move(path)), temporary_(temporary_path()), result_(result_writer(temporary_)) {}

HtmlReport::~HtmlReport() {
    std::error_code ignored;
    std::filesystem::remove(temporary_, ignored);
}

core::Result<void> HtmlReport::begin(const report::RunContext& context, std::span<const EngineInfo> engines) {
    return result_->begin(context, engines);
}

core::Result<void> HtmlReport::add(const run::CaseResult& result) {
    return result_->add(result);
}

core::Result<void> HtmlReport::finish(const run::RunTotals& totals, int exit_code) {
    if (auto written = result_->finish(totals, exit_code); !written) {
        return written;
    }
    page::PageData data;
    if (auto read = data.add_run(temporary_); !read) {
        return read;
    }
    // The file that the page was made of is gone when somebody reads that.
    data.runs.back().path = "this run";
    return report::write_file(path_, page::html_page(data));
}

}  // namespace dmlconform::app
