// The reducer's search: tries drafts. The last one that failed like the original case is the best so far.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "engine/fuzz/draft.h"
#include "engine/fuzz/reducer.h"
#include "engine/run/failure_kind.h"

namespace dmlconform::fuzz {

/// Drafts become smaller or simpler with each step, so the search ends; or time is up, or it is stopped.
class Search {
public:
    /// Keeps references to the arguments.
    Search(const cases::Case& original, Engine& engine, Engine* other, const ReduceSettings& settings)
        : original_(original), engine_(engine), other_(other), settings_(settings) {}

    /// Runs the original case without its expected values. Fails if the case does not fail.
    [[nodiscard]] core::Result<void> begin();

    /// Runs the draft. If it still fails in the same way, it becomes the best so far, and the result is true.
    bool attempt(Draft draft);

    /// The same after repairing the draft. For a case that must be rejected, the unrepaired draft is tried as well,
    /// because the repair may remove the reason. If the best so far has strides, the failure seems to depend on them,
    /// so the draft is tried with such strides first. `dropped`: the dimension that the draft lacks.
    bool attempt_repaired(Draft draft, std::optional<std::size_t> dropped = std::nullopt);

    /// True if time is up or the search was stopped.
    [[nodiscard]] bool over();
    [[nodiscard]] const Draft& best() const { return best_; }
    /// False for a case that must be rejected: it has no data.
    [[nodiscard]] bool has_data() const { return !original_.expect_error; }
    [[nodiscard]] Reduction finish();

private:
    bool attempt_with_strides(const Draft& draft, std::optional<std::size_t> dropped);
    [[nodiscard]] static std::uint64_t digest(const Draft& draft);
    /// True if the draft is legal like the original, or illegal by the same rule.
    [[nodiscard]] bool fits(const Draft& draft) const;
    [[nodiscard]] cases::Case case_of(const Draft& draft) const;
    [[nodiscard]] std::optional<run::CaseResult> judged(const cases::Case& subject);
    [[nodiscard]] run::CaseResult run_once(const cases::Case& subject);

    const cases::Case& original_;
    Engine& engine_;
    Engine* other_;
    const ReduceSettings& settings_;
    std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::now() + settings_.time;
    /// The rule that rejects the descriptor; empty for a legal one.
    std::string rule_;
    /// How the case failed. A smaller case must fail in the same way.
    run::FailureKind kind_;
    Draft best_;
    /// Digests of all drafts that have been the best.
    std::set<std::uint64_t> accepted_;
    run::CaseResult result_;
    std::uint64_t attempts_ = 0;
    std::uint64_t steps_ = 0;
    bool ended_early_ = false;
};

/// Each of these tries changes of one kind, and returns true if any was kept.
bool separate_memory(Search& search);
bool drop_optional_fields(Search& search);
bool simplify_layouts(Search& search);
bool shrink_sizes(Search& search);
/// Shrinks tensors one by one: a case that must be rejected need not be consistent.
bool shrink_single_tensors(Search& search);
/// Removes dimensions in which every tensor has size 1.
bool drop_dimensions(Search& search);
bool simplify_attributes(Search& search);
bool simplify_values(Search& search);

}  // namespace dmlconform::fuzz
