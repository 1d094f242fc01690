// Results of shards made into the result of the run that they are parts of.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/report/result_file.h"
#include "engine/report/sink.h"
#include "engine/report/spool_file.h"
#include "engine/run/totals.h"

namespace dmlconform::report {

/// Takes one file after the other. Of each result, some 32 bytes are kept in memory; the rest waits in a temporary
/// file.
class Merge {
public:
    /// An error if the file is not the whole result of a shard, or belongs to another run: another number of
    /// shards, other cases, engines or versions, or a shard that is there already.
    [[nodiscard]] core::Result<void> add(const std::string& path);

    /// What there is, once all files are added: shards that are missing, or that were interrupted. An error when cases
    /// were run by several shards.
    [[nodiscard]] core::Result<std::vector<std::string>> find_gaps();

    /// As a run of all cases would have them, after find_gaps. Durations are those of the shards together.
    [[nodiscard]] run::RunTotals totals() const;
    /// The first shard's, with the earliest start.
    [[nodiscard]] RunContext context() const;
    /// The text of each result, in the order of the run.
    [[nodiscard]] core::Result<void> for_each(const std::function<core::Result<void>(const std::string& line)>& visit);
    /// Writes the result that one run would have written.
    [[nodiscard]] core::Result<void> write_json(const std::string& path, int exit_code);

private:
    struct Part {
        std::string path;
        nlohmann::ordered_json document;
        std::size_t results = 0;
    };
    struct Place {
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
    std::vector<Place> places_;
    SpoolFile lines_;
    std::map<std::pair<std::string, std::uint32_t>, run::Tally> tallies_;
    run::StatusCounts off_gate_{};
    std::vector<std::string> off_gate_failures_;
    run::Unverified unverified_;
};

/// What reports of results need of one that is only text. Its subject has no descriptor.
[[nodiscard]] run::CaseResult result_of(const nlohmann::ordered_json& json, std::span<const EngineInfo> engines);

}  // namespace dmlconform::report
