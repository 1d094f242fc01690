// Exports histories to other tools' formats.
#pragma once

#include <string>

#include "engine/history/record.h"
#include "engine/history/store.h"

namespace dmlconform::history {

/// Bencher Metric Format: benchmarks with latencies in nanoseconds, or operators with outcomes.
[[nodiscard]] std::string bencher_metrics(const Record& record);

/// Google Benchmark's JSON with every repetition.
[[nodiscard]] std::string google_benchmark_json(const Record& record, const Entry& entry);

/// CSV (RFC 4180) with one line for each number of the whole history: entry, kind, measured, commit, machine, engine,
/// adapter, driver, name, measure, value.
[[nodiscard]] core::Result<std::string> csv(Store& store);

}  // namespace dmlconform::history
