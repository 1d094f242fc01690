// Measures the peak memory bandwidth and arithmetic throughput of the processor, with all threads and the program's
// instruction set.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/core/hardware_threads.h"
#include "engine/core/tensor.h"
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/parallel.h"

namespace dmlconform::cpu {
namespace {

/// Larger than any cache.
constexpr std::int64_t copied_bytes = std::int64_t{256} << 20;
constexpr int repetitions = 5;
/// A cost that makes parallel_for start every thread.
constexpr std::int64_t cost_of_a_share = std::int64_t{1} << 40;

/// The fastest of several calls, because disturbances only make calls slower.
template <class F>
double fastest_seconds(F&& f) {
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repetitions; ++i) {
        const auto start = std::chrono::steady_clock::now();
        f();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        fastest = std::min(fastest, taken.count());
    }
    return fastest;
}

/// Enough independent sums to hide the latency of multiplications and additions in vector registers.
constexpr std::size_t lane_count = 64;
constexpr std::int64_t multiply_add_steps = 2'000'000;

float multiply_add(float factor) {
    float lanes[lane_count];
    std::fill(std::begin(lanes), std::end(lanes), factor);
    for (std::int64_t step = 0; step < multiply_add_steps; ++step) {
        for (float& lane : lanes) {
            lane = lane * factor + 1.0f;
        }
    }
    float sum = 0;
    for (const float lane : lanes) {
        sum += lane;
    }
    return sum;
}

}  // namespace

core::Result<Roofline> CpuEngine::measure_roofline() {
    const core::Buffer from(copied_bytes);
    core::Buffer to(copied_bytes);
    const std::int64_t threads = core::hardware_threads();
    const double copying = fastest_seconds([&] {
        parallel_for(threads, cost_of_a_share, [&](std::int64_t first, std::int64_t last) {
            const auto begin = static_cast<std::size_t>(copied_bytes / threads * first);
            const auto size = static_cast<std::size_t>(copied_bytes / threads * (last - first));
            std::memcpy(to.bytes().data() + begin, from.bytes().data() + begin, size);
        });
    });
    std::vector<float> sums(static_cast<std::size_t>(threads));
    const double computing = fastest_seconds([&] {
        parallel_for(threads, cost_of_a_share, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i < last; ++i) {
                // Stored, so that the compiler cannot remove the computation.
                sums[static_cast<std::size_t>(i)] = multiply_add(0.999f + 1e-6f * static_cast<float>(i));
            }
        });
    });
    const std::int64_t really_copied = copied_bytes / threads * threads;
    return Roofline{2.0 * static_cast<double>(really_copied) / copying, 2.0 * static_cast<double>(lane_count) *
                                                                            static_cast<double>(multiply_add_steps) *
                                                                            static_cast<double>(threads) / computing};
}

}  // namespace dmlconform::cpu
