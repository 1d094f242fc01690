// Names of benchmarks, which end with the clock that times them, as Google Benchmark writes it.
#pragma once

#include <string_view>

namespace dmlconform::bench {

struct BenchmarkName {
    /// Without the clock.
    std::string_view name;
    /// "the processor's clock", for example; empty if the name does not tell.
    std::string_view clock;
    bool by_processor = false;
};

[[nodiscard]] BenchmarkName split_name(std::string_view name);

}  // namespace dmlconform::bench
