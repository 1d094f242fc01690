// The complete, machine-readable result of a run: one JSON document, see docs/result-format.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/report/output_file.h"
#include "engine/report/sink.h"

namespace dmlconform::report {

/// The version of the files that are written and can be read.
inline constexpr int result_format_version = 1;

class JsonReport final : public Sink {
public:
    explicit JsonReport(std::string path) : path_(std::move(path)) {}

    [[nodiscard]] core::Result<void> begin(const RunContext& context, std::span<const EngineInfo> engines) override;
    [[nodiscard]] core::Result<void> add(const run::CaseResult& result) override;
    [[nodiscard]] core::Result<void> finish(const run::RunTotals& totals, int exit_code) override;

private:
    std::string path_;
    OutputFile file_;
    std::vector<std::string> engines_;
    bool sharded_ = false;
    bool first_ = true;
};

/// The text before the results, and the text after them. `head` has the members that are known at the beginning.
[[nodiscard]] std::string json_opening(const nlohmann::ordered_json& head);
[[nodiscard]] std::string json_closing(const run::RunTotals& totals, int exit_code);

/// A result as an element of `results`, on one line. `ordered`: includes the member by which shards are merged.
[[nodiscard]] std::string result_json(const run::CaseResult& result, const std::string& engine, bool ordered = false);

}  // namespace dmlconform::report
