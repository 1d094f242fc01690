// Prepares and executes cases that are measured.
#include "engine/bench/measured_case.h"

#include <algorithm>

#include "engine/bench/quantiles.h"
#include "engine/cases/filled_inputs.h"
#include "engine/core/processor_clock.h"
#include "engine/engine_lost.h"
#include "engine/graph_measurements.h"
#include "engine/operators/rules.h"

namespace dmlconform::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Limit for copies of a case; creating more would take longer than using them.
constexpr double most_copies = 64;

/// Times have settled when the median of this many executions is not below that of the preceding ones.
constexpr std::size_t window = 5;
constexpr double settled = 0.98;
constexpr std::chrono::seconds longest_warm_up{1};

/// An idle GPU raises its clock over some tenths of a second of work. Before that, times may be constant at the lowest
/// clock.
constexpr std::chrono::milliseconds least_busy{500};
constexpr std::chrono::seconds longest_warm_up_of_devices{3};

/// Limit for the time of a submission, estimated from the last execution: systems reset a device that works on one
/// submission for seconds.
constexpr std::chrono::milliseconds longest_turn{20};

/// Shorter executions are timed together until they take this long. Reading the clock takes a GPU several microseconds,
/// in which it is idle.
constexpr std::chrono::microseconds least_timed{200};
constexpr std::int64_t most_timed_together = 32;

/// Reading the processor's clock is a system call. Executions are timed together until that is one part of so many.
constexpr std::int64_t readings_per_time = 100;
constexpr std::int64_t most_between_readings = 1024;

}  // namespace

core::Result<std::unique_ptr<MeasuredCase>> MeasuredCase::create(const cases::Case& subject, Engine& engine,
                                                                 double working_set) {
    std::unique_ptr<MeasuredCase> measured(new MeasuredCase);
    measured->other_process_ = dynamic_cast<const ProcessorMeasurements*>(&engine);
    const operators::Descriptor& descriptor = *subject.descriptor;
    auto inputs = cases::filled_inputs(subject);
    if (!inputs) {
        return tl::unexpected(inputs.error());
    }
    measured->inputs_ = std::move(inputs->tensors);
    const double copies = std::clamp(working_set / operators::element_bytes(descriptor) + 1, 1.0, most_copies);
    for (int i = 0; i < static_cast<int>(copies); ++i) {
        auto executable = descriptor.graph == nullptr ? engine.compile(descriptor) : engine.compile_graph(descriptor);
        if (!executable) {
            return core::fail(executable.error().rejection.message);
        }
        if (auto bound = (*executable)->bind(inputs->pointers); !bound) {
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
    if (other_process_ != nullptr) {
        const auto use = other_process_->processor_use();
        return use ? use->used : std::chrono::nanoseconds(0);
    }
    // The clock adds up all threads.
    return core::processor_time_of_this_process().value_or(std::chrono::nanoseconds(0));
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
    return last_device_time_.value_or(cpu_time_ ? taken : executable.execute_time().value_or(taken));
}

core::Result<void> MeasuredCase::execute_between_readings() {
    const auto least = readings_per_time * core::cost_of_processor_clock();
    const auto last = std::max(last_cpu_time_, std::chrono::nanoseconds(1));
    const std::int64_t count =
        last_cpu_time_.count() == 0 ? 1 : std::clamp<std::int64_t>(least / last, 1, most_between_readings);
    const auto start = now();
    for (std::int64_t i = 0; i < count; ++i) {
        if (auto executed = next_copy().execute(); !executed) {
            return executed;
        }
    }
    last_cpu_time_ = (now() - start) / count;
    told_later_.assign(static_cast<std::size_t>(count), last_cpu_time_);
    return {};
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
        const bool by_this_process = cpu_time_ && other_process_ == nullptr;
        if (!by_this_process && (in_turn == nullptr || !last_device_time_)) {
            return execute_once();
        }
        if (told_later_.empty()) {
            if (auto executed = by_this_process ? execute_between_readings() : execute_in_turn(*in_turn); !executed) {
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

std::vector<std::chrono::nanoseconds> MeasuredCase::node_times() {
    Executable& executable = *copies_.front();
    if (auto* graph = dynamic_cast<GraphMeasurements*>(&executable)) {
        return graph->time_nodes().value_or(std::vector<std::chrono::nanoseconds>());
    }
    return executable.node_times();
}

core::Result<void> MeasuredCase::warm_up(std::optional<double> limit) {
    const auto start = Clock::now();
    const auto passed = [start] { return std::chrono::duration<double>(Clock::now() - start); };
    std::chrono::nanoseconds busy{0};
    double before = 0;
    bool is_over = false;
    for (bool first = true; !is_over; first = false) {
        std::vector<double> times;
        while (times.size() < window && !is_over) {
            const auto time = execute();
            if (!time) {
                return tl::unexpected(time.error());
            }
            busy += *time;
            if (cpu_time_) {
                // Whatever else was executed between the same two readings of the clock.
                busy += *time * told_later_.size();
                told_later_.clear();
            }
            times.push_back(static_cast<double>(time->count()));
            const std::chrono::duration<double> longest =
                last_device_time_ ? longest_warm_up_of_devices : longest_warm_up;
            is_over = passed() >= longest || (limit && passed().count() >= *limit / 4);
        }
        const double now = median(times);
        const bool has_settled = !first && now >= settled * before && (!last_device_time_ || busy >= least_busy);
        is_over = is_over || has_settled;
        before = now;
    }
    own_share_ = std::chrono::duration<double>(busy) / passed();
    return {};
}

}  // namespace dmlconform::bench
