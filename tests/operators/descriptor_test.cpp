// engine/operators/descriptor: access by name, the order of tensors, printing. Also what tests/descriptor_builder.h
// fills in.
#include "engine/operators/descriptor.h"

#include <gtest/gtest.h>

#include "tests/descriptor_builder.h"

namespace dmlconform::tests {
namespace {

using core::DataType;
using operators::Descriptor;

Descriptor slice() {
    return describe("SLICE1", {{"InputTensor", tensor(DataType::float32, {4, 4})},
                               {"OutputTensor", tensor(DataType::float32, {2, 2})},
                               {"InputWindowOffsets", {0, 1}},
                               {"InputWindowSizes", {4, 3}},
                               {"InputWindowStrides", {-2, 2}}});
}

TEST(DescriptorBuilder, FillsInCountsAndTakesTheFieldsTypes) {
    const Descriptor descriptor = slice();
    EXPECT_EQ(descriptor.uint("DimensionCount"), 2u);
    EXPECT_EQ(descriptor.uints("InputWindowSizes"), (std::vector<std::uint32_t>{4, 3}));
    EXPECT_EQ(descriptor.get<std::vector<std::int32_t>>("InputWindowStrides"), (std::vector<std::int32_t>{-2, 2}));
    EXPECT_EQ(with(descriptor, {{"InputWindowOffsets", {0, 0, 0}}}).uint("DimensionCount"), 3u);
    EXPECT_EQ(with(descriptor, {{"InputWindowOffsets", {0, 0, 0}}, {"DimensionCount", 2}}).uint("DimensionCount"), 2u);
    EXPECT_THROW((void)with(descriptor, {{"Axis", 1}}), std::logic_error);
    EXPECT_THROW((void)with(descriptor, {{"InputTensor", 1}}), std::logic_error);
}

}  // namespace
}  // namespace dmlconform::tests
