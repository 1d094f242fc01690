// Computes several output positions at once where all filter elements see the input, and the others one by one.
#include "engine/cpu/product/sliding.h"

#include <algorithm>

#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::product {
namespace {

/// Number of output positions computed together: enough to keep several registers busy, or one for narrow inputs.
constexpr std::int64_t many_lanes = 32;
constexpr std::int64_t few_lanes = 8;

template <class T>
double sum_at(const Sliding& sliding, std::span<const SlidingRow<T>> rows, std::int64_t position) {
    double sum = 0;
    for (const SlidingRow<T>& row : rows) {
        for (std::int64_t tap = 0; tap < sliding.taps; ++tap) {
            const std::int64_t element = position + tap * sliding.dilation - sliding.padding;
            if (element >= 0 && element < sliding.elements) {
                sum += row.factors[tap] * row.elements[element];
            }
        }
    }
    return sum;
}

/// Requires at least `lanes` positions. The last group overlaps the preceding one and recomputes the same sums.
template <std::int64_t lanes, class T>
void slide_inside(const Sliding& sliding, std::span<const SlidingRow<T>> rows, std::int64_t first, std::int64_t last,
                  double* sums) {
    in_wide_registers(
        [=, start = first - sliding.padding, count = last - first, taps = sliding.taps, dilation = sliding.dilation] {
            for (std::int64_t done = 0; done < count; done += lanes) {
                const std::int64_t position = std::min(done, count - lanes);
                // A constant number of sums, which the compiler keeps in registers.
                double sum[lanes] = {};
                for (std::size_t r = 0; r < rows.size(); ++r) {
                    for (std::int64_t tap = 0; tap < taps; ++tap) {
                        const double factor = rows[r].factors[tap];
                        const T* const elements = rows[r].elements + start + tap * dilation + position;
                        for (std::int64_t lane = 0; lane < lanes; ++lane) {
                            sum[lane] += factor * elements[lane];
                        }
                    }
                }
                for (std::int64_t lane = 0; lane < lanes; ++lane) {
                    sums[position + lane] = sum[lane];
                }
            }
        });
}

}  // namespace

template <class T>
void slide(const Sliding& sliding, std::span<const SlidingRow<T>> rows, std::int64_t first, std::int64_t last,
           double* sums) {
    // From `inside` to `end`, both the first and the last filter element see the input.
    const std::int64_t reach = (sliding.taps - 1) * sliding.dilation;
    const std::int64_t inside = std::clamp(sliding.padding, first, last);
    const std::int64_t end = std::clamp(sliding.elements + sliding.padding - reach, inside, last);
    const auto one_by_one = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t position = from; position < to; ++position) {
            sums[position - first] = sum_at(sliding, rows, position);
        }
    };
    if (end - inside < few_lanes) {
        one_by_one(first, last);
        return;
    }
    one_by_one(first, inside);
    const auto slide_lanes = end - inside < many_lanes ? slide_inside<few_lanes, T> : slide_inside<many_lanes, T>;
    slide_lanes(sliding, rows, inside, end, sums + (inside - first));
    one_by_one(end, last);
}

template void slide(const Sliding& sliding, std::span<const SlidingRow<double>> rows, std::int64_t first,
                    std::int64_t last, double* sums);
template void slide(const Sliding& sliding, std::span<const SlidingRow<float>> rows, std::int64_t first,
                    std::int64_t last, double* sums);

}  // namespace dmlconform::cpu::product
