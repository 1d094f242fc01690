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
      activation(Activation::from(descriptor.activation("FusedActivation"))) {
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

/// A budget for each element instead of a count of ULPs: see accepted_range.
core::Tolerance normalization_tolerance(std::string_view /*output*/) {
    return {.exact = false,
            .ulp = {},
            .abs = {},
            .rel = {},
            .element_slack = true,
            .slack_formula = "4 eps * (|Scale| * rstd * (|x - mean| + mean|x|) + |Bias|), eps being the data type's"};
}

struct Precision {
    /// Distance from 1 to the next number.
    double epsilon;
    /// What flushing a subnormal can lose: the smallest normal number, or 0 where D3D forbids flushing.
    double flush;
};

Precision precision_of(core::DataType type) {
    if (type == core::DataType::float16) {
        return {0x1p-10, 0};
    }
    return {0x1p-23, double{std::numeric_limits<float>::min()}};
}

/// Roundings, in units of the output type's epsilon, that each of the budget's magnitudes may have gone through.
///
/// An FP32 implementation with pairwise sums over n elements rounds log2(n) times on the way to the mean and as
/// often to the variance, and about eight times besides (division by n, subtraction, square, reciprocal root at 1 ULP,
/// two products, bias, final rounding). Each rounding is half an epsilon. Independent roundings add like a random walk:
/// k of them stay, with overwhelming probability, within 1.5 sqrt(k) times the single one (Higham & Mary 2019, "A new
/// approach to probabilistic rounding error analysis"). For n = 2^20, k = 28: 1.5 * sqrt(28) / 2 = 4.0.
constexpr double budget_roundings = 4;

}  // namespace

double normalized(const NormalizedElement& element) {
    return element.scale * element.centred * element.rstd + element.bias;
}

Interval accepted_range(const NormalizedElement& element, const Activation& activation, core::DataType type) {
    const auto [epsilon, flush] = precision_of(type);
    const double gain = std::fabs(element.scale) * element.rstd;
    const double magnitude = gain * (std::fabs(element.centred) + element.mean_magnitude) + std::fabs(element.bias);
    const double slack = budget_roundings * epsilon * magnitude + flush * (gain + 1);
    const double value = normalized(element);
    Interval range = activation.accepted(value, slack);
    if (activation.function != ActivationFunction::identity) {
        // One more rounding to the output type, and one more chance to flush.
        const double rounding = epsilon * std::fabs(activation(value)) + flush;
        range.low -= rounding;
        range.high += rounding;
    }
    return range;
}

/// For each element an addition to the mean, three operations for the variance, and what turns it into its output.
Cost normalization_cost(const Descriptor& descriptor) {
    const MeanVarianceNormalization1 op(descriptor);
    const auto elements = static_cast<double>(*core::element_count(op.input.sizes));
    const double each = 2 + (op.normalize_variance ? 4 : 0) + (op.scale != nullptr ? 1 : 0) +
                        (op.bias != nullptr ? 1 : 0) + (op.activation.function != ActivationFunction::identity ? 1 : 0);
    return {.bytes = element_bytes(descriptor), .operations = elements * each};
}

extern const OperatorRules mean_variance_normalization1_rules{validate_normalization, normalization_tolerance, names,
                                                              normalization_cost};

}  // namespace dmlconform::operators
