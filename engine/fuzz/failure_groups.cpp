// Groups failures by what a report would say about them.
#include "engine/fuzz/failure_groups.h"

#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

/// The number of elements of all tensors.
std::uint64_t elements_of(const cases::Case& subject) {
    std::uint64_t sum = 0;
    for (const auto& slots : {subject.descriptor->inputs(), subject.descriptor->outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            sum += slot.desc == nullptr ? 0 : core::element_count(slot.desc->sizes).value_or(0);
        }
    }
    return sum;
}

/// The rule by which the engine rejected the case, or should have rejected it.
std::string rule_of(const Failure& failure) {
    if (failure.result.rejection) {
        return failure.result.rejection->rule;
    }
    const auto verdict = operators::validate(*failure.subject->descriptor, core::highest_feature_level);
    return verdict ? verdict->rule : "";
}

}  // namespace

FailureGroups::Key FailureGroups::key_of(const Failure& failure) {
    const run::FailureKind kind = run::kind_of(*failure.subject, failure.result);
    return {std::string(failure.subject->descriptor->schema->short_name()), failure.engine, kind.status, kind.what,
            rule_of(failure)};
}

bool FailureGroups::add(const Failure& failure) {
    FailureGroup& group = groups_[key_of(failure)];
    if (group.smallest == nullptr || elements_of(*failure.subject) < elements_of(*group.smallest)) {
        group.smallest = failure.subject;
        group.reason = failure.result.reason;
        group.engine = failure.engine;
    }
    return ++group.count == 1;
}

std::vector<const FailureGroup*> FailureGroups::all() const {
    std::vector<const FailureGroup*> list;
    for (const auto& [key, group] : groups_) {
        list.push_back(&group);
    }
    return list;
}

}  // namespace dmlconform::fuzz
