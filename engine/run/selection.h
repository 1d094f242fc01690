// Selects which of the loaded cases run.
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

/// Criteria for cases, all of which must hold.
struct Selector {
    /// The id must match one of these globs, unless there are none.
    std::vector<std::string> filters;
    /// The case must have all of these tags.
    std::vector<std::string> tags;
    /// The id must match none of these globs.
    std::vector<std::string> excludes{};
    /// The id must be one of these. Null: any id.
    std::shared_ptr<const std::set<std::string>> ids{};
    /// The case must be in this shard. Null: any.
    std::shared_ptr<const ShardPlan> shard{};

    [[nodiscard]] bool selects_all() const {
        return filters.empty() && tags.empty() && excludes.empty() && ids == nullptr && shard == nullptr;
    }
    /// Nodes of a graph that are judged separately are selected by their own ids and by that of the graph's case.
    [[nodiscard]] bool matches(const cases::Case& subject) const;
    /// The same for a node of a graph's case, without making the node's case.
    [[nodiscard]] bool matches_node(const cases::Case& subject, const std::string& id) const;

private:
    [[nodiscard]] bool matches(const std::string& id, const std::string& graph_id, const cases::Case& tagged) const;
};

}  // namespace dmlconform::run
