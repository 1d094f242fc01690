// Repeats some indices of a parallel loop, at the same cost as the first time.
#include "tests/planted_slowdown/slower_parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "engine/cpu/parallel.h"

namespace dmlconform::cpu {
namespace {

std::int64_t planted_percent() {
    const char* text = std::getenv("DMLCONFORM_PLANTED_SLOWDOWN");
    return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

}  // namespace

void slower_parallel_for(std::int64_t count, std::int64_t cost,
                         const std::function<void(std::int64_t, std::int64_t)>& body) {
    static const std::int64_t percent = planted_percent();
    if (percent == 0) {
        return parallel_for(count, cost, body);
    }
    // Repetitions that are still due, in hundredths of an index.
    static std::atomic<std::int64_t> owed{0};
    parallel_for(count, cost, [&](std::int64_t first, std::int64_t last) {
        body(first, last);
        const std::int64_t all = owed.fetch_add((last - first) * percent) + (last - first) * percent;
        const std::int64_t again = std::min(all / 100, last - first);
        if (again > 0) {
            owed.fetch_sub(again * 100);
            body(first, first + again);
        }
    });
}

}  // namespace dmlconform::cpu
