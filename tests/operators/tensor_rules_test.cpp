// Tests of engine/operators/tensor_rules: each rule for single tensors at its boundary, and overlap compared with
// marking addresses.
#include "engine/operators/tensor_rules.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/descriptor_builder.h"
#include "tests/tensor_values.h"

namespace dmlconform::tests::tensor_rules_test {
namespace {

using core::DataType;
using core::Dimensions;
using core::FeatureLevel;
using core::TensorDesc;

/// The rules for tensors do not depend on the operator, so use one that supports every element width.
const operators::OperatorSchema& slice() {
    return *operators::find_operator("SLICE1");
}

std::string rule_for(std::string_view field, const TensorDesc& desc, FeatureLevel level = core::highest_feature_level) {
    const auto verdict = operators::validate_tensor(slice(), *slice().find_field(field), desc, level);
    return verdict ? verdict->rule : "";
}

TensorDesc changed(TensorDesc desc, std::uint64_t total_bytes, std::uint32_t alignment = 0) {
    desc.total_bytes = total_bytes;
    desc.base_offset_alignment = alignment;
    return desc;
}

TEST(TensorRules, CatalogueSupport) {
    struct Row {
        DataType type;
        std::size_t rank;
        FeatureLevel level;
        std::string_view rule;
    };
    const Row rows[] = {
        {DataType::float32, 4, {2, 1}, ""},
        {DataType::float32, 5, {2, 1}, ""},
        {DataType::float32, 3, {2, 1}, "tensor.dimensionCount"},
        {DataType::float32, 6, {2, 1}, "tensor.dimensionCount"},
        {DataType::float32, 1, {3, 0}, ""},
        {DataType::float32, 8, {3, 0}, ""},
        {DataType::float32, 9, {3, 0}, "tensor.dimensionCount"},
        {DataType::float32, 0, {3, 0}, "tensor.dimensionCount"},
        {DataType::float64, 4, {4, 0}, "tensor.dataType"},
        {DataType::float64, 4, {4, 1}, ""},
        {DataType::int4, 4, {6, 4}, "tensor.dataType"},
        {DataType::unknown, 4, {6, 4}, "tensor.dataType"},
        {DataType::float32, 4, {2, 0}, "tensor.featureLevel"},
    };
    for (const Row& row : rows) {
        const TensorDesc desc = tensor(row.type, Dimensions(row.rank, 1));
        EXPECT_EQ(rule_for("InputTensor", desc, row.level), row.rule)
            << to_string(desc) << " at " << to_string(row.level);
    }
}

TEST(TensorRules, Layouts) {
    constexpr std::uint32_t most = 0xffffffff;
    TensorDesc no_strides_fit = changed(tensor(DataType::int8, {1, 1}), ~std::uint64_t{0});
    no_strides_fit.sizes = {2, most / 2};
    no_strides_fit.strides = Dimensions{most, most};
    struct Row {
        std::string_view field;
        TensorDesc desc;
        std::string_view rule;
    };
    const Row rows[] = {
        {"InputTensor", tensor(DataType::int8, {2, 0, 3}), "tensor.sizes"},
        {"InputTensor", tensor(DataType::int8, {0}), "tensor.sizes"},
        {"InputTensor", tensor(DataType::int8, {most}), ""},
        {"InputTensor", tensor(DataType::int8, {3, 0x55555555}), ""},  // 2^32 - 1
        {"InputTensor", tensor(DataType::int8, {0x10000, 0x10000}), "tensor.elementCount"},
        {"InputTensor", tensor(DataType::int8, {0x10000, 0xffff}), ""},
        {"InputTensor", changed(tensor(DataType::int8, {1}), 4), ""},
        // 2^64 elements: the product itself overflows.
        {"InputTensor", TensorDesc{DataType::int8, {}, {0x10000, 0x10000, 0x10000, 0x10000}, {}, ~std::uint64_t{0}, 0},
         "tensor.elementCount"},
        // Also rejected if all elements share an address.
        {"InputTensor", tensor(DataType::int8, {0x10000, 0x10000}, {0, 0}), "tensor.elementCount"},

        // The total size must reach the end of the last element, rounded up to 4. Larger sizes need not be a multiple
        // of 4.
        {"InputTensor", changed(tensor(DataType::int8, {5}), 5), "tensor.totalSize"},
        {"InputTensor", changed(tensor(DataType::int8, {5}), 4), "tensor.totalSize"},
        {"InputTensor", changed(tensor(DataType::int8, {5}), 7), "tensor.totalSize"},
        {"InputTensor", changed(tensor(DataType::int8, {5}), 8), ""},
        {"InputTensor", changed(tensor(DataType::int8, {5}), 9), ""},
        {"InputTensor", changed(tensor(DataType::int8, {5}), 1000), ""},
        {"InputTensor", changed(tensor(DataType::int8, {5}), 0), "tensor.totalSize"},
        {"InputTensor", changed(tensor(DataType::float32, {2, 3}), 24), ""},
        {"InputTensor", changed(tensor(DataType::float32, {2, 3}), 23), "tensor.totalSize"},
        {"OutputTensor", changed(tensor(DataType::float16, {2, 2}, {10, 1}), 24), ""},
        {"OutputTensor", changed(tensor(DataType::float16, {2, 2}, {10, 1}), 23), "tensor.totalSize"},
        {"InputTensor", changed(tensor(DataType::float64, {4}, {0}), 8), ""},
        {"InputTensor", changed(tensor(DataType::float64, {4}, {0}), 7), "tensor.totalSize"},
        // The number of bits overflows 64 bits.
        {"InputTensor", no_strides_fit, "tensor.totalSize"},
        {"OutputTensor", no_strides_fit, "tensor.totalSize"},

        // Inputs may have strides of 0, but the elements of an output must not share addresses.
        {"InputTensor", tensor(DataType::int8, {2, 3}, {0, 0}), ""},
        {"InputTensor", tensor(DataType::int8, {2, 3}, {1, 1}), ""},
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {0, 1}), "tensor.outputStrides"},
        {"OutputTensor", tensor(DataType::int8, {1, 3}, {0, 1}), ""},
        {"OutputTensor", tensor(DataType::int8, {1, 1}, {0, 0}), ""},
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {3, 1}), ""},
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {2, 1}), "tensor.outputStrides"},
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {1, 2}), ""},
        // the addresses are 0 2 4 3 5 7
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {3, 2}), ""},
        // the addresses are 0 2 4 4 6 8
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {4, 2}), "tensor.outputStrides"},
        {"OutputTensor", tensor(DataType::int8, {2, 3}, {100, 1000}), ""},
        // 1 + 2 = 3: two elements share an address
        {"OutputTensor", tensor(DataType::int8, {2, 2, 2}, {1, 2, 3}), "tensor.outputStrides"},
        {"OutputTensor", tensor(DataType::int8, {2, 2, 2}, {1, 2, 4}), ""},
        {"OutputTensor", tensor(DataType::int8, {2, 0x7fffffff}, {most, 1}), ""},
        // The stride of a dimension of size 1 does not matter, however far the others reach.
        {"OutputTensor", tensor(DataType::int8, {1, 1 << 27}, {0, 1}), ""},
        // Strides that interleave are accepted if the addresses are few enough to be marked: 2^26, and one more. The
        // last ones would take 1.6 GB.
        {"OutputTensor", tensor(DataType::int8, {3, 2}, {20'000'000, 27'108'863}), ""},
        {"OutputTensor", tensor(DataType::int8, {3, 2}, {20'000'000, 27'108'864}), "tensor.outputStrides"},
        {"OutputTensor", tensor(DataType::int8, {3, 2}, {most - 1, most}), "tensor.outputStrides"},
        // More elements than addresses, so they overlap; there are too many to mark them.
        {"OutputTensor", tensor(DataType::int8, {0x7fff, 0x7fff, 3}, {1, 1, 1}), "tensor.outputStrides"},

        // The alignment is 0, or a power of two that is at least the size of an element.
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, 1), "tensor.alignment"},
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, 2), "tensor.alignment"},
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, 3), "tensor.alignment"},
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, 4), ""},
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, 6), "tensor.alignment"},
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, 0x80000000), ""},
        {"InputTensor", changed(tensor(DataType::float32, {1}), 4, most), "tensor.alignment"},
        {"InputTensor", changed(tensor(DataType::float64, {1}), 8, 4), "tensor.alignment"},
        {"InputTensor", changed(tensor(DataType::float64, {1}), 8, 8), ""},
        {"InputTensor", changed(tensor(DataType::int8, {1}), 4, 1), ""},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(rule_for(row.field, row.desc), row.rule) << row.field << ' ' << to_string(row.desc);
    }
}

TEST(TensorRules, OverlapAgreesWithMarkingAddresses) {
    std::mt19937 generator(3);
    const auto pick = [&](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(generator);
    };
    int overlapping = 0;
    constexpr int tensors = 5000;
    for (int i = 0; i < tensors; ++i) {
        Dimensions sizes(pick(1, 4));
        Dimensions strides(sizes.size());
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            sizes[d] = pick(1, 4);
            strides[d] = pick(0, 12);
        }
        const TensorDesc desc = tensor(DataType::int16, sizes, strides);
        const auto addresses = addresses_of(desc);
        const bool overlaps = std::set(addresses.begin(), addresses.end()).size() != addresses.size();
        overlapping += overlaps ? 1 : 0;
        ASSERT_EQ(rule_for("OutputTensor", desc), overlaps ? "tensor.outputStrides" : "") << to_string(desc);
        ASSERT_EQ(rule_for("InputTensor", desc), "") << to_string(desc);
    }
    // Both answers are common, so both are tested.
    EXPECT_GT(overlapping, tensors / 4);
    EXPECT_LT(overlapping, tensors * 3 / 4);
}

TEST(TensorRules, MessagesNameTheFieldAndTheValues) {
    const auto message = [](const TensorDesc& desc) {
        return operators::validate_tensor(slice(), *slice().find_field("OutputTensor"), desc, {4, 0})->message;
    };
    EXPECT_EQ(message(changed(tensor(DataType::float32, {2, 3}), 23)),
              "OutputTensor has TotalTensorSizeInBytes 23; its sizes and strides need 24");
    EXPECT_EQ(
        message(tensor(DataType::int64, {2})),
        "OutputTensor has data type INT64; feature level 4.0 allows FLOAT32, FLOAT16, INT32, INT16, INT8, UINT32, "
        "UINT16, UINT8");
    EXPECT_EQ(message(tensor(DataType::int8, Dimensions(9, 1))),
              "OutputTensor has 9 dimensions; feature level 4.0 allows 1 to 8");
}

}  // namespace
}  // namespace dmlconform::tests::tensor_rules_test
