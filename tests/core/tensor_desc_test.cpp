// Tests of engine/core/tensor_desc: counts, strides, extents and byte counts up to the limits of 64 bits, and printing.
#include "engine/core/tensor_desc.h"

#include <gtest/gtest.h>

namespace dmlconform::core::tensor_desc_test {
namespace {

constexpr std::uint32_t most = 0xffffffff;

TensorDesc desc_of(DataType type, Dimensions sizes, std::optional<Dimensions> strides = {}) {
    TensorDesc desc;
    desc.data_type = type;
    desc.sizes = std::move(sizes);
    desc.strides = std::move(strides);
    return desc;
}

TEST(TensorDesc, ElementCount) {
    struct Row {
        Dimensions sizes;
        std::optional<std::uint64_t> count;
    };
    const Row rows[] = {
        {{}, 1},
        {{7}, 7},
        {{2, 3, 4}, 24},
        {{2, 0, 4}, 0},
        {{most}, most},
        {{most, most}, 0xfffffffe00000001},
        {{most, most, 2}, std::nullopt},
        {{0x80000000, 0x80000000, 2}, 0x8000000000000000},
        {{0x80000000, 0x80000000, 4}, std::nullopt},  // exactly 2^64
        {{0x10000, 0x10000, 0x10000, 0x10000}, std::nullopt},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(element_count(row.sizes), row.count) << to_string(row.sizes);
    }
}

TEST(TensorDesc, PackedStrides) {
    EXPECT_EQ(packed_strides(Dimensions{}), (std::vector<std::uint64_t>{}));
    EXPECT_EQ(packed_strides(Dimensions{5}), (std::vector<std::uint64_t>{1}));
    EXPECT_EQ(packed_strides(Dimensions{2, 3, 4}), (std::vector<std::uint64_t>{12, 4, 1}));
    EXPECT_EQ(packed_strides(Dimensions{1, 1, 1}), (std::vector<std::uint64_t>{1, 1, 1}));
    // Strides wider than 32 bits.
    EXPECT_EQ(packed_strides(Dimensions{1, 0x10000, 0x10000}), (std::vector<std::uint64_t>{0x100000000, 0x10000, 1}));
}

TEST(TensorDesc, EffectiveStrides) {
    EXPECT_EQ(effective_strides(desc_of(DataType::int8, {2, 3})), (std::vector<std::uint64_t>{3, 1}));
    EXPECT_EQ(effective_strides(desc_of(DataType::int8, {2, 3}, Dimensions{0, 9})), (std::vector<std::uint64_t>{0, 9}));
}

/// The last element's offset is the sum of (size - 1) * stride, see DMLCalcBufferTensorSize in DirectML's
/// documentation.
TEST(TensorDesc, ExtentAndTotalBytes) {
    struct Row {
        TensorDesc desc;
        std::optional<std::uint64_t> extent;
        std::optional<std::uint64_t> bytes;
    };
    const Row rows[] = {
        {desc_of(DataType::float32, {}), 1, 4},
        {desc_of(DataType::float32, {2, 3, 4}), 24, 96},
        {desc_of(DataType::float16, {3}), 3, 8},  // 6 bytes, rounded up to a multiple of 4
        {desc_of(DataType::float16, {4}), 4, 8},
        {desc_of(DataType::int8, {1}), 1, 4},
        {desc_of(DataType::int8, {5}), 5, 8},
        {desc_of(DataType::uint64, {5}), 5, 40},
        {desc_of(DataType::uint4, {8}), 8, 4},
        {desc_of(DataType::int4, {9}), 9, 8},  // 36 bits
        {desc_of(DataType::unknown, {9}), 9, 0},
        {desc_of(DataType::int8, {2, 0}), 0, 0},
        // 1 * 100 + 2 * 10 + 3 * 1 + 1 = 124 elements.
        {desc_of(DataType::float32, {2, 3, 4}, Dimensions{100, 10, 1}), 124, 496},
        {desc_of(DataType::float32, {2, 3, 4}, Dimensions{0, 0, 0}), 1, 4},
        {desc_of(DataType::int16, {2, 3}, Dimensions{1, 2}), 6, 12},
        // the stride of a dimension of size 1 does not count
        {desc_of(DataType::int8, {1, 3}, Dimensions{most, 1}), 3, 4},
        {desc_of(DataType::int8, {2, 0}, Dimensions{most, most}), 0, 0},
        {desc_of(DataType::int8, {2}, Dimensions{most}), 0x100000000, 0x100000000},
        // (2^32 - 2)(2^32 - 1) + 1 = 2^64 - 3 * 2^32 + 3 elements: the count fits 64 bits, the number of bits does not.
        {desc_of(DataType::int8, {most}, Dimensions{most}), 0xfffffffd00000003, std::nullopt},
        {desc_of(DataType::int8, {most, 5}, Dimensions{most, most}), std::nullopt, std::nullopt},
        {desc_of(DataType::int8, {most, most, 2}), std::nullopt, std::nullopt},
        // 2^58 elements of 64 bits have 2^64 bits, which does not fit; with one row fewer it does.
        {desc_of(DataType::uint64, {0x10000000, 0x40000000}), std::uint64_t{1} << 58, std::nullopt},
        {desc_of(DataType::uint64, {0x10000000, 0x3fffffff}), 0x3fffffff * std::uint64_t{0x10000000},
         0x3fffffff * std::uint64_t{0x10000000} * 8},
        {desc_of(DataType::int8, {2, 2, 2}, Dimensions{most, most, most}), 0x2fffffffe, 0x300000000},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(to_string(row.desc));
        EXPECT_EQ(addressed_extent(row.desc), row.extent);
        EXPECT_EQ(minimum_total_bytes(row.desc), row.bytes);
    }
}

/// 2^61 - 1 elements of a byte have 2^64 - 8 bits. This fits, but rounding up to 32-bit words overflows.
TEST(TensorDesc, RoundingUpMayOverflowToo) {
    // The extent is (2^31 - 1) * 2^30 + (2^30 - 2) * 1 + 1.
    const TensorDesc desc = desc_of(DataType::int8, {0x80000000, 0x3fffffff}, Dimensions{0x40000000, 1});
    EXPECT_EQ(addressed_extent(desc), (std::uint64_t{1} << 61) - 1);
    EXPECT_EQ(minimum_total_bytes(desc), std::nullopt);
    // With three elements fewer there are 2^64 - 32 bits.
    const TensorDesc fitting = desc_of(DataType::int8, {0x80000000, 0x3ffffffc}, Dimensions{0x40000000, 1});
    EXPECT_EQ(minimum_total_bytes(fitting), (std::uint64_t{1} << 61) - 4);
}

TEST(TensorDesc, PackedHasTheSmallestTotalSize) {
    const TensorDesc desc = TensorDesc::packed(DataType::float16, {3, 5});
    EXPECT_EQ(desc.data_type, DataType::float16);
    EXPECT_EQ(desc.sizes, (Dimensions{3, 5}));
    EXPECT_EQ(desc.strides, std::nullopt);
    EXPECT_EQ(desc.total_bytes, 32u);  // 30 bytes, rounded up to a multiple of 4
    EXPECT_EQ(desc.base_offset_alignment, 0u);
    EXPECT_EQ(desc.flags, TensorFlags::none);
}

TEST(TensorDesc, IsPacked) {
    struct Row {
        Dimensions sizes;
        std::optional<Dimensions> strides;
        bool packed;
    };
    const Row rows[] = {
        {{2, 3}, std::nullopt, true},           {{2, 3}, Dimensions{3, 1}, true},  {{2, 3}, Dimensions{4, 1}, false},
        {{2, 3}, Dimensions{1, 2}, false},      {{2, 3}, Dimensions{0, 1}, false}, {{1, 3}, Dimensions{77, 1}, true},
        {{2, 1, 3}, Dimensions{3, 0, 1}, true}, {{1, 1}, Dimensions{0, 0}, true},  {{2}, Dimensions{2}, false},
    };
    for (const Row& row : rows) {
        const TensorDesc desc = desc_of(DataType::int8, row.sizes, row.strides);
        EXPECT_EQ(is_packed(desc), row.packed) << to_string(desc);
    }
}

TEST(TensorDesc, Printing) {
    EXPECT_EQ(to_string(Dimensions{}), "[]");
    EXPECT_EQ(to_string(Dimensions{1, 22, 333}), "[1,22,333]");
    TensorDesc desc = TensorDesc::packed(DataType::float32, {1, 1, 4, 4});
    EXPECT_EQ(to_string(desc), "FLOAT32 [1,1,4,4]");
    desc.strides = Dimensions{0, 0, 0, 1};
    desc.total_bytes = 64;
    desc.base_offset_alignment = 256;
    desc.flags = TensorFlags::owned_by_dml;
    EXPECT_EQ(to_string(desc), "FLOAT32 [1,1,4,4] strides [0,0,0,1] total 64 bytes aligned 256 OWNED_BY_DML");
}

}  // namespace
}  // namespace dmlconform::core::tensor_desc_test
