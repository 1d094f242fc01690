// A record: the part of one result of `bench` or `run` that a history keeps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/run/result.h"

namespace dmlconform::history {

enum class Kind : std::uint8_t { bench, run };

/// "bench", "run".
[[nodiscard]] const char* to_string(Kind kind);

/// The device of an engine.
struct Device {
    std::string engine;
    std::string adapter;
    /// Empty if there is none.
    std::string driver;
};

/// The times of one benchmark.
struct Times {
    std::string benchmark;
    /// The name of one of the record's devices; empty for other tools' benchmarks.
    std::string engine;
    /// Seconds per iteration, one for each repetition; never empty.
    std::vector<double> seconds;
    /// The median over the repetitions, if the file has it.
    std::optional<double> percent_of_roofline;
    /// How many of them each process measured, if there were several; otherwise empty.
    std::vector<std::size_t> by_process{};
    /// The operator, a blank, and a digest of its descriptor, which distinguish problems with the same name. Empty for
    /// other tools' benchmarks, and in entries that an earlier version added.
    std::string label{};

    /// What counts: the median of each process, or each repetition of a single one.
    [[nodiscard]] std::vector<double> sample() const;
};

/// The outcomes of one operator's cases on one engine.
struct Outcome {
    std::string engine;
    /// Without "DML_OPERATOR_".
    std::string operator_name;
    /// False for results off the gate.
    bool gated = true;
    /// Counts by run::Status.
    std::array<std::uint64_t, run::status_count> counts{};
    /// Total time of all executions.
    double seconds = 0;
};

struct Record {
    Kind kind = Kind::bench;
    /// Seconds since 1970, UTC; empty if the file does not tell.
    std::optional<std::int64_t> measured;
    /// Empty if the file does not tell.
    std::string machine;
    std::vector<Device> devices;
    std::vector<Times> times;
    std::vector<Outcome> outcomes;

    /// The device of that engine; null if there is none.
    [[nodiscard]] const Device* device(const std::string& engine) const;
};

/// Reads a result of `dmlconform run --json`, or Google Benchmark's JSON of any program. Errors name the file and the
/// member.
[[nodiscard]] core::Result<Record> read_record(const std::string& path);

/// A hash of the complete record, which identifies equal records.
[[nodiscard]] std::string fingerprint(const Record& record);

/// The same without labels, as earlier versions made it.
[[nodiscard]] std::string fingerprint_without_labels(Record record);

}  // namespace dmlconform::history
