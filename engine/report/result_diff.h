// The differences between two results of `dmlconform run --json`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// How the result of a case on an engine changed. The values up to `missing` are regressions if they are on the gate.
enum class DiffKind : std::uint8_t {
    newly_failing,  // it is a failure, but was not before, or was absent or off the gate
    excused,        // it is now a failure or flake that expectations excuse
    unverified,     // it is no longer verified, or only in part
    left_gate,      // it is now off the gate
    missing,        // it is absent
    fixed,          // it failed before and passes now
    added,          // it is new and does not fail
    other,          // another status of the same or a better kind, such as crash instead of fail
};

inline constexpr std::size_t diff_kind_count = 8;

/// "newly failing", …
[[nodiscard]] const char* to_string(DiffKind kind);
[[nodiscard]] constexpr bool is_regression(DiffKind kind) {
    return kind <= DiffKind::missing;
}

struct ChangedResult {
    DiffKind kind = DiffKind::other;
    std::string id;
    std::string op;
    std::string engine;
    /// False if it was and is off the gate.
    bool gated = true;
    /// Statuses as in the files; empty if there is no such result.
    std::string before;
    std::string now;
    /// The reason of the later result.
    std::string reason;
};

using DiffCounts = std::array<std::size_t, diff_kind_count>;

struct ResultDiff {
    /// Sorted by kind, operator, engine and id.
    std::vector<ChangedResult> changes;
    /// Counts of changes on the gate by operator and engine.
    std::map<std::pair<std::string, std::string>, DiffCounts> counts;
    std::size_t same = 0;
    /// Counted among the results on the gate.
    std::size_t still_failing = 0;
    /// Changed devices or drivers: "d3d12: A, driver 1, was B, driver 1".
    std::vector<std::string> devices;

    [[nodiscard]] std::size_t count(DiffKind kind) const;
    [[nodiscard]] bool regressed(const std::set<DiffKind>& allowed) const;
};

/// Fails, naming the file, if one is not a result file.
[[nodiscard]] core::Result<ResultDiff> diff_results(const std::string& base, const std::string& now);

/// JSON for scripts.
[[nodiscard]] nlohmann::ordered_json to_json(const ResultDiff& diff);

}  // namespace dmlconform::report
