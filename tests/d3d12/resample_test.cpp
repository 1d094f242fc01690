// Tests of resampling on the D3D12 engine: the choice of shaders, and random scales, offsets, layouts and types.
#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <string_view>

#include "engine/d3d12/planning/made_elements.h"
#include "shaders/resampling/resample_parameters.hlsli"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests::resample_test {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::array types{DataType::float32, DataType::float16, DataType::int8, DataType::uint8};
using Floats = std::vector<float>;

constexpr std::uint32_t linear = 1;

using Defines = std::vector<std::pair<std::string_view, std::uint32_t>>;

d3d12::Dispatch dispatch_of(std::uint32_t mode, const core::Dimensions& to, const Floats& scales) {
    const Descriptor descriptor = describe("RESAMPLE", {{"InputTensor", tensor(DataType::float16, {2, 3, 4, 5})},
                                                        {"OutputTensor", tensor(DataType::float16, to)},
                                                        {"InterpolationMode", mode},
                                                        {"Scales", operators::FieldValue(scales)}});
    return d3d12::find_binding("RESAMPLE")->plan(descriptor).dispatches.at(0);
}

TEST(ResamplePlanning, InterpolatesAlongScaledDimensionsAlone) {
    const auto elements = Defines::value_type{"ELEMENTS", ELEMENTS_PACKED};
    EXPECT_EQ(dispatch_of(linear, {2, 3, 8, 10}, {1, 1, 2, 2}).shader.defines,
              (Defines{{"TAKES", TAKES_TWO}, elements}));
    EXPECT_EQ(dispatch_of(linear, {2, 6, 8, 10}, {1, 2, 2, 2}).shader.defines,
              (Defines{{"TAKES", TAKES_FOUR}, elements}));
    // The output has more channels than the input, so the last one is repeated.
    EXPECT_EQ(dispatch_of(linear, {2, 4, 8, 10}, {1, 1, 2, 2}).shader.defines,
              (Defines{{"TAKES", TAKES_FOUR}, elements}));
    EXPECT_EQ(dispatch_of(0, {2, 6, 8, 10}, {1, 2, 2, 2}).shader.defines,
              (Defines{{"TAKES", TAKES_NEAREST}, elements}));
}

class ResamplingOnD3d12 : public D3d12Test {
protected:
    Descriptor random_descriptor(std::string_view op, DataType type) {
        const std::size_t rank = random_.between(1, 4);
        core::Dimensions from = random_sizes(random_, rank, 400);
        core::Dimensions to(rank);
        Floats scales(rank), input(rank), output(rank);
        for (std::size_t d = 0; d < rank; ++d) {
            constexpr std::array usual{0.5F, 1.0F, 2.0F, 3.0F, 1.5F, 0.75F, 0.25F};
            scales[d] = random_.chance(3) ? static_cast<float>(random_.between_reals(0.3, 3)) : random_.one_of(usual);
            const float whole = std::floor(static_cast<float>(from[d]) * scales[d]);
            to[d] = std::max(1u, static_cast<std::uint32_t>(whole)) + (random_.chance(4) ? random_.between(0, 2) : 0);
            constexpr std::array offsets{0.0F, 0.5F, 0.25F};
            input[d] = random_.one_of(offsets);
            output[d] = -random_.one_of(offsets);
        }
        const bool is_gradient = op.starts_with("RESAMPLE_GRAD");
        Descriptor descriptor = describe(op, {{is_gradient ? "InputGradientTensor" : "InputTensor",
                                               random_input(random_, type, is_gradient ? to : from)},
                                              {is_gradient ? "OutputGradientTensor" : "OutputTensor",
                                               random_output(random_, type, is_gradient ? from : to)},
                                              {"InterpolationMode", random_.between(0, 1)},
                                              {"Scales", operators::FieldValue(scales)}});
        if (op != "RESAMPLE") {
            descriptor = with(descriptor, {{"InputPixelOffsets", operators::FieldValue(input)},
                                           {"OutputPixelOffsets", operators::FieldValue(output)}});
        }
        if (descriptor.has_field("RoundingDirection")) {
            descriptor = with(descriptor, {{"RoundingDirection", random_.between(0, 1)}});
        }
        if (op == "RESAMPLE3") {
            descriptor = with(descriptor, {{"Antialiased", random_.between(0, 1)}});
        }
        return descriptor;
    }

    void expect_like_reference(std::string_view op, DataType type) {
        const Descriptor descriptor = random_descriptor(op, type);
        const double least = type == DataType::uint8 ? 0 : -100;
        std::vector<core::Tensor> inputs;
        inputs.push_back(drawn(*descriptor.inputs().front().desc, [&] {
            const double number = random_.between_reals(least, 100);
            return core::is_floating_point(type) ? number : std::trunc(number);
        }));
        tests::expect_like_reference(engine(), descriptor, inputs);
    }

    Random random_{1};
};

TEST_F(ResamplingOnD3d12, RandomScales) {
    for (int turn = 0; turn < 150 && !HasFailure(); ++turn) {
        for (const std::string_view op : {"RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3"}) {
            expect_like_reference(op, random_.one_of(types));
        }
    }
}

TEST_F(ResamplingOnD3d12, GradientsOfRandomScales) {
    for (int turn = 0; turn < 120 && !HasFailure(); ++turn) {
        for (const std::string_view op : {"RESAMPLE_GRAD", "RESAMPLE_GRAD1"}) {
            expect_like_reference(op, types[random_.between(0, 1)]);
        }
    }
}

}  // namespace
}  // namespace dmlconform::tests::resample_test
