// Running cases on engines, several at a time, with results in the order of the cases.
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

/// Is told how the run goes on: progress lines, streams of results. Never from two threads at once.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// Before a case's first engine. `position` counts the cases from 0; where several are run at a time they begin in
    /// any order.
    virtual void on_case(const cases::Case& subject, std::size_t position) = 0;
    /// In the order of the cases, and for each case of the engines.
    virtual void on_result(const CaseResult& result) = 0;
    /// Asked before each case; true ends the run early, with the results so far.
    virtual bool stop_requested() { return false; }
};

/// Tag of cases whose right answer no source specifies, NaN in TOP_K1 for example.
inline constexpr const char* unspecified_tag = "unspecified";

struct RunSettings {
    /// Puts cases tagged `unspecified` on the gate.
    bool include_unspecified = false;
    /// Ends the run with the first case, in their order, that fails on the gate.
    bool fail_fast = false;
    /// How often all cases are run.
    std::size_t repeat = 1;
    /// Seed of the order of the cases, a different one in each repetition; nothing: as they are written.
    std::optional<std::uint64_t> shuffle{};
    CaseSettings cases{};
    /// What is expected of cases, and counts what came of it; null: that they pass. `cases.expected` is set by the run.
    ExpectedResults* expected = nullptr;
};

/// What runs one case at a time: an instance of each of the run's engines.
using EngineSet = std::vector<std::unique_ptr<Engine>>;

/// Runs every case on every engine, as many at a time as there are sets. There is at least one set, and all have the
/// same engines.
[[nodiscard]] RunTotals run_cases(const CaseSource& source, std::span<const EngineSet> sets, Observer& observer,
                                  const RunSettings& settings = {});

}  // namespace dmlconform::run
