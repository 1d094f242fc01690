// Rules of ROI_POOLING, ROI_ALIGN, ROI_ALIGN1 and ROI_ALIGN_GRAD. What comments say about DirectML 1.15.4 was measured
// on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/operators/enumerators.h"
#include "engine/operators/rules.h"

namespace dmlconform::operators::regions_rules {
namespace {

using WideSizes = std::vector<std::uint64_t>;

/// Requires that the tensor's sizes end with these, and that all preceding ones are 1.
Verdict check_innermost(const Descriptor& descriptor, std::string_view rule, std::string_view field,
                        const core::Dimensions& innermost, std::string_view meaning) {
    const core::Dimensions& sizes = descriptor.sizes(field);
    const auto ones = static_cast<std::ptrdiff_t>(sizes.size() - innermost.size());
    if (std::all_of(sizes.begin(), sizes.begin() + ones, [](std::uint32_t size) { return size == 1; }) &&
        std::equal(innermost.begin(), innermost.end(), sizes.begin() + ones)) {
        return {};
    }
    return broken_rule(descriptor, rule,
                       fmt::format("{} has sizes {}; the last ones must be {}, {}, and all preceding ones 1", field,
                                   core::to_string(sizes), core::to_string(innermost), meaning));
}

// ---- ROI_POOLING -------------------------------------------------------------------------------------------------

ExplainedRules pooling_rules() {
    return {{"pooledSize", "Width and height of PooledSize are at least 1."},
            {"regionSizes",
             "ROITensor has one row for each region, in dimension 2, of 5 elements: a batch and four coordinates. All "
             "other sizes are 1."}};
}

std::vector<std::string> pooling_formulas() {
    return {"OutputTensor = [ROITensor[2], InputTensor[1], PooledSize.Height, PooledSize.Width]"};
}

Verdict check_pooling(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const auto pooled = descriptor.get<Size2D>("PooledSize");
    if (pooled.width == 0 || pooled.height == 0) {
        return broken_rule(descriptor, "pooledSize",
                           fmt::format("PooledSize is {} by {}; both must be at least 1", pooled.width, pooled.height));
    }
    const std::uint32_t count = descriptor.sizes("ROITensor")[2];
    return check_innermost(descriptor, "regionSizes", "ROITensor", {count, 5},
                           "a batch and four coordinates for each region");
}

/// Output sizes: regions, channels, and the bins of a region.
WideSizes pooling_sizes(const Descriptor& descriptor) {
    const auto pooled = descriptor.get<Size2D>("PooledSize");
    return {descriptor.sizes("ROITensor")[2], descriptor.sizes("InputTensor")[1], pooled.height, pooled.width};
}

// ---- ROI_ALIGN ---------------------------------------------------------------------------------------------------

/// `outputs` names the tensor with an element for each region, channel and bin of the forward pass, `image` its input.
Verdict check_regions(const Descriptor& descriptor, std::string_view outputs, std::string_view image) {
    const core::Dimensions& regions = descriptor.sizes("ROITensor");
    const std::uint32_t count = regions[regions.size() - 2];
    if (auto rejection =
            check_innermost(descriptor, "regionSizes", "ROITensor", {count, 4}, "four coordinates for each region")) {
        return rejection;
    }
    if (auto rejection =
            check_innermost(descriptor, "batchSizes", "BatchIndicesTensor", {count}, "a batch for each region")) {
        return rejection;
    }
    const core::Dimensions& sizes = descriptor.sizes(outputs);
    const std::uint32_t channels = descriptor.sizes(image)[1];
    if (sizes[0] != count || sizes[1] != channels) {
        return broken_rule(descriptor, "outputSizes",
                           fmt::format("{} has sizes {}; the first two must be the {} regions of ROITensor and the {} "
                                       "channels of {}",
                                       outputs, core::to_string(sizes), count, channels, image));
    }
    return {};
}

Verdict check_sampling(const Descriptor& descriptor) {
    const auto function = enumerator<ReduceFunction>(descriptor, "ReductionFunction");
    if (function != ReduceFunction::average && function != ReduceFunction::max) {
        return broken_rule(descriptor, "reductionFunction", "ReductionFunction must be AVERAGE or MAX");
    }
    const std::uint32_t least = descriptor.uint("MinimumSamplesPerOutput");
    const std::uint32_t most = descriptor.uint("MaximumSamplesPerOutput");
    if (least == 0 || least > most) {
        return broken_rule(
            descriptor, "samples",
            fmt::format("MinimumSamplesPerOutput is {} and MaximumSamplesPerOutput {}; the first must be "
                        "at least 1, and no more than the second",
                        least, most));
    }
    // Measured on DirectML 1.15.4: NaN is accepted, and makes every coordinate NaN.
    for (const std::string_view field : {"SpatialScaleX", "SpatialScaleY"}) {
        if (const float scale = descriptor.number(field); scale < 0 || std::isinf(scale)) {
            return broken_rule(descriptor, "spatialScale",
                               fmt::format("{} is {}; it must be neither negative nor infinite", field, scale));
        }
    }
    return {};
}

/// The rules of `check_regions` and `check_sampling`.
ExplainedRules sampled_rules(std::string_view outputs, std::string_view image) {
    return {{"regionSizes",
             "ROITensor has one row for each region, in dimension -2, of 4 coordinates. All other sizes are 1."},
            {"batchSizes",
             "BatchIndicesTensor has one element for each region, in the last dimension. All other sizes are 1."},
            {"outputSizes",
             fmt::format("The first two sizes of {} follow. The others, height and width, may have any size.", outputs),
             {fmt::format("{}[0] = ROITensor[-2]", outputs), fmt::format("{}[1] = {}[1]", outputs, image)}},
            {"reductionFunction", "ReductionFunction is AVERAGE or MAX."},
            {"samples", "MinimumSamplesPerOutput is at least 1, and at most MaximumSamplesPerOutput."},
            {"spatialScale", "SpatialScaleX and SpatialScaleY are neither negative nor infinite."}};
}

Verdict check_align(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    if (auto rejection = check_regions(descriptor, "OutputTensor", "InputTensor")) {
        return rejection;
    }
    return check_sampling(descriptor);
}

/// Two weights, four multiplications and an addition for each sample. An output has at least the square of the minimum
/// number of samples.
double align_operations(const Descriptor& descriptor) {
    const bool gradient = descriptor.schema->find_field("InputGradientTensor") != nullptr;
    const core::Dimensions& outputs = descriptor.sizes(gradient ? "InputGradientTensor" : "OutputTensor");
    const auto least = static_cast<double>(descriptor.uint("MinimumSamplesPerOutput"));
    const double samples = static_cast<double>(*core::element_count(outputs)) * least * least;
    const bool linear = enumerator<InterpolationMode>(descriptor, "InterpolationMode") == InterpolationMode::linear;
    return samples * (linear ? 8 : 1);
}

// ---- ROI_ALIGN_GRAD ----------------------------------------------------------------------------------------------

ExplainedRules grad_rules() {
    ExplainedRules rules = sampled_rules("InputGradientTensor", "OutputGradientTensor");
    rules.push_back({"outputs", "At least one of OutputGradientTensor and OutputROIGradientTensor is present."});
    rules.push_back(
        {"input", "InputTensor is present if ReductionFunction is MAX, or if OutputROIGradientTensor is present."});
    rules.push_back({"inputSizes", "InputTensor and OutputGradientTensor have the same sizes."});
    return rules;
}

Verdict check_grad(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const core::TensorDesc* const input = descriptor.tensor("InputTensor");
    const core::TensorDesc* const output = descriptor.tensor("OutputGradientTensor");
    const bool of_regions = descriptor.tensor("OutputROIGradientTensor") != nullptr;
    if (output == nullptr && !of_regions) {
        return broken_rule(descriptor, "outputs",
                           "OutputGradientTensor and OutputROIGradientTensor are absent; one of them must be present");
    }
    if (input == nullptr &&
        (of_regions || enumerator<ReduceFunction>(descriptor, "ReductionFunction") == ReduceFunction::max)) {
        return broken_rule(descriptor, "input",
                           "InputTensor is absent; it is needed for MAX and for OutputROIGradientTensor");
    }
    // The documentation says "Typically". DirectML 1.15.4 rejects other sizes.
    if (input != nullptr && output != nullptr && input->sizes != output->sizes) {
        return broken_rule(descriptor, "inputSizes",
                           fmt::format("InputTensor has sizes {} and OutputGradientTensor {}; they must be the same",
                                       core::to_string(input->sizes), core::to_string(output->sizes)));
    }
    if (auto rejection = check_regions(descriptor, "InputGradientTensor",
                                       output != nullptr ? "OutputGradientTensor" : "InputTensor")) {
        return rejection;
    }
    return check_sampling(descriptor);
}

}  // namespace

RulesRows rules() {
    RulesRows rows{
        {.name = "ROI_POOLING",
         .validate = check_pooling,
         .rules = pooling_rules(),
         .output_sizes = pooling_sizes,
         .output_formulas = pooling_formulas()},
        {.name = "ROI_ALIGN_GRAD", .validate = check_grad, .rules = grad_rules(), .operations = align_operations}};
    for (const std::string_view name : {"ROI_ALIGN", "ROI_ALIGN1"}) {
        rows.push_back({.name = name,
                        .validate = check_align,
                        .rules = sampled_rules("OutputTensor", "InputTensor"),
                        .operations = align_operations});
    }
    return rows;
}

}  // namespace dmlconform::operators::regions_rules
