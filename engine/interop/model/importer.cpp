// Converts a model's graph: its inputs, its nodes, its outputs.
#include "engine/interop/model/importer.h"

#include <algorithm>

#include "engine/interop/model/importing.h"
#include "engine/interop/model/memory_limit.h"
#include "engine/interop/model/skeleton.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {

Importer::Importer(const onnx::ModelProto& model, const std::filesystem::path& path, const ModelOptions& options)
    : model_(model), path_(path), options_(options), memory_(onnx::memory_inside(model)) {}

core::Result<void> Importer::find_names() {
    const onnx::GraphProto& graph = model_.graph();
    // A pointer beside names in a tree or a hash table. What becomes of an output has its name, type and sizes as well.
    constexpr std::uint64_t function = 160;
    constexpr std::uint64_t value = 96;
    constexpr std::uint64_t output = 1200;
    memory_ += model_.functions().size() * function + graph.value_info().size() * value +
               graph.output().size() * (value + output);
    for (const onnx::ValueInfoProto& one : graph.value_info()) {
        memory_ += onnx::memory_of_text(one.name().size());
    }
    if (auto fits = check_memory(); !fits) {
        return fits;
    }
    for (const onnx::FunctionProto& one : model_.functions()) {
        functions_.emplace(std::pair(one.domain(), one.name()), &one);
    }
    for (const auto* values : {&graph.value_info(), &graph.output()}) {
        for (const onnx::ValueInfoProto& one : *values) {
            declared_.emplace(one.name(), &one);
        }
    }
    return {};
}

std::size_t Importer::add_node_of_model(ModelNode node) {
    memory_ += memory_of(node);
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
}

core::Result<ImportedModel> Importer::import() {
    const onnx::GraphProto& graph = model_.graph();
    if (graph.node.size() == 0) {
        return core::fail("the model has no nodes");
    }
    Scope scope(nullptr, opsets_of(model_.opset_import()), scope_memory_);
    auto done = find_names();
    done = done ? add_initializers(graph, scope) : done;
    done = done ? add_inputs(scope) : done;
    if (!done) {
        return tl::unexpected(done.error());
    }
    builder_.reserve(graph.node().size());
    std::unordered_set<std::string> outputs;
    for (const onnx::ValueInfoProto& output : graph.output()) {
        outputs.insert(output.name());
    }
    done = import_nodes(graph.node(), std::move(outputs), scope, 0);
    if (!done) {
        return tl::unexpected(done.error());
    }
    // Only outputs of the model are looked up from here on. The other names would take memory while the graph is built.
    Scope ends(nullptr, {}, scope_memory_);
    for (const onnx::ValueInfoProto& output : graph.output()) {
        if (auto value = scope.find(output.name())) {
            ends.share(output.name(), std::move(value));
        }
    }
    scope.clear();
    return finish(ends);
}

core::Result<ImportedModel> import_model(const onnx::ModelProto& model, const std::filesystem::path& path,
                                         const ModelOptions& options) {
    return Importer(model, path, options).import();
}

core::Result<ImportedModel> import_without_nodes(onnx::ModelProto& model, const std::filesystem::path& path,
                                                 const ModelOptions& options) {
    Importer importer(model, path, options);
    if (model.graph.has()) {
        importer.take_nodes(model.graph.edit().node.edit());
    }
    return importer.import();
}

core::Result<ImportedModel> import_model(const std::filesystem::path& path, const ModelOptions& options) {
    auto model = read_model_skeleton(path);
    if (!model) {
        return tl::unexpected(model.error());
    }
    ModelOptions limited = options;
    limited.memory = std::min(limited.memory, memory_for_model_at(path));
    return import_without_nodes(*model, path, limited);
}

}  // namespace dmlconform::interop
