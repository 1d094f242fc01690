// Tests of regions of interest on the D3D12 engine: random regions of images of all layouts.
#include <gmock/gmock.h>

#include <array>
#include <string_view>

#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::region_test {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::array types{DataType::float32, DataType::float16};

/// Values of DML_REDUCE_FUNCTION.
constexpr std::uint32_t average = 2;
constexpr std::uint32_t largest = 7;

class RegionsOnD3d12 : public D3d12Test {
protected:
    /// The sizes of an image, the number of regions, and the sizes of the output.
    struct Shapes {
        core::Dimensions image;
        std::uint32_t regions;
        core::Dimensions outputs;
    };

    Shapes random_shapes() {
        Shapes shapes;
        shapes.image = {random_.between(1, 3), random_.between(1, 3), random_.between(1, 9), random_.between(1, 9)};
        shapes.regions = random_.between(1, 4);
        shapes.outputs = {shapes.regions, shapes.image[1], random_.between(1, 4), random_.between(1, 4)};
        return shapes;
    }

    core::TensorDesc source(DataType type, const core::Dimensions& sizes) { return random_input(random_, type, sizes); }
    core::TensorDesc target(DataType type, const core::Dimensions& sizes) {
        return random_output(random_, type, sizes);
    }

    /// The fields that ROI_ALIGN and its successors share.
    std::vector<Setting> samples() {
        const std::uint32_t least = random_.between(1, 2);
        return {{"ReductionFunction", random_.chance(2) ? average : largest},
                {"InterpolationMode", random_.between(0, 1)},
                {"SpatialScaleX", random_.between_reals(0.5, 1.5)},
                {"SpatialScaleY", random_.between_reals(0.5, 1.5)},
                {"MinimumSamplesPerOutput", least},
                {"MaximumSamplesPerOutput", least + random_.between(0, 3)}};
    }

    Descriptor with_offsets(const Descriptor& descriptor) {
        return with(descriptor, {{"InputPixelOffset", random_.between_reals(0, 1)},
                                 {"OutputPixelOffset", random_.between_reals(-1, 0)},
                                 {"AlignRegionsToCorners", random_.between(0, 1)}});
    }

    /// Batch indices are valid; regions lie in and around the image.
    void expect_like_reference(const Descriptor& descriptor, const Shapes& shapes) {
        std::vector<core::Tensor> inputs;
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            if (slot.desc == nullptr) {
                inputs.emplace_back();
                continue;
            }
            const bool is_batch = slot.name == "BatchIndicesTensor";
            const bool is_region = slot.name == "ROITensor";
            std::uint32_t number = 0;
            inputs.push_back(drawn(*slot.desc, [&]() -> double {
                const bool is_first = number++ % slot.desc->sizes.back() == 0;
                if (is_batch || (is_region && is_first && slot.desc->sizes.back() == 5)) {
                    return random_.between(0, shapes.image[0] - 1);
                }
                return is_region ? random_.between_reals(-3, 12) : random_.between_reals(-8, 8);
            }));
        }
        tests::expect_like_reference(engine(), descriptor, inputs);
    }

    Random random_{1};
};

TEST_F(RegionsOnD3d12, PooledAtRandom) {
    for (std::size_t turn = 0; turn < 100 && !HasFailure(); ++turn) {
        const DataType type = types[turn % 2];
        const Shapes shapes = random_shapes();
        const core::Dimensions regions{1, 1, shapes.regions, 5};
        const operators::Size2D pooled{shapes.outputs[3], shapes.outputs[2]};
        expect_like_reference(describe("ROI_POOLING", {{"InputTensor", source(type, shapes.image)},
                                                       {"ROITensor", core::TensorDesc::packed(type, regions)},
                                                       {"OutputTensor", target(type, shapes.outputs)},
                                                       {"SpatialScale", random_.between_reals(0.5, 1.5)},
                                                       {"PooledSize", operators::FieldValue(pooled)}}),
                              shapes);
    }
}

TEST_F(RegionsOnD3d12, AlignedAtRandom) {
    for (std::size_t turn = 0; turn < 160 && !HasFailure(); ++turn) {
        const DataType type = types[turn / 2 % 2];
        const Shapes shapes = random_shapes();
        const DataType index = random_.chance(2) ? DataType::uint32 : DataType::uint64;
        const std::string_view op = turn % 2 == 0 ? "ROI_ALIGN" : "ROI_ALIGN1";
        Descriptor descriptor =
            with(describe(op, samples()), {{"InputTensor", source(type, shapes.image)},
                                           {"ROITensor", source(type, {shapes.regions, 4})},
                                           {"BatchIndicesTensor", source(index, {shapes.regions})},
                                           {"OutputTensor", target(type, shapes.outputs)},
                                           {"OutOfBoundsInputValue", random_.between_reals(-2, 2)}});
        if (op == "ROI_ALIGN1") {
            descriptor = with_offsets(descriptor);
        }
        expect_like_reference(descriptor, shapes);
    }
}

TEST_F(RegionsOnD3d12, GradientsAtRandom) {
    for (std::size_t turn = 0; turn < 160 && !HasFailure(); ++turn) {
        const DataType type = types[turn % 2];
        const Shapes shapes = random_shapes();
        const std::uint32_t wanted = random_.between(1, 3);
        Descriptor descriptor =
            with_offsets(with(describe("ROI_ALIGN_GRAD", samples()),
                              {{"InputGradientTensor", source(type, shapes.outputs)},
                               {"ROITensor", source(type, {shapes.regions, 4})},
                               {"BatchIndicesTensor", source(DataType::uint32, {shapes.regions})}}));
        if ((wanted & 1) != 0) {
            descriptor = with(descriptor, {{"OutputGradientTensor", target(type, shapes.image)}});
        }
        if ((wanted & 2) != 0) {
            descriptor = with(descriptor, {{"OutputROIGradientTensor", target(type, {shapes.regions, 4})}});
        }
        if ((wanted & 2) != 0 || descriptor.uint("ReductionFunction") == largest) {
            descriptor = with(descriptor, {{"InputTensor", source(type, shapes.image)}});
        }
        expect_like_reference(descriptor, shapes);
    }
}

}  // namespace
}  // namespace dmlconform::tests::region_test
