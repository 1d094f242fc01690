// Rules of RESAMPLE in all its versions, and of its gradients. What comments say about DirectML 1.15.4 was measured on
// it.
#include <fmt/format.h>

#include <algorithm>

#include "engine/operators/enumerators.h"
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

bool is_nearest(const Descriptor& descriptor) {
    return enumerator<InterpolationMode>(descriptor, "InterpolationMode") != InterpolationMode::linear;
}

/// Along each dimension, an output is between two elements, or at one. Antialiasing takes all that are between two
/// outputs.
double bytes_read(const Descriptor& descriptor, const TensorSlot& input) {
    const bool antialiased =
        descriptor.schema->find_field("Antialiased") != nullptr && descriptor.uint("Antialiased") != 0;
    if (antialiased) {
        return element_bytes(*input.desc);
    }
    const core::Dimensions& output = descriptor.sizes("OutputTensor");
    const auto& scales = descriptor.get<std::vector<float>>("Scales");
    std::vector<double> counts;
    for (std::size_t d = 0; d < output.size(); ++d) {
        const double taps = is_nearest(descriptor) || scales[d] == 1 ? 1 : 2;
        counts.push_back(std::min<double>(input.desc->sizes[d], taps * output[d]));
    }
    return element_bytes(*input.desc, counts);
}

/// The nearest element is only moved.
double operations(const Descriptor& descriptor) {
    const double outputs = static_cast<double>(*core::element_count(descriptor.sizes("OutputTensor")));
    return is_nearest(descriptor) ? 0 : outputs;
}

}  // namespace

RulesRows rules() {
    RulesRows rows;
    for (const std::string_view name : {"RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"}) {
        rows.push_back({.name = name,
                        .validate = check,
                        .rules = explained(false),
                        .operations = operations,
                        .bytes_read = bytes_read});
    }
    for (const std::string_view name : {"RESAMPLE_GRAD", "RESAMPLE_GRAD1"}) {
        rows.push_back({.name = name, .validate = check, .rules = explained(true)});
    }
    return rows;
}

}  // namespace dmlconform::operators::resampling_rules
