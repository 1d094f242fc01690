// Creates inputs and expected values of a case.
#include "engine/run/case_values.h"

#include <algorithm>
#include <cmath>

#include "engine/compare/power.h"

#include "engine/cpu/graph_reference.h"
#include "engine/run/reference_source.h"

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
    return case_.tolerances[output].value_or(cpu::default_tolerance(descriptor_, descriptor_.outputs()[output]));
}

const core::ElementSlack* CaseValues::slack(std::size_t output) {
    const core::Tolerance accepted = tolerance(output);
    const bool has_slack = accepted.element_slack || accepted.alternatives || accepted.meaningful_part;
    return has_slack && cpu::has_reference(descriptor_) ? &reference().slack[output] : nullptr;
}

bool CaseValues::needs_slack() const {
    for (std::size_t i = 0; i < case_.tolerances.size(); ++i) {
        if (tolerance(i).element_slack) {
            return true;
        }
    }
    return false;
}

Accepted CaseValues::accepted(std::size_t output, core::Precision precision) {
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
        const bool in_half = std::ranges::any_of(
            case_.tolerances, [](const auto& tolerance) { return tolerance && tolerance->half_precision; });
        const auto accumulation = in_half ? cpu::Accumulation::float16 : cpu::Accumulation::fp32;
        if (lost_) {
            throw ReferenceLost(*lost_);
        }
        try {
            reference_ =
                reference_for(descriptor_, inputs(), {accumulation, needs_slack() ? cpu::monte_carlo_runs : 0});
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
        descriptor_.graph != nullptr && !answered_ && cpu::has_reference(descriptor_) && needs_slack();
    return has_runs ? reference().undecided : none;
}

const cpu::Reference& CaseValues::half_reference() {
    if (!half_reference_) {
        half_reference_ = reference_for(descriptor_, inputs(), {cpu::Accumulation::float16, 0});
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
