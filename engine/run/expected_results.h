// Applies expectations: which cases are skipped or retried, and how results are changed.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/expectations/expectation.h"
#include "engine/run/result.h"

namespace dmlconform::run {

/// What expectations say about running a case on an engine.
struct CasePlan {
    /// The expectation that skips the case; null if it is run.
    const expectations::Expectation* skip = nullptr;
    /// The number of retries after a failure.
    unsigned retries = 0;
};

/// The elements of an output that expectations have to excuse, by their row-major indices in ascending order.
struct Beyond {
    /// Those beyond the tolerance.
    std::vector<std::uint64_t> elements;
    /// Those that look as if they had not been written. Only an entry that accepts them exactly can excuse them.
    std::vector<std::uint64_t> unwritten;
    /// True if the output is all zero and should not be, which nothing excuses.
    bool is_zero = false;
};

/// The expectations of a run that are in force today. Results keep pointers to them.
class ExpectedResults {
public:
    /// Keeps the expectations that have not expired by `today`.
    ExpectedResults(std::vector<expectations::Expectation> all, expectations::Date today);
    ExpectedResults(const ExpectedResults&) = delete;
    ExpectedResults& operator=(const ExpectedResults&) = delete;
    ~ExpectedResults() = default;

    /// Must be called before the functions below. Results refer to engines by index.
    void set_engines(std::span<const EngineInfo> engines);

    [[nodiscard]] CasePlan plan(const cases::Case& subject, std::size_t engine) const;

    /// True if an entry lists elements that may differ on the engine.
    [[nodiscard]] bool knows_elements(std::size_t engine) const { return engines_.at(engine).has_elements; }

    /// The entries that together cover all elements beyond the tolerances; empty if other elements differ, too.
    /// `beyond` has these elements for each output, and `elements` knows all elements.
    [[nodiscard]] std::vector<const expectations::Expectation*> excusing(const cases::Case& subject, std::size_t engine,
                                                                         std::vector<Beyond> beyond,
                                                                         expectations::OutputElements elements) const;

    /// Turns expected failures into xfail and unexpected passes into xpass, and counts the uses of each expectation.
    /// Not thread-safe.
    void apply(CaseResult& result);

    /// Indices into all() of the expectations that apply to the case on the engine, in order.
    [[nodiscard]] std::vector<std::size_t> matching(const cases::Case& subject, std::size_t engine) const;

    [[nodiscard]] std::span<const expectations::Expectation> all() const { return all_; }
    [[nodiscard]] std::vector<const expectations::Expectation*> expired() const;
    /// Expectations for engines of the run that no result has matched so far.
    [[nodiscard]] std::vector<const expectations::Expectation*> unused() const;
    /// For each of all(), the number of results that it decided or that contradicted it.
    [[nodiscard]] std::span<const std::size_t> uses() const { return uses_; }

private:
    /// The expectations for one engine, indexed by id if they have one, and those with patterns.
    struct OfEngine {
        std::unordered_map<std::string, std::vector<std::size_t>> exact;
        std::vector<std::pair<std::string, std::size_t>> patterns;
        /// Expectations without ids, by operator.
        std::unordered_map<std::string, std::vector<std::size_t>> by_operator;
        bool has_elements = false;
    };

    /// Expectations that may apply, by the case's id, or by its operator for entries without ids.
    [[nodiscard]] std::vector<std::size_t> candidates(const cases::Case& subject, std::size_t engine) const;
    void note_operators(OfEngine& known, std::size_t index) const;
    void use(CaseResult& result, std::size_t index);

    std::vector<expectations::Expectation> all_;
    std::vector<bool> expired_;
    std::vector<bool> concerned_;
    std::vector<std::size_t> uses_;
    std::vector<OfEngine> engines_;
};

/// Runs a case as planned: skips it, or retries it until it passes. `subject` and `engine` are the result's.
[[nodiscard]] CaseResult run_as_planned(const CasePlan& plan, const std::shared_ptr<const cases::Case>& subject,
                                        std::size_t engine, const std::function<CaseResult()>& run_once);

}  // namespace dmlconform::run
