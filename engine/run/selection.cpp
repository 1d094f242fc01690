// Matches cases against filters, tags and ids.
#include "engine/run/selection.h"

#include <algorithm>

namespace dmlconform::run {

bool Selector::matches(const cases::Case& subject) const {
    return matches(subject.id, subject.graph_id, subject);
}

bool Selector::matches_node(const cases::Case& subject, const std::string& id) const {
    return matches(id, subject.id, subject);
}

bool Selector::matches(const std::string& id, const std::string& graph_id, const cases::Case& tagged) const {
    const auto is_meant = [&](const std::string& glob) {
        return glob_matches(glob, id) || (!graph_id.empty() && glob_matches(glob, graph_id));
    };
    const bool named = filters.empty() || std::ranges::any_of(filters, is_meant);
    return named && std::ranges::none_of(excludes, is_meant) && (ids == nullptr || ids->contains(id)) &&
           std::ranges::all_of(tags, [&](const std::string& tag) { return tagged.has_tag(tag); }) &&
           (shard == nullptr || shard->contains(id_hash(id)));
}

}  // namespace dmlconform::run
