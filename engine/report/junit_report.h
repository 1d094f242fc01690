// Results as JUnit XML, for CI systems: a test suite for each engine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/core/spool_file.h"
#include "engine/report/console_report.h"
#include "engine/report/output_file.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

/// Failures of any kind become <failure> or <error>. Results that are neither passes nor failures (skip, reference,
/// xfail, anything off the gate) become <skipped> with the reason, so that they are not mistaken for passes.
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
        /// Test cases, which are spooled because their number precedes them in the file.
        core::SpoolFile cases;
    };

    [[nodiscard]] core::Result<void> write_suite(Suite& suite);

    std::string path_;
    Caller caller_;
    RunContext context_;
    OutputFile file_;
    std::vector<Suite> suites_;
};

/// Escapes text for XML 1.0. Characters that XML cannot represent, and invalid UTF-8, become U+FFFD.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace dmlconform::report
