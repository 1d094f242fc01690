// Which of the loaded cases are run.
#pragma once

#include <memory>
#include <set>
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
    /// Globs, of which the id may match none.
    std::vector<std::string> excludes{};
    /// The only ids that are chosen; null: any.
    std::shared_ptr<const std::set<std::string>> ids{};
    /// Which of those are run here; null: all.
    std::shared_ptr<const ShardPlan> shard{};

    [[nodiscard]] bool selects_all() const {
        return filters.empty() && tags.empty() && excludes.empty() && ids == nullptr && shard == nullptr;
    }
    [[nodiscard]] bool matches(const cases::Case& subject) const;
};

}  // namespace dmlconform::run
