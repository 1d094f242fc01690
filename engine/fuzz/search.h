// The search of the reducer: drafts are tried, and the last one that failed as the case did is the best so far.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "engine/fuzz/draft.h"
#include "engine/fuzz/reducer.h"
#include "engine/run/failure_kind.h"

namespace dmlconform::fuzz {

/// Drafts become smaller or simpler with each step, so that a search ends; or its time is up, or it is stopped.
class Search {
public:
    /// Keeps references.
    Search(const cases::Case& original, Engine& engine, Engine* other, const ReduceSettings& settings)
        : original_(original), engine_(engine), other_(other), settings_(settings) {}

    /// Runs the case as it is, but without expected values of its own. An error when it does not fail.
    [[nodiscard]] core::Result<void> begin();

    /// Whether the draft still fails in the same way; then it is the best so far.
    bool attempt(Draft draft);

    /// The same after what follows from a change was made legal again. What has to be rejected may be so by just that:
    /// then it is tried as it is, too.
    bool attempt_repaired(Draft draft);

    /// Time is up, or it was stopped.
    [[nodiscard]] bool over();
    [[nodiscard]] const Draft& best() const { return best_; }
    /// False for a case that has to be rejected: it has no data.
    [[nodiscard]] bool has_data() const { return !original_.expect_error; }
    [[nodiscard]] Reduction finish();

private:
    [[nodiscard]] static std::uint64_t digest(const Draft& draft);
    /// Whether the draft is legal if the original is, or illegal by the same rule.
    [[nodiscard]] bool fits(const Draft& draft) const;
    [[nodiscard]] cases::Case case_of(const Draft& draft) const;
    [[nodiscard]] std::optional<run::CaseResult> judged(const cases::Case& subject);
    [[nodiscard]] run::CaseResult run_once(const cases::Case& subject);

    const cases::Case& original_;
    Engine& engine_;
    Engine* other_;
    const ReduceSettings& settings_;
    std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + settings_.time;
    /// That rejects a descriptor; empty for a legal one.
    std::string rule_;
    /// How the case failed: a smaller one has to fail in the same way.
    run::FailureKind kind_;
    Draft best_;
    /// Digests of all drafts that have been the best.
    std::set<std::uint64_t> accepted_;
    run::CaseResult result_;
    std::uint64_t attempts_ = 0;
    std::uint64_t steps_ = 0;
    bool ended_early_ = false;
};

/// Each tries changes of one kind, and says whether any stayed.
bool separate_memory(Search& search);
bool drop_optional_fields(Search& search);
bool simplify_layouts(Search& search);
bool shrink_sizes(Search& search);
/// Tensors one by one: what has to be rejected need not fit together.
bool shrink_single_tensors(Search& search);
/// Dimensions in which every tensor has size 1.
bool drop_dimensions(Search& search);
bool simplify_attributes(Search& search);
bool simplify_values(Search& search);

}  // namespace dmlconform::fuzz
