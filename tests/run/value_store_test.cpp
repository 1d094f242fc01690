// Tests of the store of a graph's values, which moves tensors to a temporary file.
#include "engine/run/value_store.h"

#include <gtest/gtest.h>

#include "engine/core/element.h"

namespace dmlconform::tests::value_store_test {
namespace {

core::Tensor numbers(std::uint32_t first, std::uint32_t count = 1024) {
    core::Tensor tensor(core::TensorDesc::packed(core::DataType::uint32, {count}));
    for (std::uint32_t i = 0; i < count; ++i) {
        core::store_element(tensor.buffer.bytes(), core::DataType::uint32, i, first + i);
    }
    return tensor;
}

/// Whether a store has the numbers from `first` on.
bool has_numbers(run::ValueStore& store, std::size_t index, std::uint32_t first) {
    const auto tensor = store.get(index);
    if (!tensor) {
        return false;
    }
    const core::Tensor expected = numbers(first);
    const auto bytes = expected.buffer.bytes();
    return (*tensor)->desc == expected.desc &&
           std::equal(bytes.begin(), bytes.end(), (*tensor)->buffer.bytes().begin(), (*tensor)->buffer.bytes().end());
}

TEST(ValueStore, KeepsEverythingInMemoryIfItFits) {
    run::ValueStore store(2, 1 << 20);
    EXPECT_FALSE(store.has(0));
    ASSERT_TRUE(store.put(0, numbers(1)));
    ASSERT_TRUE(store.put(1, numbers(5000)));
    EXPECT_TRUE(has_numbers(store, 0, 1));
    EXPECT_TRUE(has_numbers(store, 1, 5000));
    EXPECT_EQ(store.written_bytes(), 0u);
}

TEST(ValueStore, MovesWhatWasNotUsedForLongest) {
    const std::uint64_t each = numbers(0).buffer.bytes().size();
    run::ValueStore store(4, 2 * each);
    for (std::uint32_t i = 0; i < 4; ++i) {
        ASSERT_TRUE(store.put(i, numbers(10'000 * i)));
        EXPECT_LE(store.held_bytes(), 2 * each);
    }
    EXPECT_EQ(store.written_bytes(), 2 * each);
    // Tensors come back in any order, also twice, and are not written again.
    for (const std::uint32_t i : {0u, 3u, 1u, 2u, 2u, 0u}) {
        EXPECT_TRUE(store.has(i));
        EXPECT_TRUE(has_numbers(store, i, 10'000 * i));
        EXPECT_LE(store.held_bytes(), 2 * each);
    }
    EXPECT_EQ(store.written_bytes(), 4 * each);
}

TEST(ValueStore, ATensorInUseOutlivesItsMove) {
    run::ValueStore store(2, 1);
    ASSERT_TRUE(store.put(0, numbers(7)));
    const auto used = store.get(0);
    ASSERT_TRUE(used);
    ASSERT_TRUE(store.put(1, numbers(9)));
    EXPECT_EQ(core::load_element((*used)->buffer.bytes(), core::DataType::uint32, 3), 10u);
    EXPECT_TRUE(has_numbers(store, 0, 7));
}

}  // namespace
}  // namespace dmlconform::tests::value_store_test
