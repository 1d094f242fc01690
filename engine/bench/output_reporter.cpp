// Delegates to Google Benchmark's reporters, and marks results.
#include "engine/bench/output_reporter.h"

#include <ostream>

#include "engine/bench/repetitions.h"
#include "engine/bench/steadiness.h"

namespace dmlconform::bench {
namespace {

std::unique_ptr<benchmark::BenchmarkReporter> reporter_for(std::string_view format) {
    if (format == "console") {
        return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
    }
    if (format == "csv") {
        // Deprecated, but still supported by Google Benchmark.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
#else
#pragma warning(suppress : 4996)
        return std::make_unique<benchmark::CSVReporter>();
#endif
    }
    return std::make_unique<benchmark::JSONReporter>();
}

}  // namespace

OutputReporter::OutputReporter(std::string_view format, const std::set<std::string>& timed_by_devices)
    : reporter_(reporter_for(format)), timed_by_devices_(timed_by_devices) {}

benchmark::BenchmarkReporter& OutputReporter::reporter() {
    // Google Benchmark sets the streams of this reporter some time before the first call.
    reporter_->SetOutputStream(&GetOutputStream());
    reporter_->SetErrorStream(&GetErrorStream());
    return *reporter_;
}

bool OutputReporter::ReportContext(const Context& context) {
    return reporter().ReportContext(context);
}

void OutputReporter::ReportRuns(const std::vector<Run>& report) {
    if (!repetitions_of(report, timed_by_devices_).unsettled) {
        return reporter().ReportRuns(report);
    }
    Runs marked = report;
    for (Run& run : marked) {
        run.counters[unsettled_counter] = 1;
    }
    reporter().ReportRuns(marked);
}

void OutputReporter::Finalize() {
    reporter().Finalize();
    GetOutputStream().flush();
}

}  // namespace dmlconform::bench
