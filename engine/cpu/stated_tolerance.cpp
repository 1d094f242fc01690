// Tolerances of results without rounding.
#include "engine/cpu/stated_tolerance.h"

namespace dmlconform::cpu {

core::Tolerance exact_tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    core::Tolerance tolerance;
    tolerance.exact = true;
    return tolerance;
}

core::Tolerance selected_tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output) {
    if (output.desc == nullptr || !core::is_floating_point(output.desc->data_type)) {
        return exact_tolerance(descriptor, output);
    }
    core::Tolerance tolerance;
    tolerance.ulp = 0;
    return tolerance;
}

}  // namespace dmlconform::cpu
