// libFuzzer target for reading a serialised DirectML graph. Any bytes must give either a legal graph or an error.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "engine/interop/dml_graph/dml_graph_case.h"
#include "engine/operators/graph_rules.h"

namespace {

/// Tensors up to this size are filled as well; larger ones would only slow down fuzzing.
constexpr std::uint64_t most_bytes = 1 << 16;

/// A file for this process, which is overwritten for each input.
const std::string& file_name() {
    static const std::string name = "/tmp/dmlconform-dml-graph-fuzzer-" + std::to_string(getpid()) + ".bin";
    return name;
}

void fill_inputs(const dmlconform::cases::Case& subject) {
    const auto slots = subject.descriptor->inputs();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc->total_bytes <= most_bytes) {
            dmlconform::core::Tensor tensor(*slots[i].desc);
            (void)subject.inputs[i]->fill(tensor);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace dmlconform;
    {
        std::ofstream file(file_name(), std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    }
    const auto graph = interop::read_dml_graph_case(file_name());
    std::remove(file_name().c_str());
    if (!graph) {
        if (graph.error().message.empty()) {
            __builtin_trap();
        }
        return 0;
    }
    if (operators::validate_graph(*graph->subject->descriptor->graph, core::highest_feature_level)) {
        __builtin_trap();
    }
    fill_inputs(*graph->subject);
    return 0;
}
