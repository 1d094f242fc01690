// Keeps and releases the values of a graph.
#include "engine/graph_values.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "engine/operators/graph_rules.h"

namespace dmlconform {
namespace {

/// Smaller buffers are not worth keeping, and there are so many of them in some graphs that searching would take long.
constexpr std::size_t least_spare_bytes = std::size_t{64} << 10;
constexpr std::size_t most_spares = 64;

}  // namespace

GraphValues::GraphValues(const operators::Graph& graph)
    : graph_(graph), order_(graph.execution_order()), last_uses_(operators::last_uses(graph, order_)) {}

void GraphValues::start(std::span<const core::Tensor* const> inputs) {
    for (auto& [index, tensor] : computed_) {
        keep_spare(std::move(tensor.buffer));
    }
    computed_.clear();
    inputs_.assign(graph_.values.size(), nullptr);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
        inputs_[graph_.inputs[i]] = inputs[i];
    }
    in_files_ = std::ranges::any_of(
        inputs, [](const core::Tensor* input) { return input != nullptr && input->buffer.is_in_file(); });
}

NodeInputs GraphValues::inputs_of(const operators::GraphNode& node) const {
    return inputs_of(node, operators::no_value, {});
}

NodeInputs GraphValues::inputs_of(const operators::GraphNode& node, operators::ValueIndex value,
                                  const core::Tensor& tensor) const {
    NodeInputs inputs;
    const auto slots = node.descriptor->inputs();
    inputs.views.reserve(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].desc == nullptr) {
            inputs.tensors.push_back(nullptr);
            continue;
        }
        const core::Tensor& held = node.inputs[i] == value ? tensor : at(node.inputs[i]);
        inputs.tensors.push_back(
            held.desc == *slots[i].desc ? &held : &inputs.views.emplace_back(seen_as(*slots[i].desc, held)));
    }
    return inputs;
}

core::Tensor& GraphValues::put(operators::ValueIndex index, core::Tensor tensor) {
    computed_bytes_ += tensor.buffer.bytes().size();
    most_computed_bytes_ = std::max(most_computed_bytes_, computed_bytes_);
    return computed_.insert_or_assign(index, std::move(tensor)).first->second;
}

core::Tensor GraphValues::new_tensor(const core::TensorDesc& desc) {
    keeps_spares_ = true;
    if (!core::is_packed(desc) || desc.total_bytes < least_spare_bytes) {
        return core::Tensor(desc);
    }
    const auto spare = std::ranges::find_if(spares_.rbegin(), spares_.rend(), [&](const core::Buffer& buffer) {
        return buffer.bytes().size() == desc.total_bytes;
    });
    if (spare == spares_.rend()) {
        drop_spares(desc.total_bytes);
        return core::Tensor(desc);
    }
    core::Tensor tensor;
    tensor.desc = desc;
    tensor.buffer = std::move(*spare);
    spares_.erase(std::next(spare).base());
    spare_bytes_ -= tensor.buffer.bytes().size();
    // What follows the last element must not differ between runs.
    std::ranges::fill(tensor.buffer.bytes().last(sizeof(std::uint32_t)), std::byte{});
    return tensor;
}

void GraphValues::keep_spare(core::Buffer buffer) {
    const std::size_t bytes = buffer.bytes().size();
    computed_bytes_ -= bytes;
    if (!keeps_spares_ || bytes < least_spare_bytes || buffer.is_in_file()) {
        return;
    }
    spares_.push_back(std::move(buffer));
    spare_bytes_ += bytes;
    drop_spares(0);
}

void GraphValues::drop_spares(std::size_t more) {
    const std::size_t needed = computed_bytes_ + more;
    const std::size_t most = std::max(most_computed_bytes_, needed);
    while (!spares_.empty() && (needed + spare_bytes_ > most || spares_.size() > most_spares)) {
        spare_bytes_ -= spares_.front().bytes().size();
        spares_.erase(spares_.begin());
    }
}

const core::Tensor& GraphValues::at(operators::ValueIndex index) const {
    return inputs_[index] != nullptr ? *inputs_[index] : computed_.at(index);
}

void GraphValues::release_after(std::size_t position) {
    for (auto value = computed_.begin(); value != computed_.end();) {
        if (last_uses_[value->first] > position) {
            ++value;
            continue;
        }
        keep_spare(std::move(value->second.buffer));
        value = computed_.erase(value);
    }
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
