// How long each benchmark is timed, and when it has been repeated often enough.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "engine/bench/steadiness.h"

namespace dmlconform::bench {

/// Repetitions after which a benchmark may stop early: with five on each side, the Mann-Whitney test can find a
/// difference.
inline constexpr std::size_t least_repetitions = 5;

/// A repetition takes this many seconds at least: of less, the calls that read the clock are a noticeable part.
inline constexpr double shortest_repetition = 1e-4;

struct PaceSettings {
    /// Seconds that a repetition takes at least; nothing: `usual_min_time`.
    std::optional<double> min_time{};
    /// How often every benchmark is repeated; nothing: until it has settled, at most `usual_repetitions` times.
    std::optional<std::size_t> repetitions{};
    /// Seconds for all benchmarks together.
    std::optional<double> budget{};
    double usual_min_time = 0.2;
    std::size_t usual_repetitions = 9;
};

/// Whether more repetitions would say little more: there are least_repetitions, they do not drift, and the standard
/// error of their median is at most 0.5 %.
[[nodiscard]] bool has_settled(std::span<const double> seconds, TimedBy timed_by);

/// What one benchmark may take.
struct Share {
    using Clock = std::chrono::steady_clock;

    Clock::time_point begun;
    /// Seconds from then on, with everything that is done before the first repetition; nothing: no limit.
    std::optional<double> seconds;

    [[nodiscard]] double spent(Clock::time_point now) const;
    /// Whether another repetition, which takes as long as the last one, would go beyond it.
    [[nodiscard]] bool has_time_for(double repetition, Clock::time_point now) const;
};

/// Divides the time among benchmarks.
class Pace {
public:
    Pace(const PaceSettings& settings, Share::Clock::time_point begun) : settings_(settings), begun_(begun) {}

    /// The share of the next benchmark, of which there are `left` with it: what others did not need is divided, too.
    [[nodiscard]] Share share(std::size_t left, Share::Clock::time_point now) const;
    /// Seconds that a repetition should take by the clock that times it. `own_share`: of the time that passes, the part
    /// that this clock counts. An engine in another process may take ten times as long as what it times.
    [[nodiscard]] double min_time(const Share& share, double own_share, Share::Clock::time_point now) const;
    /// Whether a repetition is given up, because the clock that times it counts next to nothing of the time that
    /// passes: the repetition would not end. `seconds`: what it has counted since `begun`.
    [[nodiscard]] static bool stands_still(double seconds, Share::Clock::time_point begun,
                                           const std::optional<Share>& share, Share::Clock::time_point now);
    /// How many repetitions there are at most.
    [[nodiscard]] std::size_t most_repetitions() const;
    /// Whether the repetitions so far are enough.
    [[nodiscard]] bool enough(std::span<const double> seconds, TimedBy timed_by, double last_repetition,
                              const Share& share, Share::Clock::time_point now) const;

private:
    PaceSettings settings_;
    Share::Clock::time_point begun_;
};

}  // namespace dmlconform::bench
