// What changed between two results of `dmlconform run --json`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/result.h"

namespace dmlconform::report {

/// How a result of a case on an engine is other than it was. Those up to `missing` are regressions, on the gate.
enum class DiffKind : std::uint8_t {
    newly_failing,  // it did not fail before, or was not there
    unverified,     // it was verified before, and now it neither is nor fails
    missing,        // it is not there any more
    fixed,          // it failed before, and does not any more
    added,          // it was not there, and does not fail
    other,          // another status of the same worth: crash and fail, reference and skip
};

inline constexpr std::size_t diff_kind_count = 6;

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
    /// False where nobody specifies the right answer: such a change decides nothing.
    bool gated = true;
    /// As in the files; empty where there is no such result.
    std::string before;
    std::string now;
    /// The reason of the later result.
    std::string reason;
};

using DiffCounts = std::array<std::size_t, diff_kind_count>;

struct ResultDiff {
    /// By kind, operator, engine and id.
    std::vector<ChangedResult> changes;
    /// Of changes on the gate, by operator and engine.
    std::map<std::pair<std::string, std::string>, DiffCounts> counts;
    std::size_t same = 0;
    /// Among those.
    std::size_t still_failing = 0;
    /// Devices or drivers that are other than before: "d3d12: A, driver 1, was B, driver 1".
    std::vector<std::string> devices;

    [[nodiscard]] std::size_t count(DiffKind kind) const;
    [[nodiscard]] bool regressed(bool allow_missing) const;
};

/// Errors name the file that is not a result.
[[nodiscard]] core::Result<ResultDiff> diff_results(const std::string& base, const std::string& now);

/// For scripts.
[[nodiscard]] nlohmann::ordered_json to_json(const ResultDiff& diff);

}  // namespace dmlconform::report
