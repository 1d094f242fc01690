// Merges the results of shards into the result of the complete run.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/spool_file.h"
#include "engine/report/result_file.h"
#include "engine/report/sink.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// Receives one file at a time. About 32 bytes of each result are kept in memory; the rest is in a temporary file.
class Merge {
public:
    /// Adds a shard's result. Fails if it is incomplete, or if it does not match the other shards: in their number,
    /// cases, engines or versions, or because it was added already.
    [[nodiscard]] core::Result<void> add(const std::string& path);

    /// Lists missing and interrupted shards, after all files were added. Fails if a case was run by several shards.
    [[nodiscard]] core::Result<std::vector<std::string>> find_gaps();

    /// The totals of the whole run. Must be called after find_gaps. Durations are the sums over the shards.
    [[nodiscard]] run::RunTotals totals() const;
    /// The context of the first shard, with the earliest start time of all.
    [[nodiscard]] RunContext context() const;
    /// Visits the text of each result in the order of the run.
    [[nodiscard]] core::Result<void> for_each(const std::function<core::Result<void>(const std::string& line)>& visit);
    /// Writes the result that a single run would have written.
    [[nodiscard]] core::Result<void> write_json(const std::string& path, int exit_code);

private:
    struct Part {
        std::string path;
        nlohmann::ordered_json document;
        std::size_t results = 0;
    };
    struct StoredResult {
        std::uint64_t order;
        run::Shown shown;
        bool gated;
        std::uint64_t offset;
        std::uint32_t length;
        /// Index into names_.
        std::uint32_t engine;
    };

    [[nodiscard]] core::Result<void> take(const std::string& path, nlohmann::ordered_json& result);
    [[nodiscard]] core::Result<void> compare_with_first(const Part& part) const;
    [[nodiscard]] std::vector<EngineInfo> engines() const;
    [[nodiscard]] core::Result<void> count_unverified();

    std::vector<Part> parts_;
    std::vector<std::string> names_;
    std::vector<StoredResult> stored_;
    core::SpoolFile lines_;
    std::map<std::pair<std::string, std::uint32_t>, run::Tally> tallies_;
    run::StatusCounts off_gate_{};
    std::vector<std::string> off_gate_failures_;
    run::SharedReasons skips_;
    run::Unverified unverified_;
    run::PrecisionCounts precision_;
};

/// A result from a file, with the members that reports need. Its case has no descriptor.
[[nodiscard]] run::CaseResult result_of(const nlohmann::ordered_json& json, std::span<const EngineInfo> engines);

}  // namespace dmlconform::report
