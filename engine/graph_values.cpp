// Keeps and releases the values of a graph.
#include "engine/graph_values.h"

#include <algorithm>

#include "engine/operators/graph_rules.h"

namespace dmlconform {

GraphValues::GraphValues(const operators::Graph& graph)
    : graph_(graph), order_(graph.execution_order()), last_uses_(operators::last_uses(graph, order_)) {}

void GraphValues::start(std::span<const core::Tensor* const> inputs) {
    computed_.clear();
    inputs_.assign(graph_.values.size(), nullptr);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
        inputs_[graph_.inputs[i]] = inputs[i];
    }
    in_files_ = std::ranges::any_of(
        inputs, [](const core::Tensor* input) { return input != nullptr && input->buffer.is_in_file(); });
}

NodeInputs GraphValues::inputs_of(const operators::GraphNode& node) const {
    NodeInputs inputs;
    const auto slots = node.descriptor->inputs();
    inputs.views.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            inputs.tensors.push_back(nullptr);
            continue;
        }
        const core::Tensor& held = at(node.inputs[i]);
        inputs.tensors.push_back(
            held.desc == *slots[i].desc ? &held : &inputs.views.emplace_back(seen_as(*slots[i].desc, held)));
    }
    return inputs;
}

core::Tensor& GraphValues::put(operators::ValueIndex index, core::Tensor tensor) {
    return computed_.insert_or_assign(index, std::move(tensor)).first->second;
}

const core::Tensor& GraphValues::at(operators::ValueIndex index) const {
    return inputs_[index] != nullptr ? *inputs_[index] : computed_.at(index);
}

void GraphValues::release_after(std::size_t position) {
    std::erase_if(computed_, [&](const auto& value) { return last_uses_[value.first] <= position; });
    leave_memory(graph_.nodes[order_[position]]);
}

void GraphValues::leave_memory(const operators::GraphNode& node) {
    if (!in_files_) {
        return;
    }
    for (const operators::ValueIndex value : node.inputs) {
        if (value != operators::no_value) {
            if (inputs_[value] != nullptr) {
                inputs_[value]->buffer.leave_memory();
            } else if (const auto held = computed_.find(value); held != computed_.end()) {
                held->second.buffer.leave_memory();
            }
        }
    }
    for (const operators::ValueIndex value : node.outputs) {
        if (const auto held = computed_.find(value); held != computed_.end()) {
            core::move_to_file(held->second);
        }
    }
}

core::Tensor seen_as(const core::TensorDesc& desc, const core::Tensor& from) {
    core::Tensor tensor(desc);
    const auto to = tensor.buffer.bytes();
    const auto bytes = from.buffer.bytes();
    std::copy_n(bytes.begin(), std::min(bytes.size(), to.size()), to.begin());
    return tensor;
}

}  // namespace dmlconform
