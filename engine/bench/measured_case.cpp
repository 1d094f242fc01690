// Preparation and execution of cases that are measured.
#include "engine/bench/measured_case.h"

#include <algorithm>
#include <ctime>

#include "engine/bench/quantiles.h"
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

/// A GPU that was idle raises its clock over some tenths of a second of work. Times may agree before, at the bottom.
constexpr std::chrono::milliseconds least_busy{500};
constexpr std::chrono::seconds longest_warm_up_of_devices{3};

/// Executions that are submitted together take no longer than this, by what the last one took: systems reset a device
/// that works on one submission for seconds.
constexpr std::chrono::milliseconds longest_turn{20};

/// Executions that take less are timed together until they take as long. Reading the clock takes a GPU several
/// microseconds, in which it does nothing else.
constexpr std::chrono::microseconds least_timed{200};
constexpr std::int64_t most_timed_together = 32;

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

Executable& MeasuredCase::next_copy() {
    Executable& executable = *copies_[next_];
    next_ = (next_ + 1) % copies_.size();
    return executable;
}

core::Result<std::chrono::nanoseconds> MeasuredCase::execute_once() {
    Executable& executable = next_copy();
    const auto start = now();
    if (auto executed = executable.execute(); !executed) {
        return tl::unexpected(executed.error());
    }
    const std::chrono::nanoseconds taken = now() - start;
    last_device_time_ = executable.device_time();
    return last_device_time_.value_or(executable.execute_time().value_or(taken));
}

core::Result<void> MeasuredCase::execute_in_turn(ExecutionsInTurn& first) {
    const auto last = std::max(*last_device_time_, std::chrono::nanoseconds(1));
    const auto per_time =
        static_cast<std::size_t>(std::clamp<std::int64_t>(least_timed / last, 1, most_timed_together));
    const auto fitting = static_cast<std::size_t>(longest_turn / last) / per_time;
    const std::size_t times_wanted = std::clamp<std::size_t>(fitting, 1, first.most_times());
    std::vector<Executable*> turn;
    while (turn.size() < times_wanted * per_time) {
        turn.push_back(&next_copy());
    }
    const auto times = first.execute_in_turn(turn, per_time);
    if (!times) {
        return tl::unexpected(times.error());
    }
    told_later_.assign(times->begin(), times->end());
    last_device_time_ = times->back();
    return {};
}

core::Result<std::chrono::nanoseconds> MeasuredCase::execute() {
    try {
        auto* const in_turn = dynamic_cast<ExecutionsInTurn*>(copies_.front().get());
        if (in_turn == nullptr || !last_device_time_) {
            return execute_once();
        }
        if (told_later_.empty()) {
            if (auto executed = execute_in_turn(*in_turn); !executed) {
                return tl::unexpected(executed.error());
            }
        }
    } catch (const EngineLost& lost) {
        return core::fail(lost.what());
    }
    const auto time = told_later_.front();
    told_later_.pop_front();
    return time;
}

core::Result<void> MeasuredCase::warm_up() {
    const auto start = Clock::now();
    std::chrono::nanoseconds busy{0};
    double before = 0;
    for (bool first = true;; first = false) {
        std::vector<double> times;
        for (std::size_t i = 0; i < window; ++i) {
            const auto time = execute();
            if (!time) {
                return tl::unexpected(time.error());
            }
            busy += *time;
            times.push_back(static_cast<double>(time->count()));
        }
        const bool is_device = last_device_time_.has_value();
        const double now = median(times);
        const bool has_settled = !first && now >= settled * before && (!is_device || busy >= least_busy);
        if (has_settled || Clock::now() - start >= (is_device ? longest_warm_up_of_devices : longest_warm_up)) {
            return {};
        }
        before = now;
    }
}

}  // namespace dmlconform::bench
