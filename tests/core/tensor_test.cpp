// Tests of engine/core/tensor: size and alignment of storage, typed views, signed strides.
#include "engine/core/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <type_traits>

namespace dmlconform::core::tensor_test {
namespace {

TEST(Buffer, IsAlignedAndOfTheSizeAskedFor) {
    for (const std::uint64_t size : {1u, 63u, 64u, 65u, 100'000u}) {
        Buffer buffer(size);
        ASSERT_EQ(buffer.bytes().size(), size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % 64, 0u);
        // All bytes are writable, which the sanitizers check.
        for (std::byte& byte : buffer.bytes()) {
            byte = std::byte{1};
        }
    }
    EXPECT_TRUE(Buffer().bytes().empty());
    EXPECT_TRUE(Buffer(0).bytes().empty());
    EXPECT_FALSE(std::is_copy_constructible_v<Buffer>);
}

TEST(Buffer, MovesItsBytes) {
    Buffer from(8);
    from.bytes()[7] = std::byte{42};
    const Buffer to = std::move(from);
    ASSERT_EQ(to.bytes().size(), 8u);
    EXPECT_EQ(to.bytes()[7], std::byte{42});
}

TEST(Buffer, InAFileKeepsItsBytesOutsideOfMemory) {
    constexpr std::uint64_t size = 1 << 20;
    Buffer from = Buffer::in_file(size);
    EXPECT_TRUE(from.is_in_file());
    for (std::size_t i = 0; i < size; ++i) {
        from.bytes()[i] = static_cast<std::byte>(i * 7);
    }
    from.leave_memory();
    const Buffer buffer = std::move(from);
    ASSERT_EQ(buffer.bytes().size(), size);
    for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(buffer.bytes()[i], static_cast<std::byte>(i * 7));
    }
    EXPECT_FALSE(Buffer::in_file(8).is_in_file());
}

TEST(Tensor, MovesToAFile) {
    Tensor tensor(TensorDesc::packed(DataType::uint8, {1 << 20}));
    std::ranges::fill(tensor.buffer.bytes(), std::byte{3});
    move_to_file(tensor);
    EXPECT_TRUE(tensor.buffer.is_in_file());
    EXPECT_EQ(std::ranges::count(tensor.buffer.bytes(), std::byte{3}), 1 << 20);
}

TEST(Tensor, ViewsCoverTheTotalSize) {
    TensorDesc desc = TensorDesc::packed(DataType::float16, {3});
    desc.total_bytes = 11;
    Tensor tensor(desc);
    EXPECT_EQ(tensor.buffer.bytes().size(), 11u);
    // Views contain whole elements only.
    EXPECT_EQ(tensor.as<Float16>().size(), 5u);
    EXPECT_EQ(std::as_const(tensor).as<std::uint32_t>().size(), 2u);
    tensor.as<std::uint8_t>()[2] = 0x34;
    tensor.as<std::uint8_t>()[3] = 0x12;
    EXPECT_EQ(std::as_const(tensor).as<Float16>()[1].bits, 0x1234);  // little-endian
}

TEST(Tensor, CopiesOfHalfBytes) {
    TensorDesc desc = TensorDesc::packed(DataType::int4, {3, 2});
    desc.strides = Dimensions{1, 3};
    Tensor tensor(desc);
    ASSERT_EQ(tensor.buffer.bytes().size(), 4u);
    // Elements 0 … 5 in memory are 1, -2, 3, -4, 5, -8.
    constexpr std::array<unsigned, 3> bytes{0xe1, 0xc3, 0x85};
    std::ranges::transform(bytes, tensor.buffer.bytes().begin(), [](unsigned byte) { return std::byte(byte); });
    const Tensor packed = packed_copy(tensor);
    const auto start = packed.buffer.bytes().first(3);
    EXPECT_TRUE(std::ranges::equal(start, std::array{std::byte{0xc1}, std::byte{0x5e}, std::byte{0x83}}));
    EXPECT_TRUE(std::ranges::equal(widened_copy(tensor).as<std::int8_t>().first(6),
                                   std::array<std::int8_t, 6>{1, -4, -2, 5, 3, -8}));
}

TEST(Tensor, SignedStrides) {
    TensorDesc desc = TensorDesc::packed(DataType::int8, {2, 3});
    EXPECT_EQ(signed_strides(desc), (Strides{3, 1}));
    desc.strides = Dimensions{0xffffffff, 0};
    EXPECT_EQ(signed_strides(desc), (Strides{0xffffffff, 0}));
}

}  // namespace
}  // namespace dmlconform::core::tensor_test
