// Tests of engine/cpu/cpu_engine: the engine interface around the kernels.
#include "engine/cpu/cpu_engine.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "engine/core/guard.h"
#include "engine/cpu/reference.h"
#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"
#include "tests/without_reference.h"

namespace dmlconform::tests::cpu_engine_test {
namespace {

using core::DataType;
using operators::Descriptor;

Descriptor top_k(DataType type = DataType::float32) {
    return describe("TOP_K1", {{"InputTensor", tensor(type, {1, 1, 1, 4})},
                               {"OutputValueTensor", tensor(type, {1, 1, 1, 2})},
                               {"OutputIndexTensor", tensor(DataType::uint32, {1, 1, 1, 2})},
                               {"Axis", 3},
                               {"K", 2},
                               {"AxisDirection", 1}});
}

TEST(CpuEngine, Info) {
    const cpu::CpuEngine engine({4, 1});
    EXPECT_EQ(engine.info().name, "cpu");
    EXPECT_EQ(engine.info().feature_level, (core::FeatureLevel{4, 1}));
    EXPECT_FALSE(engine.info().adapter.empty());
}

TEST(CpuEngine, SupportsTheOperatorsThatHaveAKernel) {
    const WithoutReference resampling("RESAMPLE");
    const cpu::CpuEngine engine(core::highest_feature_level);
    EXPECT_EQ(engine.unsupported(top_k()), std::nullopt);
    const auto reason = engine.unsupported(describe("RESAMPLE", {}));
    ASSERT_TRUE(reason);
    EXPECT_NE(reason->find("RESAMPLE"), std::string::npos);
}

TEST(CpuEngine, RejectsWhatValidationRejectsAtItsLevel) {
    const Descriptor wide = top_k(DataType::int64);
    const auto rejected = cpu::CpuEngine({4, 1}).compile(wide);
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().kind, CompileFailure::Kind::rejected);
    EXPECT_EQ(rejected.error().rejection.rule, "tensor.dataType");
    EXPECT_EQ(rejected.error().rejection.code, core::HResult::invalid_argument);
    EXPECT_EQ(rejected.error().rejection.legal_from, (core::FeatureLevel{5, 0}));
    EXPECT_TRUE(cpu::CpuEngine({5, 0}).compile(wide));
    const Descriptor none = with(top_k(), {{"K", 0}});
    EXPECT_EQ(cpu::CpuEngine({6, 4}).compile(none).error().rejection.rule, "TOP_K1.k");
}

TEST(CpuEngine, CompileBindExecuteRead) {
    cpu::CpuEngine engine(core::highest_feature_level);
    const Descriptor descriptor = top_k();
    auto executable = engine.compile(descriptor);
    ASSERT_TRUE(executable);
    auto values = core::output_tensor(*descriptor.tensor("OutputValueTensor"));
    auto indices = core::output_tensor(*descriptor.tensor("OutputIndexTensor"));
    const std::vector<core::Tensor*> outputs{&values, &indices};
    const auto run = [&](const core::Tensor& input) {
        const std::vector<const core::Tensor*> inputs{&input};
        ASSERT_TRUE((*executable)->bind(inputs));
        ASSERT_TRUE((*executable)->execute());
        ASSERT_TRUE((*executable)->read(outputs));
    };
    const auto first = tensor_of<float>(*descriptor.tensor("InputTensor"), {3, 1, 4, 1});
    run(first);
    EXPECT_EQ(values_of<float>(values), (std::vector<float>{4, 3}));
    EXPECT_EQ(values_of<std::uint32_t>(indices), (std::vector<std::uint32_t>{2, 0}));
    EXPECT_EQ((*executable)->device_time(), std::nullopt);
    // The same executable computes new outputs after new inputs are bound.
    const auto second = tensor_of<float>(*descriptor.tensor("InputTensor"), {5, 9, 2, 6});
    run(second);
    EXPECT_EQ(values_of<float>(values), (std::vector<float>{9, 6}));
    EXPECT_EQ(values_of<std::uint32_t>(indices), (std::vector<std::uint32_t>{1, 3}));
}

/// Where padding meets an infinite number of the filter, the product would be NaN.
TEST(CpuEngine, PaddingIsNotMultiplied) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const Descriptor descriptor =
        with(plain_convolution(tensor(DataType::float32, {1, 1, 1, 3}), tensor(DataType::float32, {2, 1, 1, 3}),
                               tensor(DataType::float32, {1, 2, 1, 3})),
             {{"StartPadding", {0, 1}}, {"EndPadding", {0, 1}}});
    cpu::CpuEngine engine(core::highest_feature_level);
    auto executable = engine.compile(descriptor);
    ASSERT_TRUE(executable);
    const auto input = tensor_of<float>(*descriptor.tensor("InputTensor"), {1, 2, 3});
    const auto filter = tensor_of<float>(*descriptor.tensor("FilterTensor"), {infinity, 1, 1, 1, 1, 1});
    const std::vector<const core::Tensor*> inputs{&input, &filter, nullptr};
    ASSERT_TRUE((*executable)->bind(inputs));
    ASSERT_TRUE((*executable)->execute());
    auto output = core::output_tensor(*descriptor.tensor("OutputTensor"));
    const std::vector<core::Tensor*> outputs{&output};
    ASSERT_TRUE((*executable)->read(outputs));
    EXPECT_EQ(values_of<float>(output), (std::vector<float>{3, infinity, infinity, 3, 6, 5}));
}

TEST(CpuEngine, AbsentOptionalTensors) {
    cpu::CpuEngine engine(core::highest_feature_level);
    const auto desc = tensor(DataType::float32, {4});
    const Descriptor descriptor =
        describe("MEAN_VARIANCE_NORMALIZATION1", {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axes", {0}}});
    auto executable = engine.compile(descriptor);
    ASSERT_TRUE(executable);
    const auto input = tensor_of<float>(desc, {1, 2, 3, 6});
    const std::vector<const core::Tensor*> inputs{&input, nullptr, nullptr};
    auto output = core::output_tensor(desc);
    const std::vector<core::Tensor*> outputs{&output};
    ASSERT_TRUE((*executable)->bind(inputs));
    ASSERT_TRUE((*executable)->execute());
    ASSERT_TRUE((*executable)->read(outputs));
    EXPECT_EQ(values_of<float>(output), (std::vector<float>{-2, -1, 0, 3}));
}

}  // namespace
}  // namespace dmlconform::tests::cpu_engine_test
