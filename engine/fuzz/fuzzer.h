// Running random cases on engines, and comparing what they do.
//
// Where the reference knows the operator, every engine is compared with it. Otherwise engines are compared with each
// other: with fewer than two that run the operator there is nothing to compare, and that is what is said.
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

namespace dmlconform::fuzz {

/// An engine did what it must not.
struct Failure {
    std::shared_ptr<const cases::Case> subject;
    run::CaseResult result;
    /// Index into the engines.
    std::size_t engine = 0;
    /// The engine that said what is right, where that was not the reference.
    std::optional<std::size_t> expected_by{};
};

struct OperatorTally {
    std::uint64_t cases = 0;
    /// Cases whose descriptor is legal. The others have to be rejected.
    std::uint64_t legal = 0;
    /// Results of an engine that were checked against the reference, the rules, or another engine.
    std::uint64_t compared = 0;
    /// Rejections that had to be, among them.
    std::uint64_t rejected = 0;
    /// Results with nothing to compare them with: the engine does not run the operator, or no other does.
    std::uint64_t skipped = 0;
    /// Failures that were expected, among those compared, by the finding that says so.
    std::map<std::string, std::uint64_t> known{};
    std::uint64_t failures = 0;
    /// Of the first tensor, in legal cases.
    std::set<core::DataType> types;
};

struct FuzzResult {
    /// By the operators' short names.
    std::map<std::string, OperatorTally> operators;

    [[nodiscard]] OperatorTally total() const;
};

class FuzzObserver {
public:
    FuzzObserver() = default;
    FuzzObserver(const FuzzObserver&) = delete;
    FuzzObserver& operator=(const FuzzObserver&) = delete;
    virtual ~FuzzObserver() = default;

    virtual void on_failure(const Failure& failure) = 0;
    /// Asked before each case; `done` cases have been run, `failures` found.
    virtual bool stop_requested(std::uint64_t done, std::uint64_t failures) = 0;
};

struct FuzzSettings {
    GeneratorSettings generator;
    std::vector<const operators::OperatorSchema*> operators;
    /// Number of the first case of each operator.
    std::uint64_t start = 0;
    /// What is known to fail; may be null.
    run::ExpectedResults* expected = nullptr;
    /// Cases of all operators together; operators take turns. 0: until the observer ends it.
    std::uint64_t count = 0;
};

[[nodiscard]] FuzzResult fuzz(const FuzzSettings& settings, std::span<const std::unique_ptr<Engine>> engines,
                              FuzzObserver& observer);

}  // namespace dmlconform::fuzz
