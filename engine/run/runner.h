// Running cases on engines and judging what comes out.
#pragma once

#include <memory>
#include <span>

#include "engine/engine.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// Is told how the run goes on: progress lines, streams of results.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// Before the case's first engine. `position` counts from 0.
    virtual void on_case(const cases::Case& subject, std::size_t position, std::size_t total) = 0;
    virtual void on_result(const CaseResult& result) = 0;
    /// Asked before each case; true ends the run early, with the results so far.
    virtual bool stop_requested() { return false; }
};

/// Tag of cases whose right answer no source specifies, NaN in TOP_K1 for example.
inline constexpr const char* unspecified_tag = "unspecified";

struct RunSettings {
    /// Puts cases tagged `unspecified` on the gate.
    bool include_unspecified = false;
};

/// Runs every case on every engine.
[[nodiscard]] RunResult run_cases(std::span<const cases::Case* const> cases,
                                  std::span<const std::unique_ptr<Engine>> engines, Observer& observer,
                                  const RunSettings& settings = {});

/// Runs one case on one engine. The result's `engine` is 0.
[[nodiscard]] CaseResult run_case(const cases::Case& subject, Engine& engine);

}  // namespace dmlconform::run
