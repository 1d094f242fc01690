// Cases as benchmarks of Google Benchmark.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cases/case.h"
#include "engine/engine.h"

namespace dmlconform::bench {

struct BenchSettings {
    /// Rotates through copies of the tensors, so that the caches hold none of what an execution needs.
    bool cold = false;
    /// Times only what was found right before.
    bool verify = true;
    /// See MeasuredCase::use_cpu_time.
    bool cpu_time = false;
};

/// A case that is not timed on an engine, and why.
struct LeftOut {
    std::string name;
    std::string reason;
    /// The engine cannot do it; otherwise it does it wrong, or broke.
    bool skipped = false;
};

struct Registered {
    std::vector<LeftOut> left_out;
    /// Names of those that are timed by the clock of a device whose clock rate can be read. Processors that stand in
    /// for a graphics device have none, and whatever else they do disturbs their times.
    std::set<std::string> timed_by_devices;
    /// All are timed by the clocks of devices whose clock rates can be read: short repetitions are as good as long
    /// ones.
    bool by_steady_clocks = false;
};

/// Registers a benchmark "engine/id" for every case on every engine. Its counters, all of them finite:
///   bytes_per_second, operations_per_second   the operator's least cost over the time measured
///   percent_of_roofline                        the time that the cost takes at the roofline's speed, of the time
///                                              measured
///   unverified                                 1 where the answer was not checked
///   unsettled                                  1 where the repetitions drift; only in files
///   device_clock_mhz                           the device's clock rate after each repetition, where it can be read
/// Times are the device's where it has a clock, or what an engine in another process told ("manual time"), and
/// wall-clock times elsewhere. Cases and engines must outlive the run.
[[nodiscard]] Registered register_benchmarks(std::span<const cases::Case> cases,
                                             std::span<const std::unique_ptr<Engine>> engines,
                                             std::span<const std::optional<Roofline>> rooflines,
                                             const BenchSettings& settings);

/// What results are only comparable with: machine, engines, adapters, drivers, rooflines. For the "context" of
/// Google Benchmark's JSON.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> context_of(
    std::span<const std::unique_ptr<Engine>> engines, std::span<const std::optional<Roofline>> rooflines);

/// A file that Google Benchmark reports into; no path: none.
struct Output {
    std::string path{};
    /// "json", "console" or "csv".
    std::string format{};
};

enum class Written : std::uint8_t { nothing, everything, not_everything };

struct Timed {
    /// How many benchmarks ran.
    std::size_t count = 0;
    /// What the output has.
    Written output = Written::nothing;
};

/// What is printed while benchmarks run: a line for each, or what Google Benchmark's options ask for.
enum class Table : std::uint8_t { lines, google_benchmark };

/// Runs what is registered with Google Benchmark's own options.
[[nodiscard]] Timed run_registered(const Registered& registered, const std::vector<std::string>& options, Table table,
                                   const Output& output);

/// How many executions failed while they were timed.
[[nodiscard]] std::size_t failures();

}  // namespace dmlconform::bench
