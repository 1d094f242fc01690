// Results as JUnit XML, for CI systems: a test suite for each engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/report/console_report.h"
#include "engine/report/output_file.h"
#include "engine/report/sink.h"
#include "engine/report/spool_file.h"

namespace dmlconform::report {

/// A failure of any kind is a <failure> or an <error>. A result that is neither a pass nor a failure (skip, reference,
/// xfail, anything off the gate) is <skipped> with its reason, so that nobody takes it for a pass.
class JunitReport final : public Sink {
public:
    JunitReport(std::string path, Caller caller) : path_(std::move(path)), caller_(std::move(caller)) {}

    [[nodiscard]] core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    struct Suite {
        EngineInfo engine;
        std::size_t tests = 0;
        std::size_t failures = 0;
        std::size_t errors = 0;
        std::size_t skipped = 0;
        std::chrono::nanoseconds time{};
        /// The test cases: how many there are has to be written before them.
        SpoolFile cases;
    };

    [[nodiscard]] core::Result<void> write_suite(Suite& suite);

    std::string path_;
    Caller caller_;
    RunContext context_;
    OutputFile file_;
    std::vector<Suite> suites_;
};

/// Text for an XML 1.0 document: what that cannot hold, and what is no UTF-8, becomes U+FFFD.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace dmlconform::report
