// Rules of RESAMPLE in all its versions, and of its gradients. What comments say about DirectML 1.15.4 was measured on
// it.
#include <fmt/format.h>

#include "engine/operators/rules.h"

namespace dmlconform::operators::resampling_rules {
namespace {

ExplainedRules explained(bool is_gradient) {
    return {{"scales", is_gradient ? "Each of Scales is greater than 0. Both tensors may have any sizes."
                                   : "Each of Scales is greater than 0. OutputTensor may have any sizes: beyond the "
                                     "scaled input, the edges repeat. Usual are floor(InputTensor[d] * Scales[d])."}};
}

/// Measured on DirectML 1.15.4: zero, negative numbers and NaN are rejected. Outputs may have any sizes: beyond the
/// input its edges repeat, and beyond the output it is cropped.
Verdict check(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const auto& scales = descriptor.get<std::vector<float>>("Scales");
    for (std::size_t d = 0; d < scales.size(); ++d) {
        if (!(scales[d] > 0)) {
            return broken_rule(descriptor, "scales",
                               fmt::format("Scales[{}] is {}; it must be greater than 0", d, scales[d]));
        }
    }
    return {};
}

}  // namespace

RulesRows rules() {
    RulesRows rows;
    for (const std::string_view name :
         {"RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "RESAMPLE_GRAD", "RESAMPLE_GRAD1"}) {
        rows.push_back({.name = name, .validate = check, .rules = explained(name.starts_with("RESAMPLE_GRAD"))});
    }
    return rows;
}

}  // namespace dmlconform::operators::resampling_rules
