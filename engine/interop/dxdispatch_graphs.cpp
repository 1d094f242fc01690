// Reads files with the readers of models, and puts single operators into graphs.
#include "engine/interop/dxdispatch_graphs.h"

#include <fmt/format.h>

#include <utility>

#include "engine/cases/element_reader.h"
#include "engine/core/utf8.h"
#include "engine/interop/model/model_case.h"
#include "engine/interop/neighbour_file.h"
#include "engine/operators/graph.h"
#if DMLCONFORM_HAS_DML_GRAPH
#include "engine/interop/dml_graph/dml_graph_case.h"
#endif

namespace dmlconform::interop {
namespace {

using cases::JsonValue;

core::Result<DispatchedGraph> read_serialised([[maybe_unused]] const std::filesystem::path& path) {
#if DMLCONFORM_HAS_DML_GRAPH
    auto graph = read_dml_graph_case(path);
    if (!graph) {
        return tl::unexpected(graph.error());
    }
    return DispatchedGraph{graph->subject, std::move(graph->inputs), std::move(graph->outputs),
                           std::move(graph->notes)};
#else
    return core::fail("this program was built without FlatBuffers, with which serialised graphs are read");
#endif
}

core::Result<std::uint32_t> size_of(const JsonValue& value, const char* key) {
    const auto integer = cases::integer_of(value);
    if (!integer || integer->negative || integer->magnitude == 0 || integer->magnitude > 0x7fffffff) {
        return core::fail(fmt::format("\"{}\" has a size that is not a number of at least 1", key));
    }
    return static_cast<std::uint32_t>(integer->magnitude);
}

/// "freeDimensionNameOverrides": { "N": 2 }.
core::Result<std::map<std::string, std::uint32_t>> dimensions_of(const JsonValue& dispatchable) {
    constexpr const char* key = "freeDimensionNameOverrides";
    std::map<std::string, std::uint32_t> dimensions;
    const JsonValue* written = dispatchable.find(key);
    if (written == nullptr) {
        return dimensions;
    }
    if (written->object() == nullptr) {
        return core::fail(fmt::format("\"{}\" must be an object", key));
    }
    for (const cases::JsonMember& member : *written->object()) {
        const auto size = size_of(member.value, key);
        if (!size) {
            return tl::unexpected(size.error());
        }
        dimensions.insert_or_assign(member.key, *size);
    }
    return dimensions;
}

/// The shapes of bindings: "x0": { "name": "a", "shape": [1,2] }.
core::Result<std::map<std::string, core::Dimensions>> shapes_of(const JsonValue* bindings) {
    std::map<std::string, core::Dimensions> shapes;
    if (bindings == nullptr || bindings->object() == nullptr) {
        return shapes;
    }
    for (const cases::JsonMember& member : *bindings->object()) {
        const JsonValue* shape = member.value.find("shape");
        if (shape == nullptr) {
            continue;
        }
        if (shape->array() == nullptr) {
            return core::fail("\"shape\" must be an array of sizes");
        }
        core::Dimensions sizes;
        for (const JsonValue& item : *shape->array()) {
            const auto size = size_of(item, "shape");
            if (!size) {
                return tl::unexpected(size.error());
            }
            sizes.push_back(*size);
        }
        shapes.insert_or_assign(member.key, std::move(sizes));
    }
    return shapes;
}

core::Result<DispatchedGraph> read_onnx(const std::filesystem::path& path, const JsonValue& dispatchable,
                                        const JsonValue* bindings) {
    auto dimensions = dimensions_of(dispatchable);
    auto shapes = shapes_of(bindings);
    if (!dimensions || !shapes) {
        return tl::unexpected(dimensions ? shapes.error() : dimensions.error());
    }
    ModelCaseOptions options;
    options.dimensions = std::move(*dimensions);
    options.input_sizes = std::move(*shapes);
    auto model = read_model_case(path, options);
    if (!model) {
        return tl::unexpected(model.error());
    }
    DispatchedGraph result;
    result.subject = model->subject;
    result.may_be_unbound = true;
    result.notes = std::move(model->model.notes);
    for (const ModelInput& input : model->model.inputs) {
        result.inputs.push_back(input.data ? "" : input.name);
    }
    for (const ModelOutput& output : model->model.outputs) {
        result.outputs.push_back(output.name);
    }
    for (const ModelCut& cut : model->model.cuts) {
        result.notes.push_back(fmt::format("node {} ({}) is not in the graph: {}", core::shortened(cut.node.name, 60),
                                           core::shortened(cut.node.type, 60), cut.reason));
    }
    return result;
}

}  // namespace

bool is_dispatched_file(const std::string& type) {
    return type == "onnx" || type == "dmlSerializedGraph";
}

core::Result<DispatchedGraph> read_dispatched_file(const std::string& type, const JsonValue& dispatchable,
                                                   const JsonValue* bindings, const std::filesystem::path& folder) {
    const JsonValue* source = dispatchable.find("sourcePath");
    if (source == nullptr || source->string() == nullptr) {
        return core::fail(fmt::format("a dispatchable of type {} needs a \"sourcePath\"", type));
    }
    const auto path = neighbour_file(*source->string(), folder / "model", "\"sourcePath\"");
    if (!path) {
        return tl::unexpected(path.error());
    }
    auto graph = type == "onnx" ? read_onnx(*path, dispatchable, bindings) : read_serialised(*path);
    return graph ? std::move(graph)
                 : core::fail(fmt::format("\"{}\": {}", core::shortened(*source->string(), 60), graph.error().message),
                              graph.error().hint);
}

std::shared_ptr<const operators::Descriptor> graph_of_one(const std::string& name,
                                                          std::shared_ptr<const operators::Descriptor> descriptor) {
    operators::Graph graph;
    operators::GraphNode node{name, descriptor, {}, {}};
    const auto inputs = descriptor->inputs();
    const auto outputs = descriptor->outputs();
    for (const operators::TensorSlot& slot : inputs) {
        node.inputs.push_back(slot.desc == nullptr ? operators::no_value : graph.values.size());
        if (slot.desc != nullptr) {
            graph.inputs.push_back(graph.values.size());
            const bool constant = slot.desc->flags == core::TensorFlags::owned_by_dml;
            graph.values.push_back({slot.name, *slot.desc, std::nullopt, constant});
        }
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        node.outputs.push_back(outputs[i].desc == nullptr ? operators::no_value : graph.values.size());
        if (outputs[i].desc != nullptr) {
            graph.outputs.push_back(graph.values.size());
            graph.values.push_back({outputs[i].name, *outputs[i].desc, operators::GraphValue::Producer{0, i}, false});
        }
    }
    graph.nodes.push_back(std::move(node));
    return operators::graph_descriptor(std::make_shared<const operators::Graph>(std::move(graph)));
}

}  // namespace dmlconform::interop
