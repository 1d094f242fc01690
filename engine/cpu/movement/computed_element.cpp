// Error bounds of computed elements.
#include "engine/cpu/movement/computed_element.h"

namespace dmlconform::cpu::movement {

core::ElementSlack* wanted_slack(const KernelArguments& arguments) {
    return arguments.slack.empty() || arguments.slack[0].below.empty() ? nullptr : arguments.slack.data();
}

core::Tolerance computed_tolerance(bool is_computed, std::string_view formula) {
    core::Tolerance tolerance;
    tolerance.exact = !is_computed;
    tolerance.element_slack = is_computed;
    if (is_computed) {
        tolerance.slack_formula = formula;
    }
    return tolerance;
}

}  // namespace dmlconform::cpu::movement
