// Rules of softmaxes, hardmaxes, BATCH_NORMALIZATION and related operators, from their documentation, and their cost.
// What comments say about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "engine/operators/rules.h"
#include "engine/operators/rules/parameter_sizes.h"

namespace dmlconform::operators::normalisation_rules {
namespace {

const core::TensorDesc& tensor_of(const Descriptor& descriptor, std::string_view field) {
    return *descriptor.tensor(field);
}

/// `Operations` operations for each element of the input.
template <int Operations>
double operations_for_each(const Descriptor& descriptor) {
    const auto elements = static_cast<double>(*core::element_count(tensor_of(descriptor, "InputTensor").sizes));
    return elements * Operations;
}

// ---- softmaxes and hardmaxes over the last dimension -------------------------------------------------------------

ExplainedRules last_dimension_rules() {
    return {{"effectiveRank", "All sizes of InputTensor but the last two are 1."}};
}

/// Measured on DirectML 1.15.4: checked for any number of dimensions, even if the last sizes are 1.
Verdict check_effective_rank(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::Dimensions& sizes = tensor_of(descriptor, "InputTensor").sizes;
    const auto last = sizes.end() - std::min<std::ptrdiff_t>(2, std::ssize(sizes));
    if (std::any_of(sizes.begin(), last, [](std::uint32_t size) { return size != 1; })) {
        return broken_rule(
            descriptor, "effectiveRank",
            fmt::format("InputTensor has sizes {}; all but the last two must be 1", core::to_string(sizes)));
    }
    return {};
}

// ---- BATCH_NORMALIZATION -----------------------------------------------------------------------------------------

ExplainedRules parameter_rules() {
    return {{"parameterSizes", "Each size of ScaleTensor is 1 or that of InputTensor."}};
}

ExplainedRules inference_rules() {
    return {{"parameterSizes",
             "Each size of MeanTensor, VarianceTensor, ScaleTensor and BiasTensor is 1 or that of InputTensor."},
            {"spatial",
             "Before feature level 4.0, if Spatial is FALSE, the last two sizes of MeanTensor and VarianceTensor are "
             "those of InputTensor."}};
}

/// Height and width are the last two dimensions.
Verdict check_locations(const Descriptor& descriptor, std::string_view field) {
    const core::Dimensions& parameter = tensor_of(descriptor, field).sizes;
    const core::Dimensions& input = tensor_of(descriptor, "InputTensor").sizes;
    for (std::size_t d = input.size() - std::min<std::size_t>(2, input.size()); d < input.size(); ++d) {
        if (parameter[d] != input[d]) {
            return broken_rule(descriptor, "spatial",
                               fmt::format("Spatial is 0, and {} has {} elements along dimension {}, InputTensor {}; "
                                           "before feature level 4.0 they must be equal then",
                                           field, parameter[d], d, input[d]));
        }
    }
    return {};
}

Verdict check_inference(const Descriptor& descriptor, core::FeatureLevel level) {
    for (const char* field : {"MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"}) {
        if (auto rejection = check_parameter_sizes(descriptor, field)) {
            return rejection;
        }
    }
    if (level < core::FeatureLevel{4, 0} && descriptor.uint("Spatial") == 0) {
        const Verdict rejection = check_locations(descriptor, "MeanTensor");
        return rejection ? rejection : check_locations(descriptor, "VarianceTensor");
    }
    return {};
}

/// The catalogue requires the other parameters to have the same sizes.
Verdict check_scale(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    return check_parameter_sizes(descriptor, "ScaleTensor");
}

}  // namespace

RulesRows rules() {
    RulesRows rows{
        {.name = "BATCH_NORMALIZATION",
         .validate = check_inference,
         .rules = inference_rules(),
         .operations = operations_for_each<3>},
        {.name = "BATCH_NORMALIZATION_GRAD",
         .validate = check_scale,
         .rules = parameter_rules(),
         .operations = operations_for_each<5>},
        {.name = "BATCH_NORMALIZATION_TRAINING",
         .validate = check_scale,
         .rules = parameter_rules(),
         .operations = operations_for_each<7>},
        {.name = "BATCH_NORMALIZATION_TRAINING_GRAD",
         .validate = check_scale,
         .rules = parameter_rules(),
         .operations = operations_for_each<8>},
    };
    // A maximum, a subtraction, an exponential, an addition to the sum, and a division or subtraction.
    for (const char* name : {"ACTIVATION_SOFTMAX", "ACTIVATION_LOG_SOFTMAX"}) {
        rows.push_back({.name = name,
                        .validate = check_effective_rank,
                        .rules = last_dimension_rules(),
                        .operations = operations_for_each<5>});
    }
    for (const char* name : {"ACTIVATION_SOFTMAX1", "ACTIVATION_LOG_SOFTMAX1"}) {
        rows.push_back({.name = name, .operations = operations_for_each<5>});
    }
    rows.push_back({.name = "ACTIVATION_HARDMAX", .validate = check_effective_rank, .rules = last_dimension_rules()});
    return rows;
}

}  // namespace dmlconform::operators::normalisation_rules
