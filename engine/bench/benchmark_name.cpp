// Recognises and replaces the endings of names.
#include "engine/bench/benchmark_name.h"

#include <array>

namespace dmlconform::bench {
namespace {

/// The longest ending first.
constexpr std::array<BenchmarkName, 3> endings{{{"/process_time/manual_time", "the processor's clock", true},
                                                {"/manual_time", "the clock of the device or the worker", false},
                                                {"/real_time", "the wall clock", false}}};

}  // namespace

BenchmarkName split_name(std::string_view name) {
    for (const BenchmarkName& ending : endings) {
        if (name.ends_with(ending.name)) {
            return {name.substr(0, name.size() - ending.name.size()), ending.clock, ending.by_processor};
        }
    }
    return {name, {}, false};
}

}  // namespace dmlconform::bench
