// Runs random cases on engines, and compares the results.
//
// If the reference supports the operator, every engine is compared with it. Otherwise engines are compared with each
// other; if fewer than two of them run the operator, that is reported.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/fuzz/case_generator.h"
#include "engine/run/expected_results.h"
#include "engine/run/result.h"
#include "engine/run/unverified.h"

namespace dmlconform::fuzz {

/// A failure of an engine.
struct Failure {
    std::shared_ptr<const cases::Case> subject;
    run::CaseResult result;
    /// Index of the engine.
    std::size_t engine = 0;
    /// The engine that provided the expected values, if that was not the reference.
    std::optional<std::size_t> expected_by{};
};

/// What happened to cases that a finding is about.
struct KnownTally {
    /// Expected failures.
    std::uint64_t failed = 0;
    /// Cases that meet the condition of an entry with `sometimes`, and pass.
    std::uint64_t passed = 0;
};

struct OperatorTally {
    std::uint64_t cases = 0;
    /// The number of cases with legal descriptors. Others must be rejected.
    std::uint64_t legal = 0;
    /// The number of results that were checked against the reference, the rules, or another engine.
    std::uint64_t compared = 0;
    /// The number of those that were required rejections.
    std::uint64_t rejected = 0;
    /// The number of results without a comparison: the engine does not run the operator, or no other engine does.
    std::uint64_t skipped = 0;
    /// The compared results that expectations are about, by finding.
    std::map<std::string, KnownTally> known{};
    std::uint64_t failures = 0;
    /// Data types of the first tensor in legal cases.
    std::set<core::DataType> types;
};

struct FuzzResult {
    /// By the operators' short names.
    std::map<std::string, OperatorTally> operators;
    /// The skipped results, by engine and reason: "exec:mine: no 4-bit elements".
    run::SharedReasons skips{};

    [[nodiscard]] OperatorTally total() const;
};

class FuzzObserver {
public:
    FuzzObserver() = default;
    FuzzObserver(const FuzzObserver&) = delete;
    FuzzObserver& operator=(const FuzzObserver&) = delete;
    virtual ~FuzzObserver() = default;

    virtual void on_failure(const Failure& failure) = 0;
    /// Called after each case with its results, ordered by engine. Failures among them were reported before.
    virtual void on_case(std::span<const run::CaseResult> /*results*/) {}
    /// Called before each case: `done` cases have run, `failures` were found. True ends the run.
    virtual bool stop_requested(std::uint64_t done, std::uint64_t failures) = 0;
};

struct FuzzSettings {
    GeneratorSettings generator;
    std::vector<const operators::OperatorSchema*> operators;
    /// Generates random graphs instead of cases of single operators.
    bool graphs = false;
    /// The number of the first case of each operator.
    std::uint64_t start = 0;
    /// Known failures; may be null.
    run::ExpectedResults* expected = nullptr;
    /// See run::CaseSettings::precisions.
    std::vector<core::Precision> precisions{};
    /// The number of cases of all operators together, in rotation. 0: until the observer stops the run.
    std::uint64_t count = 0;
};

[[nodiscard]] FuzzResult fuzz(const FuzzSettings& settings, std::span<const std::unique_ptr<Engine>> engines,
                              FuzzObserver& observer);

}  // namespace dmlconform::fuzz
