// Tests of engine/operators/rules/regions: which regions, batches, outputs and samples are legal.
#include <limits>

#include "tests/operators/rule_cases.h"

namespace dmlconform::tests::regions_test {
namespace {

using operators::Descriptor;
using operators::Size2D;

constexpr double infinity = std::numeric_limits<double>::infinity();

core::TensorDesc index(core::Dimensions sizes) {
    return tensor(core::DataType::uint32, std::move(sizes));
}

operators::FieldValue pooled(std::uint32_t width, std::uint32_t height) {
    return operators::FieldValue(Size2D{width, height});
}

TEST(RegionRules, Pooling) {
    const Descriptor base = describe("ROI_POOLING", {{"InputTensor", real({2, 3, 4, 5})},
                                                     {"ROITensor", real({1, 1, 6, 5})},
                                                     {"OutputTensor", real({6, 3, 1, 2})},
                                                     {"SpatialScale", 1},
                                                     {"PooledSize", pooled(2, 1)}});
    const RuleCase cases[] = {
        {"no width", {{"PooledSize", pooled(0, 1)}, {"OutputTensor", real({6, 3, 1, 1})}}, "ROI_POOLING.pooledSize"},
        {"no height", {{"PooledSize", pooled(2, 0)}}, "ROI_POOLING.pooledSize"},
        {"four numbers for a region", {{"ROITensor", real({1, 1, 6, 4})}}, "ROI_POOLING.regionSizes"},
        {"regions in several channels", {{"ROITensor", real({1, 2, 6, 5})}}, "ROI_POOLING.regionSizes"},
        {"regions in several batches", {{"ROITensor", real({2, 1, 6, 5})}}, "ROI_POOLING.regionSizes"},
        {"another number of regions", {{"OutputTensor", real({5, 3, 1, 2})}}, "ROI_POOLING.outputSizes"},
        {"another number of channels", {{"OutputTensor", real({6, 2, 1, 2})}}, "ROI_POOLING.outputSizes"},
        {"width and height changed", {{"OutputTensor", real({6, 3, 2, 1})}}, "ROI_POOLING.outputSizes"},
        {"any scale", {{"SpatialScale", -infinity}}, ""},
    };
    expect_verdicts(base, cases);
    expect_every_rule("ROI_POOLING", {cases});
}

/// An operator, and its name for the tensor with an output for each region.
struct Aligning {
    std::string_view name;
    std::string_view outputs;
    std::string_view image;
};

Descriptor aligned(const Aligning& op) {
    const std::vector<Setting> settings{{op.image, real({2, 3, 4, 5})},
                                        {"ROITensor", real({6, 4})},
                                        {"BatchIndicesTensor", index({6})},
                                        {op.outputs, real({6, 3, 2, 1})},
                                        {"ReductionFunction", 2},
                                        {"InterpolationMode", 1},
                                        {"SpatialScaleX", 1},
                                        {"SpatialScaleY", 1},
                                        {"MinimumSamplesPerOutput", 1},
                                        {"MaximumSamplesPerOutput", 4}};
    Descriptor descriptor = describe(op.name, settings);
    if (descriptor.has_field("InputPixelOffset")) {
        descriptor =
            with(descriptor, {{"InputPixelOffset", 0.5}, {"OutputPixelOffset", -0.5}, {"AlignRegionsToCorners", 0}});
    }
    return !descriptor.has_field("OutOfBoundsInputValue") ? descriptor
                                                          : with(descriptor, {{"OutOfBoundsInputValue", 0}});
}

TEST(RegionRules, Alignment) {
    for (const Aligning& op :
         {Aligning{"ROI_ALIGN", "OutputTensor", "InputTensor"}, Aligning{"ROI_ALIGN1", "OutputTensor", "InputTensor"},
          Aligning{"ROI_ALIGN_GRAD", "InputGradientTensor", "OutputGradientTensor"}}) {
        SCOPED_TRACE(op.name);
        const auto rule = [&](std::string_view name) { return std::string(op.name) + "." + std::string(name); };
        const std::string regions = rule("regionSizes");
        const std::string batches = rule("batchSizes");
        const std::string outputs = rule("outputSizes");
        const std::string function = rule("reductionFunction");
        const std::string samples = rule("samples");
        const std::string scale = rule("spatialScale");
        const RuleCase cases[] = {
            {"regions of three dimensions", {{"ROITensor", real({1, 6, 4})}}, ""},
            {"five numbers for a region", {{"ROITensor", real({6, 5})}}, regions},
            {"regions in several lists", {{"ROITensor", real({2, 3, 4})}}, regions},
            {"batches of four dimensions", {{"BatchIndicesTensor", index({1, 1, 1, 6})}}, ""},
            {"fewer batches than regions", {{"BatchIndicesTensor", index({5})}}, batches},
            {"batches in a column", {{"BatchIndicesTensor", index({6, 1})}}, batches},
            {"other outputs", {{op.outputs, real({6, 3, 7, 9})}}, ""},
            {"fewer outputs than regions", {{op.outputs, real({5, 3, 2, 1})}}, outputs},
            {"other channels", {{op.outputs, real({6, 2, 2, 1})}}, outputs},
            {"the sum", {{"ReductionFunction", 10}}, function},
            {"the least", {{"ReductionFunction", 8}}, function},
            {"no samples", {{"MinimumSamplesPerOutput", 0}}, samples},
            {"more at least than at most", {{"MinimumSamplesPerOutput", 5}}, samples},
            {"as many at least as at most", {{"MinimumSamplesPerOutput", 4}}, ""},
            {"a negative scale", {{"SpatialScaleX", -1}}, scale},
            {"an infinite scale", {{"SpatialScaleY", infinity}}, scale},
            {"no scale", {{"SpatialScaleX", 0}, {"SpatialScaleY", -0.0}}, ""},
        };
        expect_verdicts(aligned(op), cases);
        if (op.name != "ROI_ALIGN_GRAD") {
            expect_every_rule(op.name, {cases});
        }
    }
}

TEST(RegionRules, TensorsOfTheGradient) {
    const core::TensorDesc image = real({2, 3, 4, 5});
    const RuleCase cases[] = {
        {"the gradient of the image alone", {}, ""},
        {"no output", {{"OutputGradientTensor", nullptr}}, "ROI_ALIGN_GRAD.outputs"},
        {"the gradient of the regions, without the image",
         {{"OutputROIGradientTensor", real({6, 4})}},
         "ROI_ALIGN_GRAD.input"},
        {"a maximum without the image", {{"ReductionFunction", 7}}, "ROI_ALIGN_GRAD.input"},
        {"a maximum with the image", {{"ReductionFunction", 7}, {"InputTensor", image}}, ""},
        {"both gradients", {{"OutputROIGradientTensor", real({6, 4})}, {"InputTensor", image}}, ""},
        {"the gradient of the regions alone",
         {{"OutputROIGradientTensor", real({6, 4})}, {"InputTensor", image}, {"OutputGradientTensor", nullptr}},
         ""},
        {"an image that nobody needs", {{"InputTensor", image}}, ""},
        {"an image of other sizes", {{"InputTensor", real({2, 3, 5, 4})}}, "ROI_ALIGN_GRAD.inputSizes"},
        {"other channels than those of the gradients",
         {{"OutputROIGradientTensor", real({6, 4})},
          {"InputTensor", real({2, 4, 4, 5})},
          {"OutputGradientTensor", nullptr}},
         "ROI_ALIGN_GRAD.outputSizes"},
        {"a gradient of fewer regions",
         {{"OutputROIGradientTensor", real({5, 4})}, {"InputTensor", image}},
         "tensor.sameSizes"},
    };
    expect_verdicts(aligned({"ROI_ALIGN_GRAD", "InputGradientTensor", "OutputGradientTensor"}), cases);
}

}  // namespace
}  // namespace dmlconform::tests::regions_test
