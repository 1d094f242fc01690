// Which of the loaded cases are run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/glob.h"
#include "engine/run/shard.h"

namespace dmlconform::run {

using core::glob_matches;

/// Chooses cases.
struct Selector {
    /// Globs, of which the id has to match one; none: all ids.
    std::vector<std::string> filters;
    /// Of which a case has to have all.
    std::vector<std::string> tags;
    /// Which of those are run here; null: all.
    std::shared_ptr<const ShardPlan> shard{};

    [[nodiscard]] bool selects_all() const { return filters.empty() && tags.empty() && shard == nullptr; }
    [[nodiscard]] bool matches(const cases::Case& subject) const;
};

}  // namespace dmlconform::run
