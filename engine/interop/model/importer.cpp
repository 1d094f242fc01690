// Converts a model's graph: its inputs, its nodes, its outputs.
#include "engine/interop/model/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>

#include "engine/core/utf8.h"
#include "engine/interop/model/importing.h"
#include "engine/interop/model/memory_limit.h"
#include "engine/interop/model/skeleton.h"
#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {
namespace {

using Names = std::vector<std::string_view>;

void add_names(const auto& messages, Names& names) {
    std::ranges::transform(messages, std::back_inserter(names), onnx::name_of);
}

/// Which of two values with the same name is read would be a matter of chance. Sorts the names.
core::Result<void> check_once(Names& names) {
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    return twice == names.end()
               ? core::Result<void>()
               : core::fail(fmt::format("two values are called \"{}\"", core::shortened(std::string(*twice), 60)),
                            "each input, initializer and output of a node needs a name of its own");
}

}  // namespace

Importer::Importer(const onnx::ModelProto& model, const std::filesystem::path& path, const ModelOptions& options)
    : model_(model), path_(path), options_(options), memory_(onnx::memory_inside(model)) {}

core::Result<void> Importer::check_names() const {
    const onnx::GraphProto& graph = model_.graph();
    const auto sum = [](std::size_t so_far, const onnx::NodeProto& node) { return so_far + node.output().size(); };
    const std::size_t most = graph.input().size() +
                             2 * (graph.initializer().size() + graph.sparse_initializer().size()) +
                             std::accumulate(graph.node().begin(), graph.node().end(), std::size_t{0}, sum);
    if (auto fits = check_memory(most * sizeof(std::string_view)); !fits) {
        return fits;
    }
    Names initializers;
    add_names(graph.initializer(), initializers);
    for (const onnx::SparseTensorProto& tensor : graph.sparse_initializer()) {
        initializers.push_back(tensor.values().name());
    }
    Names names;
    names.reserve(most);
    add_names(graph.input(), names);
    auto done = check_once(initializers);
    done = done ? check_once(names) : done;
    if (!done) {
        return done;
    }
    // An initializer may be the default of an input.
    const auto inputs = static_cast<std::ptrdiff_t>(names.size());
    std::ranges::copy_if(initializers, std::back_inserter(names), [&](std::string_view name) {
        return !std::binary_search(names.begin(), names.begin() + inputs, name);
    });
    for (const onnx::NodeProto& node : graph.node()) {
        std::ranges::copy_if(node.output(), std::back_inserter(names),
                             [](const std::string& name) { return !name.empty(); });
    }
    return check_once(names);
}

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
    auto done = check_names();
    done = done ? find_names() : done;
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
