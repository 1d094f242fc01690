// Divides the budget among benchmarks, and estimates the standard error of a median.
#include "engine/bench/pace.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/bench/quantiles.h"

namespace dmlconform::bench {
namespace {

constexpr double settled_error = 0.005;
/// With a budget, benchmarks that do not settle are repeated up to this often.
constexpr std::size_t most_repetitions_in_budget = 99;
/// Google Benchmark finds out how often to execute in one repetition. That takes about this many repetitions.
constexpr double repetitions_to_begin = 1.5;
/// Without a budget, a repetition takes at most this many times its least time.
constexpr double most_overhead = 2;
/// A clock that counts a smaller share of the time that passes stands still. One that counts more has counted
/// shortest_repetition after a second.
constexpr double least_own_share = 1e-4;
/// Seconds after which that is known. Clocks with steps of 16 ms count nothing of most short executions.
constexpr double long_enough = 5;
constexpr double long_enough_in_budget = 0.1;

}  // namespace

bool has_settled(std::span<const double> seconds, TimedBy timed_by) {
    if (seconds.size() < least_repetitions || is_unsettled(seconds, timed_by)) {
        return false;
    }
    // A normal distribution's middle half is 0.6745 standard deviations wide to each side.
    const double error = std::sqrt(std::numbers::pi / 2 / static_cast<double>(seconds.size())) *
                         spread({seconds.begin(), seconds.end()}) / 0.6745;
    return error <= settled_error;
}

double Share::spent(Clock::time_point now) const {
    return std::chrono::duration<double>(now - begun).count();
}

bool Share::has_time_for(double repetition, Clock::time_point now) const {
    return !seconds || spent(now) + repetition <= *seconds;
}

Share Pace::share(std::size_t left, Share::Clock::time_point now) const {
    if (!settings_.budget) {
        return {now, std::nullopt};
    }
    const double rest = *settings_.budget - std::chrono::duration<double>(now - begun_).count();
    return {now, std::max(rest, 0.0) / static_cast<double>(std::max<std::size_t>(left, 1))};
}

double Pace::min_time(const Share& share, double own_share, Share::Clock::time_point now) const {
    const double own = std::clamp(own_share, 0.0, 1.0);
    double seconds = settings_.min_time.value_or(std::min(1.0, most_overhead * own) * settings_.usual_min_time);
    if (share.seconds) {
        const double rest = std::max(*share.seconds - share.spent(now), 0.0);
        const auto wanted = static_cast<double>(settings_.repetitions.value_or(least_repetitions));
        seconds = std::min(seconds, own * rest / (wanted + repetitions_to_begin));
    }
    return std::max(seconds, shortest_repetition);
}

bool Pace::stands_still(double seconds, Share::Clock::time_point begun, const std::optional<Share>& share,
                        Share::Clock::time_point now) {
    const bool has_limit = share && share->seconds;
    const double limit =
        has_limit ? std::max(*share->seconds - share->spent(begun), long_enough_in_budget) : long_enough;
    const double passed = std::chrono::duration<double>(now - begun).count();
    return passed >= limit && seconds < least_own_share * passed;
}

std::size_t Pace::most_repetitions() const {
    return settings_.repetitions.value_or(settings_.budget ? most_repetitions_in_budget : settings_.usual_repetitions);
}

bool Pace::enough(std::span<const double> seconds, TimedBy timed_by, double last_repetition, const Share& share,
                  Share::Clock::time_point now) const {
    if (seconds.empty()) {
        return false;
    }
    return !share.has_time_for(last_repetition, now) || (!settings_.repetitions && has_settled(seconds, timed_by));
}

}  // namespace dmlconform::bench
