// Runs and judges drafts.
#include "engine/fuzz/search.h"

#include <fmt/format.h>

#include "engine/cases/recorded_case.h"
#include "engine/core/hash.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/kept_strides.h"
#include "engine/fuzz/random.h"
#include "engine/operators/in_place.h"
#include "engine/operators/rules.h"
#include "engine/run/runner.h"

namespace dmlconform::fuzz {
namespace {

std::string rule_against(const operators::Descriptor& descriptor) {
    if (operators::in_place_problem(descriptor, operators::in_place_names(descriptor))) {
        return "inPlace";
    }
    const auto verdict = operators::validate(descriptor, core::highest_feature_level);
    return verdict ? verdict->rule : "";
}

/// Why the case cannot be reduced.
core::Error no_failure(const cases::Case& original, const std::optional<run::CaseResult>& result) {
    if (result && result->status == run::Status::skip) {
        return {fmt::format("the case is skipped on this engine: {}", result->reason),
                "where there is no reference, --against names an engine that says what is right"};
    }
    return {"the case does not fail on this engine",
            original.needs_reference() || original.expect_error
                ? "it may need the machine, driver or engine that is in environment.json"
                : "it may fail only by the values that it expects itself, which stay with its sizes"};
}

/// A case file must have expected values if there is no reference, even if the descriptor is rejected.
void expect_zeros(cases::Case& subject) {
    const auto slots = subject.descriptor->outputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc != nullptr) {
            const std::uint64_t bytes =
                core::bytes_of(slots[i].desc->data_type, *core::element_count(slots[i].desc->sizes));
            subject.expected[i] = cases::given_elements(std::vector<std::byte>(static_cast<std::size_t>(bytes)));
        }
    }
    subject.description += "; it fails before any values are compared, so that those expected are just zeros";
}

}  // namespace

core::Result<void> Search::begin() {
    auto draft = draft_of(original_);
    if (!draft) {
        return tl::unexpected(draft.error());
    }
    rule_ = rule_against(*original_.descriptor);
    best_ = std::move(*draft);
    const cases::Case plain = case_of(best_);
    const auto result = judged(plain);
    if (!result || !run::is_failure(result->status)) {
        return tl::unexpected(no_failure(original_, result));
    }
    kind_ = run::kind_of(plain, *result);
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
    // A draft whose repair leads back to an earlier one is not accepted, because the search might not end.
    if (over() || accepted_.contains(digest(draft)) || !fits(draft)) {
        return false;
    }
    ++attempts_;
    const cases::Case subject = case_of(draft);
    auto result = judged(subject);
    if (!result || !(run::kind_of(subject, *result) == kind_)) {
        return false;
    }
    accepted_.insert(digest(draft));
    best_ = std::move(draft);
    result_ = std::move(*result);
    ++steps_;
    return true;
}

bool Search::attempt_repaired(Draft draft, std::optional<std::size_t> dropped) {
    Draft repaired = draft;
    repair(repaired);
    if (attempt_with_strides(repaired, dropped) || attempt(std::move(repaired))) {
        return true;
    }
    return !has_data() && (attempt_with_strides(draft, dropped) || attempt(std::move(draft)));
}

bool Search::attempt_with_strides(const Draft& draft, std::optional<std::size_t> dropped) {
    for (const Strides strides : {Strides::in_order, Strides::kept}) {
        auto descriptor = with_strides(draft.descriptor, best_.descriptor, strides, dropped);
        if (descriptor && attempt({std::move(*descriptor), draft.inputs})) {
            return true;
        }
    }
    return false;
}

bool Search::over() {
    ended_early_ = ended_early_ || std::chrono::steady_clock::now() >= deadline_ || settings_.stop_requested();
    return ended_early_;
}

Reduction Search::finish() {
    Reduction reduction{case_of(best_), std::move(result_), attempts_, steps_, !ended_early_};
    reduction.subject.id = fmt::format("reduced/{}", original_.id.substr(original_.id.find('/') + 1));
    reduction.subject.description = fmt::format("reduced from {}: {}", original_.id, reduction.result.reason);
    if (!cpu::has_reference(best_.descriptor) && has_data()) {
        if (other_ != nullptr) {
            if (const auto answer = run::answer_of(reduction.subject, *other_); answer.computed != nullptr) {
                reduction.subject = cases::recorded_case(reduction.subject, *answer.computed);
            }
        } else {
            expect_zeros(reduction.subject);
        }
    }
    return reduction;
}

bool Search::fits(const Draft& draft) const {
    return rule_against(draft.descriptor) == rule_;
}

cases::Case Search::case_of(const Draft& draft) const {
    cases::Case subject = original_;
    subject.descriptor = operators::sealed(draft.descriptor);
    subject.inputs.clear();
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const bool filled = slots[i].desc != nullptr && i < draft.inputs.size() && !draft.inputs[i].empty();
        subject.inputs.push_back(filled ? std::optional(cases::given_elements(draft.inputs[i])) : std::nullopt);
    }
    // Sizes of outputs change, and other inputs lead to other results.
    subject.expected.assign(subject.expected.size(), std::nullopt);
    subject.expected_in_fp32 = false;
    if (!subject.expect_error) {
        // A case with a level below the required one tests how engines of that level behave.
        const auto needed = operators::minimum_feature_level(*original_.descriptor);
        if (!needed || original_.min_feature_level >= *needed) {
            subject.min_feature_level =
                operators::minimum_feature_level(*subject.descriptor).value_or(subject.min_feature_level);
        }
    }
    return subject;
}

std::optional<run::CaseResult> Search::judged(const cases::Case& subject) {
    // Without expected values, rejections and failures before execution can still be detected.
    if (subject.expect_error || other_ == nullptr || cpu::has_reference(*subject.descriptor)) {
        return run_once(subject);
    }
    const run::CaseResult answer = run::answer_of(subject, *other_);
    return answer.computed == nullptr ? std::nullopt
                                      : std::optional(run_once(cases::recorded_case(subject, *answer.computed)));
}

run::CaseResult Search::run_once(const cases::Case& subject) {
    run::CaseSettings settings;
    settings.expected = settings_.expected;
    settings.precisions.assign(settings_.engine + 1, settings_.precision);
    run::CaseResult result = run::run_case(subject, engine_, settings, settings_.engine);
    if (settings_.expected != nullptr) {
        settings_.expected->apply(result);
    }
    return result;
}

}  // namespace dmlconform::fuzz
