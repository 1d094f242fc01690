// What an import takes in memory, which is limited.
#include <fmt/format.h>

#include "engine/core/utf8.h"
#include "engine/interop/model/importing.h"
#include "engine/interop/model/memory_limit.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {

core::Result<void> Importer::check_memory(std::uint64_t more) const {
    const std::uint64_t later = options_.memory_per_node * builder_.node_count();
    if (memory_ + scope_memory_ + builder_.memory() + later + more <= options_.memory) {
        return {};
    }
    return tl::unexpected(too_much_memory(
        nodes_.empty() ? "" : fmt::format("at node \"{}\": ", core::shortened(nodes_.back().name, 60))));
}

std::uint64_t Importer::memory_of(const ModelNode& node) {
    return sizeof(ModelNode) + onnx::memory_of_text(node.name.size()) + onnx::memory_of_text(node.type.size());
}

std::uint64_t Importer::memory_of(const Cut& cut) {
    // Cuts are in a list that doubles, and once more in the result, as texts.
    std::uint64_t bytes = 4 * sizeof(Cut) + 2 * memory_of(cut.cut.node) +
                          3 * onnx::memory_of_text(cut.cut.reason.size()) +
                          onnx::memory_of_block(cut.reads.size() * sizeof(OnnxTensor)) +
                          onnx::memory_of_block(cut.values.size() * sizeof(std::string));
    for (const OnnxTensor& tensor : cut.reads) {
        bytes += onnx::memory_of_text(tensor.value.size()) +
                 onnx::memory_of_block(tensor.sizes.size() * sizeof(tensor.sizes.front()));
    }
    for (const std::string& value : cut.values) {
        bytes += onnx::memory_of_text(value.size());
    }
    return bytes;
}

}  // namespace dmlconform::interop
