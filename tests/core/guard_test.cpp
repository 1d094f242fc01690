// Tests of engine/core/guard: the offsets of guards, and that every write into them is detected.
#include "engine/core/guard.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>

namespace dmlconform::core::guard_test {
namespace {

TensorDesc bytes_desc(std::uint64_t total_bytes) {
    TensorDesc desc;
    desc.data_type = DataType::uint8;
    desc.sizes = {1};
    desc.total_bytes = total_bytes;
    return desc;
}

TEST(Guard, BeginsAtTheNextWord) {
    struct Row {
        std::uint64_t total_bytes;
        std::uint64_t offset;
    };
    const Row rows[] = {{0, 0}, {1, 4}, {3, 4}, {4, 4}, {5, 8}, {(1u << 20) - 1, 1u << 20}};
    for (const Row& row : rows) {
        EXPECT_EQ(guard_offset(bytes_desc(row.total_bytes)), row.offset) << row.total_bytes;
    }
}

TEST(Guard, SizesThatNoMemoryHas) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t total_bytes : {most, most - 1, most - guard_bytes, most - guard_bytes - 2}) {
        EXPECT_THROW(static_cast<void>(guard_offset(bytes_desc(total_bytes))), std::bad_alloc) << total_bytes;
        EXPECT_THROW(static_cast<void>(output_tensor(bytes_desc(total_bytes))), std::bad_alloc) << total_bytes;
    }
}

TEST(Guard, IsBehindTheElementsAndUntouched) {
    const Tensor tensor = output_tensor(bytes_desc(5));
    EXPECT_EQ(tensor.buffer.bytes().size(), 8 + guard_bytes);
    EXPECT_EQ(tensor.as<std::uint8_t>().size(), 5u);
    EXPECT_EQ(tensor.as<std::uint8_t>()[4], 0xcd);
    EXPECT_EQ(guard_of(tensor).size(), guard_bytes);
    EXPECT_EQ(guard_of(tensor).data(), tensor.buffer.bytes().data() + 8);
    EXPECT_EQ(find_stray_write(tensor), std::nullopt);
}

TEST(Guard, SeesEveryByteButNoneOfTheElements) {
    Tensor tensor = output_tensor(bytes_desc(5));
    const auto bytes = tensor.buffer.bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = std::byte{0};
        const auto expected = i < 8 ? std::nullopt : std::optional(StrayWrite{i - 8, 1});
        EXPECT_EQ(find_stray_write(tensor), expected) << i;
        bytes[i] = untouched;
    }
    bytes[10] = bytes[11] = bytes[263] = std::byte{1};
    EXPECT_EQ(find_stray_write(tensor), (StrayWrite{2, 3}));
}

}  // namespace
}  // namespace dmlconform::core::guard_test
