// What one result, of `bench` or of `run`, adds to a history.
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

/// What an engine ran on.
struct Device {
    std::string engine;
    std::string adapter;
    /// Empty where there is none.
    std::string driver;
};

/// The times of one benchmark.
struct Times {
    std::string benchmark;
    /// Name of one of the record's devices; empty for benchmarks that are not ours.
    std::string engine;
    /// For one iteration each, one for each repetition; never empty.
    std::vector<double> seconds;
    /// The median of the repetitions, where the file has it.
    std::optional<double> percent_of_roofline;
};

/// How the cases of one operator ended on one engine.
struct Outcome {
    std::string engine;
    /// Without "DML_OPERATOR_".
    std::string operator_name;
    /// On the gate, or off it.
    bool gated = true;
    /// By run::Status.
    std::array<std::uint64_t, run::status_count> counts{};
    /// All executions together.
    double seconds = 0;
};

struct Record {
    Kind kind = Kind::bench;
    /// Seconds since 1970, UTC; nothing where the file does not say.
    std::optional<std::int64_t> measured;
    /// Empty where the file does not say.
    std::string machine;
    std::vector<Device> devices;
    std::vector<Times> times;
    std::vector<Outcome> outcomes;

    /// The device of that engine; null if there is none.
    [[nodiscard]] const Device* device(const std::string& engine) const;
};

/// Reads a result of `dmlconform run --json`, or Google Benchmark's JSON from whatever wrote it. Errors name file and
/// member.
[[nodiscard]] core::Result<Record> read_record(const std::string& path);

/// The same for two records exactly when all of what they hold is the same, for all practical purposes.
[[nodiscard]] std::string fingerprint(const Record& record);

}  // namespace dmlconform::history
