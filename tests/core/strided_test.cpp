// Tests of engine/core/strided: which dimensions merge into runs, and every kind of iteration against nested loops over
// coordinates.
#include "engine/core/strided.h"

#include <gtest/gtest.h>

#include <random>

namespace dmlconform::core::strided_test {
namespace {

using Sizes = std::vector<std::uint32_t>;

TEST(StridedRuns, Merging) {
    struct Row {
        Sizes sizes;
        Strides first;
        Strides second;
        std::int64_t runs;
        std::int64_t length;
        std::array<std::int64_t, 2> strides;
    };
    const Row rows[] = {
        // No dimension larger than 1: one run of one element.
        {{}, {}, {}, 1, 1, {0, 0}},
        {{1, 1, 1}, {5, 6, 7}, {0, 0, 9}, 1, 1, {0, 0}},
        // Both packed: one run for any rank.
        {{2, 3, 4}, {12, 4, 1}, {12, 4, 1}, 1, 24, {1, 1}},
        {{1, 2, 1, 3}, {99, 3, 99, 1}, {6, 3, 3, 1}, 1, 6, {1, 1}},
        // Contiguous in one array only.
        {{2, 3}, {3, 1}, {4, 1}, 2, 3, {1, 1}},
        {{2, 3, 4}, {12, 4, 1}, {24, 4, 1}, 2, 12, {1, 1}},
        {{2, 3, 4}, {12, 4, 1}, {15, 5, 1}, 6, 4, {1, 1}},
        // A dimension of size 1 between two contiguous ones does not separate them.
        {{3, 1, 4}, {4, 1000, 1}, {4, -1000, 1}, 1, 12, {1, 1}},
        // Equal strides other than 1, negative strides, and strides of 0.
        {{2, 3}, {6, 2}, {9, 3}, 1, 6, {2, 3}},
        {{2, 3}, {-3, -1}, {3, 1}, 1, 6, {-1, 1}},
        {{2, 3}, {0, 0}, {3, 1}, 1, 6, {0, 1}},
        {{2, 3}, {0, 1}, {3, 1}, 2, 3, {1, 1}},
        {{2, 3}, {-3, 1}, {-3, 1}, 2, 3, {1, 1}},
        // The outer dimensions merge, the inner one does not.
        {{2, 3, 4}, {9, 3, 2}, {12, 4, 1}, 6, 4, {2, 1}},
        {{65536, 65535}, {65535, 1}, {65535, 1}, 1, 0xffff0000, {1, 1}},
    };
    for (std::size_t i = 0; i < std::size(rows); ++i) {
        SCOPED_TRACE(i);
        const Row& row = rows[i];
        const StridedRuns<2> runs(row.sizes, {row.first, row.second});
        EXPECT_EQ(runs.run_count(), row.runs);
        EXPECT_EQ(runs.run_length(), row.length);
        EXPECT_EQ(runs.run_strides(), row.strides);
    }
}

/// Offsets of all elements in row-major order, computed by counting coordinates up.
template <std::size_t N>
std::vector<std::array<std::int64_t, N>> naive_walk(const Sizes& sizes, const std::array<Strides, N>& strides) {
    std::vector<std::array<std::int64_t, N>> result;
    std::vector<std::uint32_t> coordinates(sizes.size());
    while (true) {
        std::array<std::int64_t, N> offsets{};
        for (std::size_t a = 0; a < N; ++a) {
            for (std::size_t d = 0; d < sizes.size(); ++d) {
                offsets[a] += coordinates[d] * strides[a][d];
            }
        }
        result.push_back(offsets);
        std::size_t d = sizes.size();
        while (d > 0 && ++coordinates[d - 1] == sizes[d - 1]) {
            coordinates[--d] = 0;
        }
        if (d == 0) {
            return result;
        }
    }
}

class Shapes {
public:
    Sizes sizes() {
        Sizes result(pick(0, 8));
        std::size_t count = 1;
        for (auto& size : result) {
            size = static_cast<std::uint32_t>(count > 300 ? 1 : pick(1, 4));
            count *= size;
        }
        return result;
    }

    /// Packed strides, some of which are then replaced, so that dimensions sometimes merge and sometimes do not.
    Strides strides(const Sizes& sizes) {
        Strides result(sizes.size());
        std::int64_t stride = pick(0, 3) == 0 ? -1 : 1;
        for (std::size_t d = sizes.size(); d-- > 0;) {
            result[d] = stride;
            if (pick(0, 5) == 0) {
                result[d] = static_cast<std::int64_t>(pick(0, 40)) - 20;
            }
            stride = result[d] * sizes[d];
        }
        return result;
    }

    std::size_t pick(std::size_t low, std::size_t high) {
        return std::uniform_int_distribution<std::size_t>(low, high)(generator_);
    }

private:
    std::mt19937 generator_{7};
};

TEST(StridedRuns, EveryWalkAgreesWithCoordinates) {
    Shapes shapes;
    for (int i = 0; i < 2000; ++i) {
        const Sizes sizes = shapes.sizes();
        const std::array<Strides, 3> strides{shapes.strides(sizes), shapes.strides(sizes), shapes.strides(sizes)};
        SCOPED_TRACE(i);
        const auto expected = naive_walk(sizes, strides);
        const StridedRuns<3> runs(sizes, strides);
        ASSERT_EQ(runs.run_count() * runs.run_length(), static_cast<std::int64_t>(expected.size()));

        std::size_t element = 0;
        runs.for_each_element([&](const auto& offsets) { ASSERT_EQ(offsets, expected.at(element++)); });
        ASSERT_EQ(element, expected.size());
        for (element = 0; element < expected.size(); ++element) {
            ASSERT_EQ(runs.offsets_of(static_cast<std::int64_t>(element)), expected[element]);
        }

        // Checks all runs, then an arbitrary segment of them.
        const auto check_runs = [&](std::int64_t first, std::int64_t last) {
            std::int64_t run = first;
            runs.for_each_run(first, last, [&](const auto& offsets) {
                for (std::int64_t j = 0; j < runs.run_length(); ++j) {
                    const auto& want = expected.at(static_cast<std::size_t>(run * runs.run_length() + j));
                    for (std::size_t a = 0; a < 3; ++a) {
                        ASSERT_EQ(offsets[a] + j * runs.run_strides()[a], want[a]);
                    }
                }
                ++run;
            });
            ASSERT_EQ(run, last);
        };
        check_runs(0, runs.run_count());
        const auto count = static_cast<std::size_t>(runs.run_count());
        const auto first = shapes.pick(0, count);
        check_runs(static_cast<std::int64_t>(first), static_cast<std::int64_t>(shapes.pick(first, count)));
    }
}

TEST(StridedRuns, AllRunsIsTheDefault) {
    const StridedRuns<1> runs(Sizes{2, 3}, {Strides{10, 1}});
    std::vector<std::int64_t> starts;
    runs.for_each_run([&](const auto& offsets) { starts.push_back(offsets[0]); });
    EXPECT_EQ(starts, (std::vector<std::int64_t>{0, 10}));
}

}  // namespace
}  // namespace dmlconform::core::strided_test
