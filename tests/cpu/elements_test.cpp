// Tests of engine/cpu/elements: reads any layout and type as a packed array.
#include "engine/cpu/elements.h"

#include <gtest/gtest.h>

#include "tests/cpu/random_tensors.h"

namespace dmlconform::tests::elements_test {
namespace {

using core::DataType;

template <class To>
std::vector<To> listed(const core::Tensor& tensor) {
    const auto array = cpu::elements<To>(tensor);
    return {array.data(), array.data() + array.size()};
}

TEST(Elements, ConvertsEveryType) {
    using Doubles = std::vector<double>;
    EXPECT_EQ(listed<double>(tensor_of<float>(tensor(DataType::float32, {2}), {0.5f, -3})), (Doubles{0.5, -3}));
    EXPECT_EQ(listed<double>(tensor_of<double>(tensor(DataType::float64, {2}), {0.1, -3})), (Doubles{0.1, -3}));
    EXPECT_EQ(listed<double>(
                  tensor_of<core::Float16>(tensor(DataType::float16, {2}), {core::Float16(0.5), core::Float16(-3.0)})),
              (Doubles{0.5, -3}));
    EXPECT_EQ(listed<int>(tensor_of<std::int8_t>(tensor(DataType::int8, {2}), {-128, 127})),
              (std::vector<int>{-128, 127}));
    EXPECT_EQ(listed<int>(tensor_of<std::uint8_t>(tensor(DataType::uint8, {2}), {128, 255})),
              (std::vector<int>{128, 255}));
    EXPECT_EQ(listed<int>(tensor_of<std::int16_t>(tensor(DataType::int16, {1}), {-32768})), (std::vector<int>{-32768}));
    EXPECT_EQ(listed<int>(tensor_of<std::uint16_t>(tensor(DataType::uint16, {1}), {65535})), (std::vector<int>{65535}));
    EXPECT_EQ(listed<std::int64_t>(tensor_of<std::int32_t>(tensor(DataType::int32, {1}), {INT32_MIN})),
              (std::vector<std::int64_t>{INT32_MIN}));
    EXPECT_EQ(listed<std::int64_t>(tensor_of<std::uint32_t>(tensor(DataType::uint32, {1}), {UINT32_MAX})),
              (std::vector<std::int64_t>{UINT32_MAX}));
    EXPECT_EQ(listed<std::int64_t>(tensor_of<std::int64_t>(tensor(DataType::int64, {1}), {INT64_MIN})),
              (std::vector<std::int64_t>{INT64_MIN}));
    EXPECT_EQ(listed<std::uint64_t>(tensor_of<std::uint64_t>(tensor(DataType::uint64, {1}), {UINT64_MAX})),
              (std::vector<std::uint64_t>{UINT64_MAX}));
}

TEST(Elements, TakesAnyLayoutInLogicalOrder) {
    Random random(31);
    for (int i = 0; i < 300; ++i) {
        const auto sizes = random.sizes(random.pick<std::size_t>(1, 5), 4, 200);
        const auto desc = random.layout(DataType::uint16, sizes, operators::FieldKind::input);
        const auto tensor =
            random.filled<std::uint16_t>(desc, [&] { return static_cast<std::uint16_t>(random.bits()); });
        ASSERT_EQ(listed<std::uint16_t>(tensor), values_of<std::uint16_t>(tensor)) << to_string(desc);
        const auto shape = cpu::elements<int>(tensor).shape();
        ASSERT_TRUE(std::equal(shape.begin(), shape.end(), sizes.begin(), sizes.end())) << to_string(desc);
    }
}

TEST(Elements, Scalar) {
    const auto tensor = tensor_of<std::int8_t>(tests::tensor(DataType::int8, {1, 1}), {-7});
    EXPECT_EQ(cpu::scalar<int>(&tensor, 5), -7);
    EXPECT_EQ(cpu::scalar<int>(nullptr, 5), 5);
}

}  // namespace
}  // namespace dmlconform::tests::elements_test
