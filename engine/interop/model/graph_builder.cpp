// Adds nodes in order, then leaves out those that are not needed.
#include "engine/interop/model/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/interop/onnx_message_memory.h"

namespace dmlconform::interop {
namespace {

/// One-dimensional if there are more dimensions than operators support: readers describe the bytes themselves.
core::TensorDesc desc_of(const OnnxTensor& tensor) {
    const bool many = tensor.sizes.size() > core::max_dimension_count && tensor.count() <= 0xffffffff;
    return core::TensorDesc::packed(tensor.type,
                                    many ? core::Dimensions{static_cast<std::uint32_t>(tensor.count())} : tensor.sizes);
}

/// What a list of small numbers takes.
std::uint64_t memory_of_numbers(const auto& list) {
    return onnx::memory_of_block(list.size() * sizeof(list.front()));
}

std::uint64_t memory_of(const core::TensorDesc& desc) {
    return memory_of_numbers(desc.sizes) + (desc.strides ? memory_of_numbers(*desc.strides) : 0);
}

/// About what a descriptor takes, with what the rules keep of it, and its element in a set.
std::uint64_t memory_of(const operators::Descriptor& descriptor) {
    constexpr std::uint64_t around = 256;
    std::uint64_t bytes = around + onnx::memory_of_block(sizeof(operators::Descriptor)) +
                          onnx::memory_of_block(descriptor.values.size() * sizeof(operators::FieldValue));
    for (const operators::FieldValue& value : descriptor.values) {
        if (const auto* tensor = std::get_if<core::TensorDesc>(&value)) {
            bytes += memory_of(*tensor);
        } else if (const auto* tensors = std::get_if<operators::TensorDescArray>(&value)) {
            bytes += onnx::memory_of_block(tensors->items.capacity() * sizeof(core::TensorDesc));
            for (const core::TensorDesc& tensor_of_array : tensors->items) {
                bytes += memory_of(tensor_of_array);
            }
        } else if (const auto* numbers = std::get_if<std::vector<std::uint32_t>>(&value)) {
            bytes += memory_of_numbers(*numbers);
        } else if (const auto* others = std::get_if<std::vector<float>>(&value)) {
            bytes += memory_of_numbers(*others);
        }
    }
    return bytes;
}

}  // namespace

void GraphBuilder::reserve(std::size_t nodes) {
    graph_.nodes.reserve(nodes);
    graph_.values.reserve(nodes + declared_.size());
    origins_.reserve(nodes);
}

std::uint64_t GraphBuilder::memory() const {
    // A name's number and a value's index by name: an element of a hash table, and a pointer to it.
    constexpr std::uint64_t look_up = 40;
    constexpr std::uint64_t declared =
        2 * sizeof(void*) + onnx::memory_of_block(sizeof(decltype(declared_)::value_type));
    return memory_of_parts_ + declared_.size() * (declared + look_up) +
           graph_.nodes.capacity() * (sizeof(operators::GraphNode) + sizeof(std::size_t)) +
           graph_.values.capacity() * sizeof(operators::GraphValue) +
           (graph_.nodes.size() + 2 * graph_.values.size()) * look_up;
}

std::string GraphBuilder::unique_value_name(const std::string& name) {
    return value_names_.unique(name);
}

void GraphBuilder::declare(const std::string& value, ModelInput input) {
    memory_of_parts_ += onnx::memory_of_text(value.size()) + onnx::memory_of_text(input.name.size()) +
                        memory_of_numbers(input.tensor.sizes);
    declared_.insert_or_assign(value, std::move(input));
}

std::optional<operators::ValueIndex> GraphBuilder::find(const std::string& value) const {
    const auto found = by_name_.find(value);
    return found == by_name_.end() ? std::nullopt : std::optional(*found);
}

bool GraphBuilder::is_computed(const std::string& value) const {
    const auto index = find(value);
    return index && graph_.values[*index].producer;
}

operators::ValueIndex GraphBuilder::add_value(operators::GraphValue value) {
    memory_of_parts_ += onnx::memory_of_text(value.name.size()) + memory_of_numbers(value.desc.sizes);
    graph_.values.push_back(std::move(value));
    const operators::ValueIndex index = graph_.values.size() - 1;
    by_name_.insert(index);
    return index;
}

operators::ValueIndex GraphBuilder::read_value(const std::string& value) {
    if (const auto index = find(value)) {
        return *index;
    }
    // What becomes of an input: a field of the graph's descriptor, in lists that double, and data.
    memory_of_parts_ += sizeof(ModelInput) + 2 * (sizeof(operators::Field) + sizeof(operators::FieldValue));
    const ModelInput& input = declared_.at(value);
    return add_value({value, desc_of(input.tensor), std::nullopt, input.kind == ModelInput::Kind::constant});
}

operators::ValueIndex GraphBuilder::computed_value(const std::string& value, const core::TensorDesc& desc,
                                                   operators::GraphValue::Producer producer) {
    if (const auto index = find(value)) {
        graph_.values[*index].desc = desc;
        graph_.values[*index].producer = producer;
        return *index;
    }
    return add_value({value, desc, producer, false});
}

void GraphBuilder::add_node(const std::string& name, std::size_t origin, MappedNode node) {
    operators::GraphNode added{node_names_.unique(name), node.descriptor, {}, {}};
    const auto slots = node.descriptor->inputs();
    added.inputs.reserve(node.inputs.size());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (const auto* value = std::get_if<std::string>(&node.inputs[i])) {
            added.inputs.push_back(read_value(*value));
        } else if (auto* constant = std::get_if<cases::Initialiser>(&node.inputs[i])) {
            const std::string own = unique_value_name(fmt::format("{}.{}", added.name, slots[i].name));
            OnnxTensor tensor{slots[i].desc->data_type, slots[i].desc->sizes, {}, false, false};
            declare(own, {ModelInput::Kind::constant, own, tensor, std::move(*constant)});
            added.inputs.push_back(read_value(own));
        } else {
            added.inputs.push_back(operators::no_value);
        }
    }
    const auto outputs = node.descriptor->outputs();
    added.outputs.reserve(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (outputs[i].desc == nullptr) {
            added.outputs.push_back(operators::no_value);
            continue;
        }
        if (node.outputs[i].empty()) {
            node.outputs[i] = unique_value_name(fmt::format("{}.{}", added.name, outputs[i].name));
        }
        added.outputs.push_back(computed_value(node.outputs[i], *outputs[i].desc, {graph_.nodes.size(), i}));
    }
    if (descriptors_.insert(node.descriptor.get()).second) {
        memory_of_parts_ += memory_of(*node.descriptor);
    }
    memory_of_parts_ +=
        onnx::memory_of_text(added.name.size()) + memory_of_numbers(added.inputs) + memory_of_numbers(added.outputs);
    graph_.nodes.push_back(std::move(added));
    origins_.push_back(origin);
    needed_.push_back(false);
}

std::vector<std::string> GraphBuilder::need(const std::string& value) {
    std::vector<std::string> declared;
    std::vector<std::size_t> open;
    const auto need_one = [&](operators::ValueIndex index) {
        if (index == operators::no_value) {
            return;
        }
        const auto& producer = graph_.values[index].producer;
        if (!producer) {
            declared.push_back(graph_.values[index].name);
        } else if (!needed_[producer->node]) {
            needed_[producer->node] = true;
            open.push_back(producer->node);
        }
    };
    const auto first = find(value);
    if (!first) {
        return {value};
    }
    need_one(*first);
    while (!open.empty()) {
        const std::size_t node = open.back();
        open.pop_back();
        std::ranges::for_each(graph_.nodes[node].inputs, need_one);
    }
    return declared;
}

std::vector<bool> GraphBuilder::used_values() const {
    std::vector<bool> used(graph_.values.size());
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
        if (!needed_[n]) {
            continue;
        }
        for (const auto* indices : {&graph_.nodes[n].inputs, &graph_.nodes[n].outputs}) {
            for (const operators::ValueIndex index : *indices) {
                if (index != operators::no_value) {
                    used[index] = true;
                }
            }
        }
    }
    return used;
}

std::vector<operators::ValueIndex> GraphBuilder::keep_values(const std::vector<bool>& used) {
    std::vector<operators::ValueIndex> new_indices(used.size(), operators::no_value);
    auto& values = graph_.values;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < used.size(); ++i) {
        if (used[i]) {
            new_indices[i] = kept;
            if (i != kept) {
                values[kept] = std::move(values[i]);
            }
            ++kept;
        }
    }
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(kept), values.end());
    return new_indices;
}

void GraphBuilder::keep_nodes(const std::vector<operators::ValueIndex>& new_indices) {
    std::size_t kept = 0;
    for (std::size_t n = 0; n < needed_.size(); ++n) {
        if (!needed_[n]) {
            continue;
        }
        operators::GraphNode node = std::move(graph_.nodes[n]);
        for (auto* indices : {&node.inputs, &node.outputs}) {
            for (operators::ValueIndex& index : *indices) {
                index = index == operators::no_value ? index : new_indices[index];
            }
        }
        for (const operators::ValueIndex index : node.outputs) {
            if (index != operators::no_value) {
                graph_.values[index].producer->node = kept;
            }
        }
        origins_[kept] = origins_[n];
        graph_.nodes[kept++] = std::move(node);
    }
    graph_.nodes.erase(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(kept), graph_.nodes.end());
    origins_.resize(kept);
}

BuiltGraph GraphBuilder::finish(const std::vector<std::string>& outputs) {
    for (const std::string& value : outputs) {
        need(value);
        graph_.outputs.push_back(*find(value));
    }
    // Models may have very many nodes, so what is no longer needed makes room.
    by_name_.clear();
    descriptors_.clear();
    value_names_ = PlainNames();
    node_names_ = PlainNames();
    const std::vector<operators::ValueIndex> new_indices = keep_values(used_values());
    keep_nodes(new_indices);
    for (operators::ValueIndex& output : graph_.outputs) {
        output = new_indices[output];
    }
    BuiltGraph built;
    built.inputs.reserve(static_cast<std::size_t>(
        std::ranges::count_if(graph_.values, [](const auto& value) { return !value.producer.has_value(); })));
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
        if (!graph_.values[i].producer) {
            graph_.inputs.push_back(i);
            built.inputs.push_back(std::move(declared_.extract(graph_.values[i].name).mapped()));
        }
    }
    declared_.clear();
    built.graph = std::move(graph_);
    built.origins = std::move(origins_);
    return built;
}

}  // namespace dmlconform::interop
