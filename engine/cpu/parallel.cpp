// Distributes loops over threads.
#include "engine/cpu/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/core/hardware_threads.h"
#include "engine/cpu/distributed_loops.h"

namespace dmlconform::cpu {
namespace {

/// The number of steps that makes another thread worthwhile: starting one takes tens of microseconds.
constexpr std::int64_t steps_per_thread = 200'000;

thread_local std::uint64_t distributed = 0;

}  // namespace

void parallel_for(std::int64_t count, std::int64_t cost, const std::function<void(std::int64_t, std::int64_t)>& body) {
    const std::int64_t wanted =
        std::min(count, count / std::max<std::int64_t>(1, steps_per_thread / std::max<std::int64_t>(1, cost)));
    const std::int64_t threads = wanted <= 1 ? 1 : std::min<std::int64_t>(wanted, core::hardware_threads());
    if (threads == 1) {
        body(0, count);
        return;
    }
    ++distributed;
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&](std::int64_t first, std::int64_t last) {
        try {
            body(count * first / threads, count * last / threads);
        } catch (...) {
            const std::scoped_lock lock(mutex);
            failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> workers;
        workers.reserve(static_cast<std::size_t>(threads));
        std::int64_t started = 1;
        try {
            for (; started < threads; ++started) {
                workers.emplace_back(work, started, started + 1);
            }
        } catch (const std::exception&) {
            // The system cannot create more threads. This one does the remaining work.
            work(started, threads);
        }
        work(0, 1);
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

std::uint64_t distributed_loops() {
    return distributed;
}

}  // namespace dmlconform::cpu
