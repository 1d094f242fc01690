// Converts numbers to tensors, runs the reference, and computes statistics.
#include "tests/precision/judging.h"

#include <algorithm>
#include <stdexcept>

#include "engine/core/float16.h"
#include "engine/operators/rules.h"
#include "tests/tensor_values.h"

namespace dmlconform::precision {
namespace {

core::Tensor stored(const core::TensorDesc& desc, const std::vector<float>& numbers) {
    core::Tensor tensor(desc);
    if (desc.data_type == core::DataType::float32) {
        std::ranges::copy(numbers, tensor.as<float>().begin());
    } else {
        std::ranges::transform(numbers, tensor.as<core::Float16>().begin(),
                               [](float x) { return core::Float16(double{x}); });
    }
    return tensor;
}

}  // namespace

cpu::Reference reference_of(const Trial& trial) {
    if (const auto rejection = operators::validate(trial.descriptor, core::highest_feature_level)) {
        throw std::logic_error(rejection->message);
    }
    std::vector<core::Tensor> tensors;
    std::vector<const core::Tensor*> inputs;
    const auto slots = trial.descriptor.inputs();
    tensors.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        inputs.push_back(slots[i].desc == nullptr ? nullptr
                                                  : &tensors.emplace_back(stored(*slots[i].desc, trial.inputs[i])));
    }
    return cpu::compute_reference(trial.descriptor, inputs);
}

std::vector<Verdict> judge(const Trial& trial, const cpu::Reference& reference, const Outputs& outputs) {
    std::vector<Verdict> verdicts;
    const auto slots = trial.descriptor.outputs();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto statistic =
            compare::precision_of(reference.outputs[i], stored(*slots[i].desc, outputs[i]), reference.slack[i]);
        verdicts.push_back({statistic.has_value(), statistic.value_or(compare::PrecisionStatistic())});
    }
    return verdicts;
}

Shape random_shape(Draw& draw) {
    Shape shape;
    shape.elements = draw.pick(64, 128);
    // Long shapes are rare, because they take most of the time.
    const auto octave = std::min({draw.pick(4, 9), draw.pick(4, 9), draw.pick(4, 9)});
    shape.terms = draw.pick(std::size_t{1} << octave, std::size_t{2} << octave);
    shape.half = draw.pick(1, 4) == 1;
    shape.data = static_cast<Data>(draw.pick(0, 5));
    return shape;
}

void Tally::add(const Verdict& verdict) {
    if (!verdict.can_tell()) {
        return;
    }
    const double q = verdict.statistic.q();
    least_q = tensors == 0 ? q : std::min(least_q, q);
    greatest_q = std::max(greatest_q, q);
    told += verdict.is_alarm() || verdict.statistic.truncates() ? 1 : 0;
    sum_of_q += q;
    ++tensors;
    alarms += verdict.is_alarm() ? 1 : 0;
}

}  // namespace dmlconform::precision
