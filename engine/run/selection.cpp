// Filters and tags.
#include "engine/run/selection.h"

#include <algorithm>

namespace dmlconform::run {

bool Selector::matches(const cases::Case& subject) const {
    const bool named = filters.empty() || std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
                           return glob_matches(filter, subject.id);
                       });
    const bool excluded = std::any_of(excludes.begin(), excludes.end(),
                                      [&](const std::string& exclude) { return glob_matches(exclude, subject.id); });
    return named && !excluded && (ids == nullptr || ids->contains(subject.id)) &&
           std::all_of(tags.begin(), tags.end(), [&](const std::string& tag) { return subject.has_tag(tag); }) &&
           (shard == nullptr || shard->contains(id_hash(subject.id)));
}

}  // namespace dmlconform::run
