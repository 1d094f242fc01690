// Rules of MEAN_VARIANCE_NORMALIZATION and its numbered successors, from their documentation. What comments say about
// DirectML 1.15.4 was measured on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/operators/rules.h"
#include "engine/operators/rules/parameter_sizes.h"

namespace dmlconform::operators::mean_variance_normalization1_rules {

namespace {

bool has(const Descriptor& descriptor, std::string_view field) {
    return descriptor.schema->find_field(field) != nullptr;
}

ExplainedRule parameter_rule() {
    return {"parameterSizes", "Each size of ScaleTensor and BiasTensor is 1 or that of InputTensor."};
}

ExplainedRule presence_rule() {
    return {"scaleAndBias", "Before feature level 5.2, ScaleTensor and BiasTensor are both present, or both absent."};
}

Verdict check_parameters(const Descriptor& descriptor) {
    for (const char* name : {"ScaleTensor", "BiasTensor"}) {
        if (auto rejection = check_parameter_sizes(descriptor, name)) {
            return rejection;
        }
    }
    return {};
}

Verdict check_presence(const Descriptor& descriptor, core::FeatureLevel level) {
    const bool scaled = descriptor.tensor("ScaleTensor") != nullptr;
    const bool biased = descriptor.tensor("BiasTensor") != nullptr;
    if (level < core::FeatureLevel{5, 2} && scaled != biased) {
        return broken_rule(descriptor, "scaleAndBias",
                           fmt::format("{} is present without {}; before feature level 5.2 they come together",
                                       scaled ? "ScaleTensor" : "BiasTensor", scaled ? "BiasTensor" : "ScaleTensor"));
    }
    return {};
}

/// Applies to MEAN_VARIANCE_NORMALIZATION1 only.
Verdict check_channels(const Descriptor& descriptor, core::FeatureLevel level) {
    const core::Dimensions& input = descriptor.sizes("InputTensor");
    for (const char* name : {"ScaleTensor", "BiasTensor"}) {
        const core::TensorDesc* parameter = descriptor.tensor(name);
        if (level < core::FeatureLevel{4, 0} && parameter != nullptr && input.size() > 1 &&
            parameter->sizes[1] != input[1]) {
            return broken_rule(descriptor, "channelSize",
                               fmt::format("{} has {} elements along dimension 1, InputTensor {}; before feature "
                                           "level 4.0 they must be equal",
                                           name, parameter->sizes[1], input[1]));
        }
    }
    return {};
}

Verdict validate_unnumbered(const Descriptor& descriptor, core::FeatureLevel level) {
    const Verdict rejection = check_presence(descriptor, level);
    return rejection ? rejection : check_parameters(descriptor);
}

Verdict validate1(const Descriptor& descriptor, core::FeatureLevel level) {
    const core::TensorDesc& input = *descriptor.tensor("InputTensor");
    // Measured on DirectML 1.15.4: axes may repeat and come in any order.
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        if (axis >= input.sizes.size()) {
            return broken_rule(
                descriptor, "axes",
                fmt::format("Axes names {}, but InputTensor has {} dimensions", axis, input.sizes.size()));
        }
    }
    if (auto rejection = check_presence(descriptor, level)) {
        return rejection;
    }
    const Verdict rejection = check_channels(descriptor, level);
    return rejection ? rejection : check_parameters(descriptor);
}

Verdict validate2(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    return check_parameters(descriptor);
}

/// Per element: one addition for the mean, three operations for the variance, and the normalisation itself.
double normalization_operations(const Descriptor& descriptor) {
    const auto elements = static_cast<double>(*core::element_count(descriptor.sizes("InputTensor")));
    const bool subtracts = !has(descriptor, "UseMean") || descriptor.uint("UseMean") != 0;
    const bool scales = descriptor.uint(has(descriptor, "UseVariance") ? "UseVariance" : "NormalizeVariance") != 0;
    const double each = (subtracts ? 2 : 0) + (scales ? 4 : 0) + (descriptor.tensor("ScaleTensor") != nullptr ? 1 : 0) +
                        (descriptor.tensor("BiasTensor") != nullptr ? 1 : 0);
    return elements * each;
}

}  // namespace

RulesRows rules() {
    return {
        {.name = "MEAN_VARIANCE_NORMALIZATION",
         .validate = validate_unnumbered,
         .rules = {presence_rule(), parameter_rule()},
         .operations = normalization_operations},
        {.name = "MEAN_VARIANCE_NORMALIZATION1",
         .validate = validate1,
         .rules = {{"axes", "Each of Axes is less than the number of dimensions of InputTensor."},
                   presence_rule(),
                   {"channelSize", "Before feature level 4.0, ScaleTensor[1] and BiasTensor[1] are InputTensor[1]."},
                   parameter_rule()},
         .operations = normalization_operations},
        {.name = "MEAN_VARIANCE_NORMALIZATION2",
         .validate = validate2,
         .rules = {parameter_rule()},
         .operations = normalization_operations}};
}

}  // namespace dmlconform::operators::mean_variance_normalization1_rules
