// Rules of element-wise operators that the catalogue cannot state. What comments say about DirectML 1.15.4 was measured
// on it.
#include <fmt/format.h>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators::element_wise_rules {
namespace {

Verdict reject(const Descriptor& descriptor, std::string_view rule, std::string message) {
    return Rejection{.rule = fmt::format("{}.{}", descriptor.schema->short_name(), rule),
                     .message = std::move(message),
                     .legal_from = {}};
}

ExplainedRules scale_bias_rules() {
    return {{"scaleBiasType", "For data types of 64 bits, ScaleBias is null, or its scale is 1 and its bias 0."}};
}

/// Measured on DirectML 1.15.4: ScaleBias is computed in FP32. 64-bit types accept only a ScaleBias that changes
/// nothing.
Verdict check_scale_bias(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const auto* scale_bias = std::get_if<ScaleBias>(&descriptor.value("ScaleBias"));
    const core::DataType type = descriptor.tensor("InputTensor")->data_type;
    const bool changes = scale_bias != nullptr && (scale_bias->scale != 1 || scale_bias->bias != 0);
    if (changes && core::bits_of(type) == 64) {
        return reject(descriptor, "scaleBiasType",
                      fmt::format("ScaleBias must be null, or 1 and 0, for {} tensors", core::name(type)));
    }
    return {};
}

/// One multiplication, and one addition, unless ScaleBias has none.
double identity_operations(const Descriptor& descriptor) {
    const auto* scale_bias = std::get_if<ScaleBias>(&descriptor.value("ScaleBias"));
    const int each = scale_bias == nullptr ? 0 : (scale_bias->scale != 1 ? 1 : 0) + (scale_bias->bias != 0 ? 1 : 0);
    return each * static_cast<double>(*core::element_count(descriptor.sizes("OutputTensor")));
}

ExplainedRules quantize_linear_rules() {
    return {{"scaleType", "ScaleTensor has the data type of InputTensor, or FLOAT32 if that is an integer."}};
}

/// Measured on DirectML 1.15.4: the scale has the input's type, or FLOAT32 for integers.
Verdict check_quantize_linear(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::DataType input = descriptor.tensor("InputTensor")->data_type;
    const core::DataType scale = descriptor.tensor("ScaleTensor")->data_type;
    const core::DataType wanted = core::is_floating_point(input) ? input : core::DataType::float32;
    if (scale != wanted) {
        return reject(descriptor, "scaleType",
                      fmt::format("ScaleTensor has {}; with an InputTensor of {} it must have {}", core::name(scale),
                                  core::name(input), core::name(wanted)));
    }
    return {};
}

ExplainedRules value_scale_rules() {
    return {{"channels", "ChannelCount is 1 or 3."}};
}

/// Measured on DirectML 1.15.4: the input must have one or three channels.
Verdict check_value_scale(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const std::uint32_t channels = descriptor.uint("ChannelCount");
    if (channels != 1 && channels != 3) {
        return reject(descriptor, "channels", fmt::format("ChannelCount is {}; it must be 1 or 3", channels));
    }
    return {};
}

ExplainedRules quantization_rules() {
    return {{"tensorCount",
             "QuantizationTensors has one tensor if QuantizationType is SCALE, and two if it is SCALE_ZERO_POINT. NONE "
             "is not allowed."}};
}

/// Measured on DirectML 1.15.4: SCALE requires one tensor and SCALE_ZERO_POINT two; NONE is rejected.
Verdict check_quantization(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const Field& field = *descriptor.schema->find_field("QuantizationType");
    const auto type = enumerator<QuantizationType>(descriptor, "QuantizationType");
    const std::size_t wanted = type == QuantizationType::scale ? 1 : type == QuantizationType::scale_zero_point ? 2 : 0;
    const std::size_t count = descriptor.get<TensorDescArray>("QuantizationTensors").items.size();
    if (wanted == 0 || count != wanted) {
        return reject(descriptor, "tensorCount",
                      fmt::format("QuantizationType is {}; there are {} QuantizationTensors, and SCALE has 1, "
                                  "SCALE_ZERO_POINT 2",
                                  to_string(field, descriptor.value("QuantizationType")), count));
    }
    return {};
}

}  // namespace

RulesRows rules() {
    RulesRows rows{{.name = "ELEMENT_WISE_IDENTITY",
                    .validate = check_scale_bias,
                    .rules = scale_bias_rules(),
                    .operations = identity_operations},
                   {.name = "ACTIVATION_IDENTITY", .operations = no_operations}};
    for (const std::string_view name : {"ELEMENT_WISE_ABS", "ELEMENT_WISE_CLIP", "ELEMENT_WISE_CLIP1"}) {
        rows.push_back({.name = name, .validate = check_scale_bias, .rules = scale_bias_rules()});
    }
    rows.push_back(
        {.name = "ELEMENT_WISE_QUANTIZE_LINEAR", .validate = check_quantize_linear, .rules = quantize_linear_rules()});
    rows.push_back({.name = "VALUE_SCALE_2D", .validate = check_value_scale, .rules = value_scale_rules()});
    for (const std::string_view name : {"QUANTIZE", "DEQUANTIZE"}) {
        rows.push_back({.name = name, .validate = check_quantization, .rules = quantization_rules()});
    }
    return rows;
}

}  // namespace dmlconform::operators::element_wise_rules
