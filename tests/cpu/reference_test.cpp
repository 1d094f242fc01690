// Tests of engine/cpu/reference: which operators exist, tolerances, and slack.
#include "engine/cpu/reference.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/cpu/kernel.h"
#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::reference_test {
namespace {

using core::DataType;
using operators::Descriptor;

TEST(Reference, HasTheOperatorsOfItsFiles) {
    std::set<std::string_view> names;
    for (const auto& file : cpu::kernels) {
        for (const cpu::Kernel& kernel : file.rows()) {
            EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " is claimed again by " << file.file;
            EXPECT_NE(kernel.compute, nullptr) << kernel.name;
            const auto* schema = operators::find_operator(kernel.name);
            ASSERT_NE(schema, nullptr) << kernel.name;
            EXPECT_TRUE(cpu::has_reference(*schema)) << kernel.name;
        }
    }
    for (const char* name : {"SLICE1", "TOP_K1", "QUANTIZED_LINEAR_CONVOLUTION", "MEAN_VARIANCE_NORMALIZATION1"}) {
        EXPECT_TRUE(names.contains(name)) << name;
    }
}

TEST(Registry, OneOperatorInTwoFiles) {
    const auto rows = [] {
        return cpu::Kernels{
            {.name = "SLICE1", .compute = [](const cpu::KernelArguments&) {}, .tolerance = cpu::exact_tolerance}};
    };
    const std::array<core::RegistryFile<cpu::Kernels>, 2> files{{{"first", rows}, {"second", rows}}};
    EXPECT_THROW(core::Registry<cpu::Kernels>{files}, std::logic_error);
    EXPECT_NE(core::Registry<cpu::Kernels>{std::span(files).first(1)}.find("SLICE1"), nullptr);
    EXPECT_EQ(core::Registry<cpu::Kernels>{std::span(files).first(1)}.find("SLICE"), nullptr);
}

/// The tolerances that semantics.md documents: exact for data movement, bounds per element for arithmetic.
TEST(Reference, DefaultTolerances) {
    const auto tolerance = [](std::string_view op, std::string_view output) {
        const auto desc = tensor(DataType::float32, {1, 2, 3, 4});
        return cpu::default_tolerance(describe(op, {}), {std::string(output), &desc});
    };
    core::Tolerance exact;
    exact.exact = true;
    const auto bound = [&](std::string_view op) {
        const core::Tolerance found = tolerance(op, "OutputTensor");
        return found.element_slack && !found.exact && !found.ulp && !found.abs && !found.rel &&
               !found.slack_formula.empty();
    };
    EXPECT_EQ(tolerance("SLICE1", "OutputTensor"), exact);
    EXPECT_EQ(tolerance("TOP_K1", "OutputValueTensor"), exact);
    EXPECT_EQ(tolerance("TOP_K1", "OutputIndexTensor"), exact);
    EXPECT_TRUE(bound("QUANTIZED_LINEAR_CONVOLUTION"));
    EXPECT_TRUE(bound("MEAN_VARIANCE_NORMALIZATION1"));
    for (const std::string_view op : {"MATRIX_MULTIPLY_INTEGER", "CONVOLUTION_INTEGER", "RANDOM_GENERATOR", "JOIN"}) {
        EXPECT_EQ(tolerance(op, "OutputTensor"), exact) << op;
    }
    core::Tolerance either_zero;
    either_zero.ulp = 0;
    EXPECT_EQ(tolerance("MAX_POOLING", "OutputTensor"), either_zero);
    EXPECT_EQ(tolerance("ACTIVATION_HARDMAX", "OutputTensor").ulp, 0);
    EXPECT_TRUE(tolerance("ACTIVATION_HARDMAX", "OutputTensor").element_slack);
    const auto indices = tensor(DataType::uint32, {1});
    EXPECT_EQ(cpu::default_tolerance(describe("MAX_POOLING2", {}), {"OutputIndicesTensor", &indices}), exact);
}

// Entries without a tolerance do not compile.
static_assert(!std::is_default_constructible_v<cpu::StatedTolerance>);
static_assert(!std::is_constructible_v<cpu::StatedTolerance, std::nullptr_t>);

TEST(Reference, SlackOnlyWhereTheToleranceAsksForIt) {
    const Descriptor exact = describe("TOP_K1", {{"InputTensor", tensor(DataType::float32, {1, 1, 1, 4})},
                                                 {"OutputValueTensor", tensor(DataType::float32, {1, 1, 1, 2})},
                                                 {"OutputIndexTensor", tensor(DataType::uint32, {1, 1, 1, 2})},
                                                 {"Axis", 3},
                                                 {"K", 2},
                                                 {"AxisDirection", 1}});
    const auto input = tensor_of<float>(*exact.tensor("InputTensor"), {3, 1, 4, 1});
    const std::vector<const core::Tensor*> inputs{&input};
    const auto reference = cpu::compute_reference(exact, inputs);
    ASSERT_EQ(reference.outputs.size(), 2u);
    ASSERT_EQ(reference.slack.size(), 2u);
    EXPECT_TRUE(reference.slack[0].below.empty());
    EXPECT_TRUE(reference.slack[1].above.empty());

    // There is one slack entry per element, not per address.
    const auto desc = tensor(DataType::float32, {2, 2}, {10, 1});
    const Descriptor bounded = describe(
        "MEAN_VARIANCE_NORMALIZATION1",
        {{"InputTensor", desc}, {"OutputTensor", desc}, {"Axes", {1}}, {"NormalizeVariance", 1}, {"Epsilon", 1}});
    const auto values = tensor_of<float>(desc, {1, 2, 3, 4});
    const std::vector<const core::Tensor*> with_absent{&values, nullptr, nullptr};
    const auto normalised = cpu::compute_reference(bounded, with_absent);
    ASSERT_EQ(normalised.slack.size(), 1u);
    ASSERT_EQ(normalised.slack[0].below.size(), 4u);
    ASSERT_EQ(normalised.slack[0].above.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_GT(normalised.slack[0].below[i], 0);
        EXPECT_GT(normalised.slack[0].above[i], 0);
    }
}

}  // namespace
}  // namespace dmlconform::tests::reference_test
