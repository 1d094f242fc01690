// Expectations met by results: what is not run at all, what is tried again, and what a result becomes.
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

/// What is to be done with a case on an engine because of what is expected of it.
struct CasePlan {
    /// Why it is not run; null: it is.
    const expectations::Expectation* skip = nullptr;
    /// How often it is run again when it fails.
    unsigned retries = 0;
};

/// The expectations of a run that count today. Results keep pointers to them.
class ExpectedResults {
public:
    /// Of `all`, those that have expired by `today` do not count.
    ExpectedResults(std::vector<expectations::Expectation> all, expectations::Date today);
    ExpectedResults(const ExpectedResults&) = delete;
    ExpectedResults& operator=(const ExpectedResults&) = delete;
    ~ExpectedResults() = default;

    /// Has to be called before anything below, with the engines of the run: results know engines by their index.
    void set_engines(std::span<const EngineInfo> engines);

    [[nodiscard]] CasePlan plan(const cases::Case& subject, std::size_t engine) const;

    /// Whether some entry says which elements may differ on the engine.
    [[nodiscard]] bool knows_elements(std::size_t engine) const { return engines_.at(engine).has_elements; }

    /// The entries by which all elements that differ beyond the tolerances may do so; none if there are others.
    /// `beyond` has their row-major indices for each output.
    [[nodiscard]] std::vector<const expectations::Expectation*> excusing(
        const cases::Case& subject, std::size_t engine, std::vector<std::vector<std::uint64_t>> beyond) const;

    /// Makes failures that were expected of failures, and unexpected passes of passes, and counts for each expectation
    /// what it was of use for. For one result after the other, from one thread at a time.
    void apply(CaseResult& result);

    /// Indices into all() of those that speak of the case on the engine and count, in their order.
    [[nodiscard]] std::vector<std::size_t> matching(const cases::Case& subject, std::size_t engine) const;

    [[nodiscard]] std::span<const expectations::Expectation> all() const { return all_; }
    [[nodiscard]] std::vector<const expectations::Expectation*> expired() const;
    /// Those that concern an engine of the run, and no result so far.
    [[nodiscard]] std::vector<const expectations::Expectation*> unused() const;
    /// How many results each of all() decided, or contradicted.
    [[nodiscard]] std::span<const std::size_t> uses() const { return uses_; }

private:
    /// The expectations that concern one engine, by the id if it is written out, and those with patterns.
    struct OfEngine {
        std::unordered_map<std::string, std::vector<std::size_t>> exact;
        std::vector<std::pair<std::string, std::size_t>> patterns;
        /// By the operator that they are about, those without ids.
        std::unordered_map<std::string, std::vector<std::size_t>> by_operator;
        bool has_elements = false;
    };

    /// Those that may be meant by the id, or by the operator where there are no ids.
    [[nodiscard]] std::vector<std::size_t> candidates(const cases::Case& subject, std::size_t engine) const;
    void note_operators(OfEngine& known, std::size_t index) const;
    void use(CaseResult& result, std::size_t index);

    std::vector<expectations::Expectation> all_;
    std::vector<bool> expired_;
    std::vector<bool> concerned_;
    std::vector<std::size_t> uses_;
    std::vector<OfEngine> engines_;
};

/// Runs a case as planned: not at all, or until it does not fail any more. `subject` and `engine` are the result's.
[[nodiscard]] CaseResult run_as_planned(const CasePlan& plan, const std::shared_ptr<const cases::Case>& subject,
                                        std::size_t engine, const std::function<CaseResult()>& run_once);

}  // namespace dmlconform::run
