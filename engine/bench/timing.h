// The times of benchmarks, by Google Benchmark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/bench/benchmarks.h"
#include "engine/bench/pace.h"

namespace dmlconform::bench {

/// What is printed while benchmarks run: a line for each, or what Google Benchmark's options ask for.
enum class Table : std::uint8_t { lines, google_benchmark };

struct TimingSettings {
    /// Google Benchmark's own, which repetitions and least time are taken out of.
    std::vector<std::string> options;
    /// See context_of.
    std::vector<std::pair<std::string, std::string>> context;
    PaceSettings pace;
    Table table = Table::lines;
    /// The standard output is for something else.
    bool table_on_stderr = false;
    /// How many characters fit a line; 0: any number.
    std::size_t width = 0;
    /// The format of the standard output, unless it has a line for each benchmark: "json", "console" or "csv".
    std::string table_format = "console";
    /// The format of the output file; empty: no file.
    std::string file_format;
    /// All benchmarks together, in an order of Google Benchmark's. Times are not divided among them then.
    bool interleaved = false;
    /// Only their names are printed.
    bool only_names = false;
};

struct Timed {
    /// How many benchmarks were to be timed, and how many have a time.
    std::size_t wanted = 0;
    std::size_t count = 0;
    /// How many executions failed.
    std::size_t failures = 0;
    /// What belongs into the file.
    std::string output;
};

/// Times what was checked. Each benchmark has the counters, all of them finite:
///   bytes_per_second, operations_per_second   the operator's least cost over the time measured
///   percent_of_roofline                        the time that the cost takes at the roofline's speed, of the time
///                                              measured
///   effective_bits                             of its precision, if the answer can tell: see docs/precision.md
///   unverified                                 1 where the answer was not checked
///   unsettled                                  1 where the repetitions drift; only in files
///   device_clock_mhz                           the device's clock rate after each repetition, where it can be read
/// Times are the device's where it has a clock, or what an engine in another process told ("manual time"), and
/// wall-clock times elsewhere.
[[nodiscard]] Timed time_benchmarks(const Checked& checked, const TimingSettings& settings,
                                    Share::Clock::time_point begun, Watcher& watcher);

/// The average number of runnable processes in the last minute, if it exceeds both 0.7 and a tenth of the
/// number of processors, so that they disturb times. Nothing otherwise, or if the system does not report it.
[[nodiscard]] std::optional<double> disturbing_load();

}  // namespace dmlconform::bench
