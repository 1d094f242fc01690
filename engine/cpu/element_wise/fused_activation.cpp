// Looks up the formula of a fused activation, and applies it to single numbers.
#include "engine/cpu/element_wise/fused_activation.h"

#include <cmath>
#include <stdexcept>

#include "engine/cpu/element_wise/attributes.h"
#include "engine/cpu/element_wise/machine.h"

namespace dmlconform::cpu::element_wise {

using operators::Descriptor;

FusedActivation::FusedActivation(const Descriptor* descriptor) {
    if (descriptor == nullptr) {
        return;
    }
    row_ = find_row(descriptor->schema->short_name());
    if (row_ == nullptr || row_->inputs != 1 || row_->real == nullptr) {
        throw std::logic_error(descriptor->schema->name + " is not an activation that can be fused");
    }
    context_ = context_of<double>(*descriptor);
    interval_context_ = interval_context(context_);
}

double FusedActivation::operator()(double x) const {
    if (row_ == nullptr || std::isnan(x)) {
        return x;
    }
    const double* in = &x;
    double result = 0;
    double* out = &result;
    row_->real({&in, 1}, {&out, 1}, 1, context_);
    return result;
}

Interval FusedActivation::operator()(const Interval& x) const {
    if (row_ == nullptr) {
        return x;
    }
    const Interval* in = &x;
    Interval result;
    Interval* out = &result;
    row_->interval({&in, 1}, {&out, 1}, 1, interval_context_);
    result.nan = result.nan || x.nan;
    return result;
}

}  // namespace dmlconform::cpu::element_wise
