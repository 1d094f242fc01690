// Judging drafts.
#include "engine/fuzz/search.h"

#include <fmt/format.h>

#include "engine/core/hash.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/execution.h"
#include "engine/fuzz/random.h"
#include "engine/operators/rules.h"
#include "engine/run/runner.h"

namespace dmlconform::fuzz {

core::Result<void> Search::begin() {
    auto draft = draft_of(original_);
    if (!draft) {
        return tl::unexpected(draft.error());
    }
    if (original_.expect_error) {
        const auto verdict = operators::validate(*original_.descriptor, core::highest_feature_level);
        rule_ = verdict ? verdict->rule : "";
    }
    best_ = std::move(*draft);
    const cases::Case plain = case_of(best_);
    const auto result = judged(plain);
    if (!result || !run::is_failure(result->status)) {
        return core::fail("the case does not fail on this engine",
                          original_.needs_reference() || original_.expect_error
                              ? "it may need the machine, driver or engine that is in environment.json"
                              : "it may fail only by the values that it expects itself, which stay with its sizes");
    }
    kind_ = kind_of(plain, *result);
    result_ = *result;
    accepted_.insert(digest(best_));
    return {};
}

std::uint64_t Search::digest(const Draft& draft) {
    std::uint64_t hash = 0;
    const auto add = [&hash](std::string_view text) { hash = hash * 31 + core::fnv1a(text); };
    for (const std::string& line : to_lines(draft.descriptor)) {
        add(line);
    }
    for (const auto& slots : {draft.descriptor.inputs(), draft.descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            add(slot.desc == nullptr ? ""
                                     : fmt::format("{} {}", slot.desc->total_bytes, slot.desc->base_offset_alignment));
        }
    }
    for (const auto& elements : draft.inputs) {
        add({reinterpret_cast<const char*>(elements.data()), elements.size()});
    }
    return hash;
}

bool Search::attempt(Draft draft) {
    // What settles to what has been there already is no step forward, and could go on for ever.
    if (over() || accepted_.contains(digest(draft)) || !is_legal(draft)) {
        return false;
    }
    ++attempts_;
    const cases::Case subject = case_of(draft);
    auto result = judged(subject);
    if (!result || !(kind_of(subject, *result) == kind_)) {
        return false;
    }
    accepted_.insert(digest(draft));
    best_ = std::move(draft);
    result_ = std::move(*result);
    return true;
}

bool Search::over() {
    ended_early_ = ended_early_ || std::chrono::steady_clock::now() >= deadline_ || settings_.stop_requested();
    return ended_early_;
}

Reduction Search::finish() {
    Reduction reduction{case_of(best_), std::move(result_), attempts_, !ended_early_};
    reduction.subject.id = fmt::format("reduced/{}", original_.id.substr(original_.id.find('/') + 1));
    reduction.subject.description = fmt::format("reduced from {}: {}", original_.id, reduction.result.reason);
    if (other_ != nullptr && !cpu::has_reference(*best_.descriptor.schema) && has_data()) {
        reduction.subject = expecting(reduction.subject, execute(reduction.subject, *other_).outputs);
    }
    return reduction;
}

bool Search::is_legal(const Draft& draft) const {
    const auto verdict = operators::validate(draft.descriptor, core::highest_feature_level);
    return original_.expect_error ? verdict && verdict->rule == rule_ : !verdict;
}

cases::Case Search::case_of(const Draft& draft) const {
    cases::Case subject = original_;
    subject.descriptor = std::make_shared<const operators::Descriptor>(draft.descriptor);
    subject.inputs.clear();
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const bool filled = slots[i].desc != nullptr && i < draft.inputs.size() && !draft.inputs[i].empty();
        subject.inputs.push_back(filled ? std::optional(cases::given_elements(draft.inputs[i])) : std::nullopt);
    }
    // Outputs change their sizes, and with other inputs other values are right.
    subject.expected.assign(subject.expected.size(), std::nullopt);
    if (!subject.expect_error) {
        subject.min_feature_level =
            operators::minimum_feature_level(*subject.descriptor).value_or(subject.min_feature_level);
    }
    return subject;
}

std::optional<run::CaseResult> Search::judged(const cases::Case& subject) {
    if (subject.expect_error || cpu::has_reference(*subject.descriptor->schema)) {
        return run::run_case(subject, engine_);
    }
    if (other_ == nullptr) {
        return std::nullopt;
    }
    const Execution execution = execute(subject, *other_);
    if (execution.kind != Execution::Kind::done) {
        return std::nullopt;
    }
    return run::run_case(expecting(subject, execution.outputs), engine_);
}

}  // namespace dmlconform::fuzz
