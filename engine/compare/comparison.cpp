// Compares two tensors element by element.
#include "engine/compare/comparison.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "engine/compare/element_difference.h"

namespace dmlconform::compare {
namespace {

/// Adds one element to the comparison.
template <class T>
class Accumulator {
public:
    Accumulator(const Criteria& tolerance, const core::ElementSlack* slack, Comparison& result)
        : tolerance_(tolerance), slack_(slack), result_(result) {}

    void add(T expected, T actual, std::uint64_t index) {
        ++result_.elements;
        if (is_equal(expected, actual)) {
            ++result_.histogram.counts[0];
            return;
        }
        const auto [ulp, used] = difference_of(expected, actual, tolerance_, slack_, static_cast<std::size_t>(index));
        ++result_.histogram.counts[UlpHistogram::bucket_of(ulp)];
        const bool beyond = is_beyond(used);
        if (!beyond) {
            result_.largest_fraction = std::max(result_.largest_fraction.value_or(0), used);
        }
        if (is_worse(beyond, ulp)) {
            ElementReport report{index, 0, 0, ulp, slack_at(static_cast<std::size_t>(index))};
            std::memcpy(&report.expected_bits, &expected, sizeof(T));
            std::memcpy(&report.actual_bits, &actual, sizeof(T));
            result_.worst = report;
        }
        result_.beyond += beyond ? 1 : 0;
    }

private:
    [[nodiscard]] std::optional<ElementReport::Slack> slack_at(std::size_t index) const {
        if (!tolerance_.element_slack || slack_ == nullptr) {
            return std::nullopt;
        }
        return ElementReport::Slack{slack_->below[index], slack_->above[index]};
    }

    [[nodiscard]] bool is_worse(bool beyond, std::optional<std::uint64_t> ulp) const {
        if (!result_.worst || (beyond && result_.beyond == 0)) {
            return true;
        }
        if (!beyond && result_.beyond != 0) {
            return false;
        }
        // Stands for a pair without a distance, so that it sorts after all others.
        constexpr std::uint64_t furthest = std::numeric_limits<std::uint64_t>::max();
        return ulp.value_or(furthest) > result_.worst->ulp.value_or(furthest);
    }

    const Criteria& tolerance_;
    const core::ElementSlack* slack_;
    Comparison& result_;
};

}  // namespace

std::size_t UlpHistogram::bucket_of(std::optional<std::uint64_t> ulp) {
    if (!ulp) {
        return bucket_count - 1;
    }
    if (*ulp <= 2) {
        return static_cast<std::size_t>(*ulp);
    }
    return std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(*ulp - 1)) + 1, bucket_count - 2);
}

const char* UlpHistogram::label(std::size_t bucket) {
    constexpr std::array<const char*, bucket_count> labels{"0",    "1",     "2",     "3-4", "5-8",
                                                           "9-16", "17-32", "33-64", ">64", "NaN"};
    return labels[bucket];
}

Comparison compare(const core::Tensor& expected, const core::Tensor& actual, const Criteria& tolerance,
                   const core::ElementSlack* slack) {
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return compare(core::widened_copy(expected), core::widened_copy(actual), tolerance, slack);
    }
    Comparison result;
    if (!tolerance.exact) {
        result.largest_fraction = 0;
    }
    const auto packed = core::packed_strides(expected.desc.sizes);
    const core::StridedRuns<3> runs(expected.desc.sizes,
                                    {core::signed_strides(expected.desc), core::signed_strides(actual.desc),
                                     core::Strides(packed.begin(), packed.end())});
    core::with_type(expected.desc.data_type, [&]<class T>() {
        const T* const wanted = expected.as<T>().data();
        const T* const found = actual.as<T>().data();
        Accumulator<T> accumulator(tolerance, slack, result);
        const std::int64_t wanted_step = runs.run_strides()[0];
        const std::int64_t found_step = runs.run_strides()[1];
        const std::int64_t index_step = runs.run_strides()[2];
        const std::int64_t length = runs.run_length();
        runs.for_each_run([&](const auto& offsets) {
            const T* const a = wanted + offsets[0];
            const T* const b = found + offsets[1];
            // Most runs of most cases are equal, which memcmp finds at the speed of memory.
            if (wanted_step == 1 && found_step == 1 &&
                std::memcmp(a, b, static_cast<std::size_t>(length) * sizeof(T)) == 0) {
                result.elements += static_cast<std::uint64_t>(length);
                result.histogram.counts[0] += static_cast<std::uint64_t>(length);
                return;
            }
            for (std::int64_t i = 0; i < length; ++i) {
                accumulator.add(a[i * wanted_step], b[i * found_step],
                                static_cast<std::uint64_t>(offsets[2] + i * index_step));
            }
        });
    });
    return result;
}

core::Dimensions coordinates_of(std::uint64_t index, const core::Dimensions& sizes) {
    core::Dimensions coordinates(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {
        coordinates[d] = static_cast<std::uint32_t>(index % sizes[d]);
        index /= sizes[d];
    }
    return coordinates;
}

}  // namespace dmlconform::compare
