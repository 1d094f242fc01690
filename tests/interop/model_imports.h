// Builds models, imports them as graphs, and computes these node by node with the reference.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/reference.h"
#include "engine/interop/model/importer.h"
#include "tests/interop/onnx_models.h"

namespace dmlconform::tests {

/// The model of a ModelTest. Its outputs have names only.
[[nodiscard]] inline onnx::ModelProto model_of(const ModelTest& test) {
    onnx::ModelProto model;
    model.opset_import.add().version.set(test.opset);
    onnx::GraphProto& graph = model.graph.edit();
    for (const onnx::NodeProto& one : test.nodes) {
        graph.node.add(one);
    }
    for (const auto& [name, tensor] : test.initializers) {
        graph.initializer.add(tensor);
        graph.initializer.edit(graph.initializer.size() - 1).name.set(name);
    }
    for (const auto& [name, tensor] : test.inputs) {
        onnx::ValueInfoProto& input = graph.input.add();
        input.name.set(name);
        onnx::TensorTypeProto& type = input.type.edit().tensor_type.edit();
        type.elem_type.set(tensor.data_type());
        type.shape.edit();
        for (const std::int64_t size : tensor.dims()) {
            type.shape.edit().dim.add().dim_value.set(size);
        }
    }
    for (const auto& [name, tensor] : test.outputs) {
        graph.output.add().name.set(name);
    }
    return model;
}

[[nodiscard]] inline interop::ImportedModel graph_of(const onnx::ModelProto& model,
                                                     const interop::ModelOptions& options = {}) {
    auto imported = interop::import_model(model, "model.onnx", options);
    if (!imported) {
        ADD_FAILURE() << imported.error().message;
        interop::ImportedModel empty;
        empty.graph = std::make_shared<operators::Graph>();
        return empty;
    }
    return std::move(*imported);
}

/// The names of the graph's operators, in its order.
[[nodiscard]] inline std::vector<std::string> operators_of(const interop::ImportedModel& model) {
    std::vector<std::string> names;
    for (const operators::GraphNode& node : model.graph->nodes) {
        names.emplace_back(node.descriptor->schema->short_name());
    }
    return names;
}

[[nodiscard]] inline std::vector<std::string> cuts_of(const interop::ImportedModel& model) {
    std::vector<std::string> lines;
    for (const interop::ModelCut& cut : model.cuts) {
        lines.push_back(cut.node.type + ": " + cut.reason);
    }
    return lines;
}

/// The graph's outputs as computed by the reference. `given` contains the model's inputs.
[[nodiscard]] inline std::vector<std::vector<double>> values_of(const interop::ImportedModel& model,
                                                                const NamedTensors& given) {
    const operators::Graph& graph = *model.graph;
    std::map<operators::ValueIndex, core::Tensor> values;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        core::Tensor& tensor = values.emplace(graph.inputs[i], graph.values[graph.inputs[i]].desc).first->second;
        const auto found = std::ranges::find(given, model.inputs[i].name, &NamedTensors::value_type::first);
        const auto data = model.inputs[i].data ? core::Result<void>(model.inputs[i].data->fill(tensor))
                          : found == given.end()
                              ? core::Result<void>(core::fail(model.inputs[i].name + " has no data"))
                              : cases::given_elements(interop::onnx_tensor(found->second)->elements).fill(tensor);
        if (!data) {
            ADD_FAILURE() << data.error().message;
            return {};
        }
    }
    for (const operators::GraphNode& node : graph.nodes) {
        std::vector<core::Tensor> seen(node.inputs.size());
        std::vector<const core::Tensor*> pointers;
        const auto slots = node.descriptor->inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc == nullptr) {
                pointers.push_back(nullptr);
                continue;
            }
            seen[i] = core::Tensor(*slots[i].desc);
            const auto from = values.at(node.inputs[i]).buffer.bytes();
            EXPECT_GE(from.size(), seen[i].buffer.bytes().size()) << node.name << ", " << slots[i].name;
            std::ranges::copy(from.first(std::min(from.size(), seen[i].buffer.bytes().size())),
                              seen[i].buffer.bytes().begin());
            pointers.push_back(&seen[i]);
        }
        cpu::Reference computed = cpu::compute_reference(*node.descriptor, pointers);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            if (node.outputs[i] != operators::no_value) {
                values.insert_or_assign(node.outputs[i], std::move(computed.outputs[i]));
            }
        }
    }
    std::vector<std::vector<double>> results;
    for (const operators::ValueIndex output : graph.outputs) {
        const core::Tensor packed = core::packed_copy(values.at(output));
        std::vector<double>& numbers = results.emplace_back();
        for (std::uint64_t i = 0; i < *core::element_count(packed.desc.sizes); ++i) {
            numbers.push_back(core::decode_element(
                packed.desc.data_type, core::load_element(packed.buffer.bytes(), packed.desc.data_type, i)));
        }
    }
    return results;
}

}  // namespace dmlconform::tests
