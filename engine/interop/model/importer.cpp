// Converts a model's graph: its inputs, its nodes, its outputs.
#include "engine/interop/model/importer.h"

#include "engine/interop/model/importing.h"
#include "engine/interop/model/skeleton.h"

namespace dmlconform::interop {

Importer::Importer(const onnx::ModelProto& model, const std::filesystem::path& path, const ModelOptions& options)
    : model_(model), path_(path), options_(options) {
    for (const onnx::FunctionProto& function : model.functions()) {
        functions_.emplace(std::pair(function.domain(), function.name()), &function);
    }
    for (const onnx::ValueInfoProto& value : model.graph().value_info()) {
        declared_.emplace(value.name(), &value);
    }
    for (const onnx::ValueInfoProto& value : model.graph().output()) {
        declared_.emplace(value.name(), &value);
    }
}

core::Result<ImportedModel> Importer::import() {
    const onnx::GraphProto& graph = model_.graph();
    if (graph.node.size() == 0) {
        return core::fail("the model has no nodes");
    }
    Scope scope(nullptr, opsets_of(model_.opset_import()));
    add_initializers(graph, scope);
    if (const auto done = add_inputs(scope); !done) {
        return tl::unexpected(done.error());
    }
    std::unordered_set<std::string> outputs;
    for (const onnx::ValueInfoProto& output : graph.output()) {
        outputs.insert(output.name());
    }
    if (const auto done = import_nodes(graph.node(), std::move(outputs), scope, 0); !done) {
        return tl::unexpected(done.error());
    }
    if (taken_nodes_ != nullptr) {
        *taken_nodes_ = {};
    }
    // Only outputs of the model are looked up from here on. The other names would take memory while the graph is built.
    Scope ends(nullptr, {});
    for (const onnx::ValueInfoProto& output : graph.output()) {
        if (auto value = scope.find(output.name())) {
            ends.share(output.name(), std::move(value));
        }
    }
    scope = std::move(ends);
    return finish(scope);
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
    return import_without_nodes(*model, path, options);
}

}  // namespace dmlconform::interop
