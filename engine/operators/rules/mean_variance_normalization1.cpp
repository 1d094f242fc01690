// Rules and error budget of MEAN_VARIANCE_NORMALIZATION1, from its documentation and its formula; "M" marks
// what was measured on Microsoft's DirectML 1.15.4.
#include "engine/operators/rules/mean_variance_normalization1.h"

#include <fmt/format.h>

#include <array>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

MeanVarianceNormalization1::MeanVarianceNormalization1(const Descriptor& descriptor)
    : input(*descriptor.tensor("InputTensor")),
      output(*descriptor.tensor("OutputTensor")),
      scale(descriptor.tensor("ScaleTensor")),
      bias(descriptor.tensor("BiasTensor")),
      reduced(input.sizes.size()),
      normalize_variance(descriptor.uint("NormalizeVariance") != 0),
      epsilon(descriptor.number("Epsilon")),
      activation(descriptor.activation("FusedActivation")) {
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        reduced[axis] = true;
    }
}

namespace {

constexpr std::array<std::string_view, 4> names{"axes", "scaleAndBias", "channelSize", "parameterSizes"};

Verdict reject(std::string_view rule, std::string message) {
    return Rejection{
        .rule = fmt::format("MEAN_VARIANCE_NORMALIZATION1.{}", rule), .message = std::move(message), .legal_from = {}};
}

Verdict check_parameter(const char* name, const core::TensorDesc& desc, const core::TensorDesc& input,
                        core::FeatureLevel level) {
    for (std::size_t d = 0; d < desc.sizes.size(); ++d) {
        const bool channel_required = level < core::FeatureLevel{4, 0} && d == 1;
        if (desc.sizes[d] != input.sizes[d] && (channel_required || desc.sizes[d] != 1)) {
            return reject(
                channel_required ? "channelSize" : "parameterSizes",
                fmt::format("{} has {} elements along dimension {}, InputTensor {}{}", name, desc.sizes[d], d,
                            input.sizes[d], channel_required ? "; before feature level 4.0 they must be equal" : ""));
        }
    }
    return {};
}

Verdict validate_normalization(const Descriptor& descriptor, core::FeatureLevel level) {
    const core::TensorDesc& input = *descriptor.tensor("InputTensor");
    // M: axes may repeat and come in any order.
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        if (axis >= input.sizes.size()) {
            return reject("axes",
                          fmt::format("Axes names {}, but InputTensor has {} dimensions", axis, input.sizes.size()));
        }
    }
    const core::TensorDesc* scale = descriptor.tensor("ScaleTensor");
    const core::TensorDesc* bias = descriptor.tensor("BiasTensor");
    if (level < core::FeatureLevel{5, 2} && (scale == nullptr) != (bias == nullptr)) {
        return reject("scaleAndBias",
                      fmt::format("{} is present without {}; before feature level 5.2 they come together",
                                  scale != nullptr ? "ScaleTensor" : "BiasTensor",
                                  scale != nullptr ? "BiasTensor" : "ScaleTensor"));
    }
    if (scale != nullptr) {
        if (auto rejection = check_parameter("ScaleTensor", *scale, input, level)) {
            return rejection;
        }
    }
    return bias == nullptr ? Verdict{} : check_parameter("BiasTensor", *bias, input, level);
}

}  // namespace

/// For each element an addition to the mean, three operations for the variance, and what turns it into its output.
Cost normalization_cost(const Descriptor& descriptor) {
    const MeanVarianceNormalization1 op(descriptor);
    const auto elements = static_cast<double>(*core::element_count(op.input.sizes));
    const double each = 2 + (op.normalize_variance ? 4 : 0) + (op.scale != nullptr ? 1 : 0) +
                        (op.bias != nullptr ? 1 : 0) + (op.activation != nullptr ? 1 : 0);
    return {.bytes = element_bytes(descriptor), .operations = elements * each};
}

RulesRows mean_variance_normalization1_rules() {
    return {{.name = "MEAN_VARIANCE_NORMALIZATION1",
             .validate = validate_normalization,
             .names = names,
             .cost = normalization_cost}};
}

}  // namespace dmlconform::operators
