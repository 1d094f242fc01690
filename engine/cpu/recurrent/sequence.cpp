// Writes the outputs of recurrent networks.
#include "engine/cpu/recurrent/sequence.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/expected_error.h"

namespace dmlconform::cpu::recurrent {

Interval with_far_errors(const Interval& y, const Interval& x, const element_wise::FusedActivation& function) {
    const double reach = clear_distance * std::sqrt(x.variance);
    if (!std::isfinite(reach) || !y.has_numbers()) {
        return y;
    }
    const double change =
        std::max(std::fabs(function(x.value + reach) - y.value), std::fabs(function(x.value - reach) - y.value));
    const double far = change / clear_distance;
    return far * far > y.variance ? y.with_expected(y.value, far * far) : y;
}

Interval amplified(const Interval& gate, const Interval& x) {
    const Interval y = gate * x;
    const double covariance = std::fabs(gate.value * x.value) * std::sqrt(gate.variance * x.variance);
    return std::fabs(gate.value) > 1 && covariance > 0 ? y.with_expected(y.value, y.variance + 2 * covariance) : y;
}

Written::Written(const KernelArguments& arguments, std::size_t number) {
    core::Tensor* const tensor = arguments.outputs[number];
    if (tensor == nullptr || tensor->desc.sizes.empty()) {
        return;
    }
    tensor_ = tensor;
    strides_ = core::signed_strides(tensor->desc);
    if (!arguments.slack.empty() && !arguments.slack[number].below.empty()) {
        slack_ = &arguments.slack[number];
    }
}

}  // namespace dmlconform::cpu::recurrent
