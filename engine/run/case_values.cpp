// Filling tensors.
#include "engine/run/case_values.h"

#include <algorithm>

namespace dmlconform::run {
namespace {

void fill(const cases::Initialiser& initialiser, core::Tensor& tensor) {
    if (const auto filled = initialiser.fill(tensor); !filled) {
        throw DataUnavailable(filled.error().message);
    }
}

}  // namespace

CaseValues::CaseValues(const cases::Case& subject, bool answered)
    : case_(subject), descriptor_(*subject.descriptor), answered_(answered) {}

std::span<const core::Tensor* const> CaseValues::inputs() {
    if (prepared_) {
        return input_pointers_;
    }
    const auto slots = descriptor_.inputs();
    inputs_.clear();  // what an attempt for an earlier engine left when memory ran out
    input_pointers_.clear();
    inputs_.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            input_pointers_.push_back(nullptr);
            continue;
        }
        fill(*case_.inputs[i], inputs_.emplace_back(*slots[i].desc));
        input_pointers_.push_back(&inputs_.back());
    }
    prepared_ = true;
    return input_pointers_;
}

bool CaseValues::knows(std::size_t output) const {
    return case_.expected[output].has_value() || (answered_ ? has_answer() : cpu::has_reference(*descriptor_.schema));
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
    return case_.tolerances[output].value_or(cpu::default_tolerance(descriptor_, descriptor_.outputs()[output]));
}

const core::ElementSlack* CaseValues::slack(std::size_t output) {
    const core::Tolerance accepted = tolerance(output);
    const bool has_slack = accepted.element_slack || accepted.alternatives || accepted.meaningful_part;
    return has_slack && cpu::has_reference(*descriptor_.schema) ? &reference().slack[output] : nullptr;
}

const cpu::Reference& CaseValues::reference() {
    if (!reference_) {
        const bool in_half = std::ranges::any_of(
            case_.tolerances, [](const auto& tolerance) { return tolerance && tolerance->half_precision; });
        reference_ = cpu::compute_reference(descriptor_, inputs(),
                                            in_half ? cpu::Accumulation::float16 : cpu::Accumulation::fp32);
    }
    return *reference_;
}

}  // namespace dmlconform::run
