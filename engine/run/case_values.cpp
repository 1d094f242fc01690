// Creates inputs and expected values of a case.
#include "engine/run/case_values.h"

#include <algorithm>
#include <cmath>

#include "engine/compare/power.h"

#include "engine/cases/shared_reference.h"
#include "engine/cpu/graph_reference.h"
#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::run {
namespace {

void fill(const cases::Initialiser& initialiser, core::Tensor& tensor) {
    if (const auto filled = initialiser.fill(tensor); !filled) {
        throw DataUnavailable(filled.error().message);
    }
}

core::Tolerance tolerance_of(const cases::Case& subject, std::size_t output) {
    const operators::Descriptor& descriptor = *subject.descriptor;
    return subject.tolerances[output].value_or(cpu::default_tolerance(descriptor, descriptor.outputs()[output]));
}

}  // namespace

ReferenceWish reference_wish(const cases::Case& subject) {
    ReferenceWish wish;
    if (std::ranges::any_of(subject.tolerances, [](const auto& one) { return one && one->half_precision; })) {
        wish.accumulation = cpu::Accumulation::float16;
    }
    wish.runs = subject.expected_in_fp32 || needs_slack(subject) ? cpu::monte_carlo_runs : 0;
    return wish;
}

bool needs_slack(const cases::Case& subject) {
    for (std::size_t i = 0; i < subject.tolerances.size(); ++i) {
        if (tolerance_of(subject, i).element_slack) {
            return true;
        }
    }
    return false;
}

CaseValues::CaseValues(const cases::Case& subject, bool answered)
    : case_(subject), descriptor_(*subject.descriptor), answered_(answered) {}

std::span<const core::Tensor* const> CaseValues::inputs() {
    if (prepared_) {
        return input_pointers_;
    }
    const auto slots = descriptor_.inputs();
    inputs_.clear();  // drop what a previous attempt left when memory ran out
    input_pointers_.clear();
    inputs_.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            input_pointers_.push_back(nullptr);
            continue;
        }
        core::Tensor& tensor =
            inputs_.emplace_back(in_files_ ? core::tensor_in_file(*slots[i].desc) : core::Tensor(*slots[i].desc));
        fill(*case_.inputs[i], tensor);
        tensor.buffer.leave_memory();
        input_pointers_.push_back(&inputs_.back());
    }
    prepared_ = true;
    return input_pointers_;
}

bool CaseValues::knows(std::size_t output) const {
    return case_.expected[output].has_value() || (answered_ ? has_answer() : cpu::has_reference(descriptor_));
}

const core::Tensor& CaseValues::expected(std::size_t output) {
    if (!case_.expected[output]) {
        return answered_ ? (*answer_)[output] : reference().outputs[output];
    }
    expected_.resize(case_.expected.size());
    if (!expected_[output]) {
        const core::TensorDesc& desc = *descriptor_.outputs()[output].desc;
        core::Tensor values(core::TensorDesc::packed(desc.data_type, desc.sizes));
        fill(*case_.expected[output], values);
        expected_[output] = std::move(values);
    }
    return *expected_[output];
}

core::Tolerance CaseValues::tolerance(std::size_t output) const {
    return tolerance_of(case_, output);
}

const core::ElementSlack* CaseValues::slack(std::size_t output) {
    const core::Tolerance accepted = tolerance(output);
    const bool has_slack = accepted.element_slack || accepted.alternatives || accepted.meaningful_part;
    return has_slack && cpu::has_reference(descriptor_) ? &reference().slack[output] : nullptr;
}

Accepted CaseValues::accepted(std::size_t output, core::Precision precision) {
    if (!case_.tolerances[output] && precision == core::Precision::fp32) {
        // The operator's bounds are those around the reference, from which the expected values may differ.
        if (auto around = accepted_around_fp32(output)) {
            return std::move(*around);
        }
    }
    Accepted result{tolerance(output), slack(output)};
    const auto& given = case_.expected[output];
    const core::DataType type = descriptor_.outputs()[output].desc->data_type;
    result.tolerance.zero_signs = given && given->spells_negative_zero();
    const bool is_stated = case_.tolerances[output].has_value();
    if (precision == core::Precision::fp32 || is_stated || !result.tolerance.element_slack ||
        result.bounds == nullptr) {
        return result;
    }
    if (type == core::DataType::float16 && precision == core::Precision::fp16) {
        result.tolerance.half_precision = true;
        result.bounds = &half_reference().slack[output];
    }
    if (type == core::DataType::float32) {
        // Every rounding is coarser by this factor, to first order.
        const double times = std::ldexp(1.0, significant_bits(core::Precision::fp32) - significant_bits(precision));
        result.wider = *result.bounds;
        for (auto* bounds : {&result.wider->below, &result.wider->above}) {
            std::ranges::transform(*bounds, bounds->begin(), [times](double bound) { return bound * times; });
        }
    }
    return result;
}

std::optional<Accepted> CaseValues::accepted_around_fp32(std::size_t output) {
    const bool has_errors = case_.expected_in_fp32 && case_.expected[output] && cpu::has_reference(descriptor_) &&
                            cpu::default_tolerance(descriptor_, descriptor_.outputs()[output]).element_slack;
    if (!has_errors) {
        return std::nullopt;
    }
    Accepted result{tolerance(output)};
    result.tolerance.zero_signs = case_.expected[output]->spells_negative_zero();
    result.tolerance.element_slack = true;
    result.tolerance.slack_formula =
        "what two implementations in FP32 may differ by, one of which computed the expected values";
    core::ElementSlack& range = result.wider.emplace(reference().slack[output]);
    const std::vector<double> computed = cpu::numbers_of(reference().outputs[output]);
    const std::vector<double> given = cpu::numbers_of(expected(output));
    for (std::size_t i = 0; i < range.below.size(); ++i) {
        // Nothing follows for an element that the reference expects to be NaN or infinite.
        const bool is_special =
            (!range.nan.empty() && range.nan[i] != 0) || (!range.finite.empty() && range.finite[i] != 0);
        const double most = is_special ? 0 : range.below[i] + range.above[i];
        const double lowest = computed[i] - range.below[i];
        const double highest = computed[i] + range.above[i];
        // Another implementation's result is in the range as well, unless the expected one is not honest.
        const bool is_inside = !is_special && lowest <= given[i] && given[i] <= highest;
        range.below[i] = is_inside ? given[i] - lowest : most;
        range.above[i] = is_inside ? highest - given[i] : most;
    }
    range.nan.clear();
    range.finite.clear();
    return result;
}

const std::string& CaseValues::lack_of_power(std::size_t output, const Accepted& accepted) {
    const auto ask = [&] { return compare::lack_of_power(expected(output), accepted.tolerance, accepted.slack()); };
    if (accepted.wider || answered_) {
        other_lack_ = ask();
        return other_lack_;
    }
    lacks_.resize(case_.expected.size());
    if (!lacks_[output]) {
        lacks_[output] = ask();
    }
    return *lacks_[output];
}

const cpu::Reference& CaseValues::reference() {
    if (!reference_) {
        if (lost_) {
            throw ReferenceLost(*lost_);
        }
        if (case_.reference != nullptr && (reference_ = case_.reference->take_for(case_))) {
            return *reference_;
        }
        try {
            ReferenceWish wish = reference_wish(case_);
            wish.variant = variant_;
            reference_ = reference_for(descriptor_, inputs(), wish);
        } catch (const ReferenceLost& lost) {
            lost_ = lost.what();  // later engines do not try again
            throw;
        }
    }
    return *reference_;
}

const std::vector<std::string>& CaseValues::undecided() {
    static const std::vector<std::string> none;
    const bool has_runs =
        descriptor_.graph != nullptr && !answered_ && cpu::has_reference(descriptor_) && needs_slack(case_);
    return has_runs ? reference().undecided : none;
}

const cpu::Reference& CaseValues::half_reference() {
    if (!half_reference_) {
        half_reference_ = reference_for(descriptor_, inputs(), {cpu::Accumulation::float16, 0, variant_});
    }
    return *half_reference_;
}

const cpu::Reference* CaseValues::reference_at_hand(std::size_t output) {
    const bool has_slack = cpu::has_reference(descriptor_) &&
                           cpu::default_tolerance(descriptor_, descriptor_.outputs()[output]).element_slack;
    if (!has_slack) {
        return nullptr;
    }
    const bool is_asked = slack(output) != nullptr || (!case_.expected[output] && !answered_);
    return is_asked ? &reference() : nullptr;
}

}  // namespace dmlconform::run
