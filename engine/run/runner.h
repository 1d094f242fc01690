// Runs cases on engines, several in parallel, and reports results in the order of the cases.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/run/case_run.h"
#include "engine/run/case_source.h"
#include "engine/run/result.h"
#include "engine/run/totals.h"

namespace dmlconform::run {

/// Receives the progress and results of a run. Calls never overlap.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// Called before a case runs on the first engine. Where cases run in parallel, that is before some of them.
    /// `position` counts cases from 0. Cases that run in parallel begin in any order.
    virtual void on_case(const cases::Case& subject, std::size_t position) = 0;
    /// Called in the order of the cases, and for each case in the order of the engines.
    virtual void on_result(const CaseResult& result) = 0;
    /// Called before each case. True ends the run early, with the results so far.
    virtual bool stop_requested() { return false; }
};

/// Tag of cases whose correct result no source specifies, such as NaN in TOP_K1.
inline constexpr const char* unspecified_tag = "unspecified";

struct RunSettings {
    /// Puts cases tagged `unspecified` on the gate.
    bool include_unspecified = false;
    /// Ends the run after the first case, in order, that fails on the gate.
    bool fail_fast = false;
    /// Ends the run after this many failures on the gate; 0: never.
    std::size_t max_failures = 0;
    /// How often all cases are run.
    std::size_t repeat = 1;
    /// Seed of a random order of the cases, which differs in each repetition. Empty: the written order.
    std::optional<std::uint64_t> shuffle{};
    CaseSettings cases{};
    /// Expectations, which also count their uses. Null: all cases are expected to pass. The run sets `cases.expected`.
    ExpectedResults* expected = nullptr;
};

/// An instance of each of the run's engines, which runs one case at a time.
using EngineSet = std::vector<std::unique_ptr<Engine>>;

/// Runs every case on every engine, with one case per set in parallel. There must be at least one set, and all must
/// have the same engines.
[[nodiscard]] RunTotals run_cases(const CaseSource& source, std::span<const EngineSet> sets, Observer& observer,
                                  const RunSettings& settings = {});

}  // namespace dmlconform::run
