// The options that `dmlconform bench` hands on to Google Benchmark, which tells of a value that it cannot read, goes on
// without it, and waits for ever for a time that is not a number. Here they are errors before anything is timed.
#pragma once

#include <string>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::app {

/// The option as every Google Benchmark reads it, or what is wrong with it.
[[nodiscard]] core::Result<std::string> google_benchmark_option(const std::string& word);

/// The same for all of them: the first error, if there is one.
[[nodiscard]] core::Result<std::vector<std::string>> google_benchmark_options(const std::vector<std::string>& words);

}  // namespace dmlconform::app
