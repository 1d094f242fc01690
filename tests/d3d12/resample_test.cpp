// Resampling on the D3D12 engine: which shader is taken.
#include <gmock/gmock.h>

#include <string_view>

#include "engine/d3d12/made_elements.h"
#include "shaders/resample_parameters.hlsli"
#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {
namespace {

using core::DataType;
using operators::Descriptor;

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
    // More elements than there are: the last one is repeated.
    EXPECT_EQ(dispatch_of(linear, {2, 4, 8, 10}, {1, 1, 2, 2}).shader.defines,
              (Defines{{"TAKES", TAKES_FOUR}, elements}));
    EXPECT_EQ(dispatch_of(0, {2, 6, 8, 10}, {1, 2, 2, 2}).shader.defines,
              (Defines{{"TAKES", TAKES_NEAREST}, elements}));
}

}  // namespace
}  // namespace dmlconform::tests
