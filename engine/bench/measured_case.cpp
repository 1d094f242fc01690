// Preparation and execution of cases that are measured.
#include "engine/bench/measured_case.h"

#include <algorithm>
#include <ctime>

#include "engine/engine_lost.h"
#include "engine/operators/rules.h"

namespace dmlconform::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Copies of a case: more would take longer to set up than they are used.
constexpr double most_copies = 64;

/// Times have settled when the median of this many executions is no longer below the one of as many before.
constexpr std::size_t window = 5;
constexpr double settled = 0.98;
constexpr std::chrono::seconds longest_warm_up{1};

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + window / 2, values.end());
    return values[window / 2];
}

}  // namespace

core::Result<std::unique_ptr<MeasuredCase>> MeasuredCase::create(const cases::Case& subject, Engine& engine,
                                                                 double working_set) {
    std::unique_ptr<MeasuredCase> measured(new MeasuredCase);
    const operators::Descriptor& descriptor = *subject.descriptor;
    const auto slots = descriptor.inputs();
    std::vector<const core::Tensor*> pointers;
    measured->inputs_.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            pointers.push_back(nullptr);
            continue;
        }
        core::Tensor& tensor = measured->inputs_.emplace_back(*slots[i].desc);
        if (auto filled = subject.inputs[i]->fill(tensor); !filled) {
            return tl::unexpected(filled.error());
        }
        pointers.push_back(&tensor);
    }
    const double copies = std::clamp(working_set / operators::element_bytes(descriptor) + 1, 1.0, most_copies);
    for (int i = 0; i < static_cast<int>(copies); ++i) {
        auto executable = engine.compile(descriptor);
        if (!executable) {
            return core::fail(executable.error().rejection.message);
        }
        if (auto bound = (*executable)->bind(pointers); !bound) {
            return tl::unexpected(bound.error());
        }
        measured->copies_.push_back(std::move(*executable));
    }
    return measured;
}

std::chrono::nanoseconds MeasuredCase::now() const {
    if (!cpu_time_) {
        return Clock::now().time_since_epoch();
    }
    // Of all threads. Its steps are a microsecond where there is POSIX.
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(static_cast<double>(std::clock()) / CLOCKS_PER_SEC));
}

core::Result<std::chrono::nanoseconds> MeasuredCase::execute() {
    Executable& executable = *copies_[next_];
    next_ = (next_ + 1) % copies_.size();
    const auto start = now();
    try {
        if (auto executed = executable.execute(); !executed) {
            return tl::unexpected(executed.error());
        }
    } catch (const EngineLost& lost) {
        return core::fail(lost.what());
    }
    const std::chrono::nanoseconds taken = now() - start;
    return executable.device_time().value_or(executable.execute_time().value_or(taken));
}

core::Result<void> MeasuredCase::warm_up() {
    const auto end = Clock::now() + longest_warm_up;
    double before = 0;
    for (bool first = true; Clock::now() < end; first = false) {
        std::vector<double> times;
        for (std::size_t i = 0; i < window; ++i) {
            const auto time = execute();
            if (!time) {
                return tl::unexpected(time.error());
            }
            times.push_back(static_cast<double>(time->count()));
        }
        const double now = median(times);
        if (!first && now >= settled * before) {
            break;
        }
        before = now;
    }
    return {};
}

}  // namespace dmlconform::bench
