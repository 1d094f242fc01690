// Checks the options that `dmlconform bench` forwards to Google Benchmark. Google Benchmark would only warn about
// invalid values and continue, or wait forever for a time that is not a number. Here they are errors before anything is
// timed.
#pragma once

#include <string>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::app {

/// The option in a form that every version of Google Benchmark accepts, or what is wrong with it.
[[nodiscard]] core::Result<std::string> google_benchmark_option(const std::string& word);

/// The same for all options; the first error if there is one.
[[nodiscard]] core::Result<std::vector<std::string>> google_benchmark_options(const std::vector<std::string>& words);

}  // namespace dmlconform::app
