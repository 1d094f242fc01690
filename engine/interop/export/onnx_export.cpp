// Descriptors as models: the tensors around the nodes.
#include "engine/interop/export/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>

#include "engine/core/strided.h"
#include "engine/interop/export/operator_writer.h"
#include "engine/interop/onnx_tensor.h"
#include "engine/operators/graph.h"

namespace dmlconform::interop {
namespace {

using namespace exporting;

/// Constants with a position for each element would be larger than the model's data.
constexpr std::uint64_t most_gathered_elements = 1 << 16;

/// How a model's tensor shows a descriptor's tensor.
struct View {
    OnnxPort port;
    /// For each of the port's dimensions in the tensor's order, where it is among those of the port.
    Numbers order;
};

core::Dimensions strides_of(const core::TensorDesc& desc) {
    const auto strides = core::effective_strides(desc);
    return {strides.begin(), strides.end()};
}

/// Dimensions in the order of memory. Those of size 1 stay where they are.
View view_of(const std::string& name, const core::TensorDesc& desc) {
    core::Dimensions sizes = desc.sizes;
    core::Dimensions strides = strides_of(desc);
    std::vector<std::size_t> moved;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        sizes[d] = strides[d] == 0 ? 1 : sizes[d];
        if (sizes[d] > 1) {
            moved.push_back(d);
        }
    }
    std::vector<std::size_t> sorted = moved;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
    std::vector<std::size_t> from(sizes.size());
    std::iota(from.begin(), from.end(), 0);
    for (std::size_t i = 0; i < moved.size(); ++i) {
        from[moved[i]] = sorted[i];
    }
    View view{{name, desc.data_type, {}, {}}, Numbers(sizes.size())};
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        view.port.sizes.push_back(sizes[from[d]]);
        view.port.strides.push_back(strides[from[d]]);
        view.order[from[d]] = static_cast<std::int64_t>(d);
    }
    return view;
}

/// Whether the elements of the view are all that there is between its first and its last one, each once.
bool is_dense(const View& view) {
    std::uint64_t expected = 1;
    for (std::size_t d = view.port.sizes.size(); d-- > 0;) {
        if (view.port.sizes[d] > 1) {
            if (view.port.strides[d] != expected) {
                return false;
            }
            expected *= view.port.sizes[d];
        }
    }
    return true;
}

bool has_onnx_type(ModelWriter& w, const core::TensorDesc& desc) {
    if (core::bytes_of(desc.data_type) == 0) {
        w.fail(fmt::format("{} tensors are not written", core::name(desc.data_type)));
        return false;
    }
    return true;
}

/// A value of the model with the layout that its elements have in memory.
struct Stored {
    View view;
    Value value;
    /// Whether the value has the sizes of the descriptor's tensor, and not those of the port.
    bool is_logical = false;

    [[nodiscard]] Value by_memory(ModelWriter& w) const {
        return is_logical ? w.transpose(value, inverse_of(view.order)) : value;
    }
};

/// A stored value in the sizes and type that a reading operator has in its descriptor.
Operand seen(ModelWriter& w, const Stored& stored, const core::TensorDesc& desc) {
    const View view = view_of("", desc);
    Operand operand{stored.value, desc.sizes};
    if (desc.data_type != stored.view.port.type) {
        w.fail(
            fmt::format("a tensor of {} is read as {}", core::name(stored.view.port.type), core::name(desc.data_type)));
        return operand;
    }
    if (view.port.sizes == stored.view.port.sizes && view.port.strides == stored.view.port.strides) {
        const bool is_same = stored.is_logical && view.order == stored.view.order;
        operand.compact = is_same ? stored.value : w.transpose(stored.by_memory(w), view.order);
        return operand;
    }
    if (!is_dense(stored.view)) {
        w.fail("a tensor with gaps between its elements is read with another layout");
        return operand;
    }
    const auto extent = core::addressed_extent({desc.data_type, {}, view.port.sizes, view.port.strides, 0, 0});
    const std::uint64_t count = stored.value.count();
    if (!extent || *extent > count) {
        w.fail("a tensor is read beyond the elements that were written");
        return operand;
    }
    Value flat = w.reshape(stored.by_memory(w), {static_cast<std::uint32_t>(count)});
    if (is_dense(view)) {
        flat = w.slice(flat, {0}, {static_cast<std::int64_t>(*extent)}, {0});
        operand.compact = w.transpose(w.reshape(flat, view.port.sizes), view.order);
        return operand;
    }
    const std::uint64_t elements = *core::element_count(view.port.sizes);
    if (elements > most_gathered_elements) {
        w.fail("a large tensor is read with strides that are neither a transposition nor a broadcast");
        return operand;
    }
    Numbers offsets;
    const core::StridedRuns<1> runs(view.port.sizes,
                                    {core::Strides(view.port.strides.begin(), view.port.strides.end())});
    runs.for_each_element([&](const auto& offset) { offsets.push_back(offset[0]); });
    const Value picked = w.gather(flat, w.list(offsets), 0);
    operand.compact = w.transpose(w.reshape(picked, view.port.sizes), view.order);
    return operand;
}

/// The values of an operator's outputs, in the order of Descriptor::outputs().
std::vector<std::optional<Stored>> write_operator(ModelWriter& w, const operators::Descriptor& descriptor,
                                                  const std::vector<std::optional<Operand>>& inputs) {
    const auto slots = descriptor.outputs();
    std::vector<std::optional<Stored>> results(slots.size());
    for (const operators::TensorSlot& slot : slots) {
        if (slot.desc != nullptr && !has_onnx_type(w, *slot.desc)) {
            return results;
        }
    }
    const std::string_view name = descriptor.schema->short_name();
    const OperatorExport* row = find_export(name);
    if (row == nullptr || row->reason != nullptr) {
        w.fail(row == nullptr ? fmt::format("{} is not mapped", name) : row->reason);
        return results;
    }
    OperatorWriter to(w, descriptor, inputs);
    if (row->function != nullptr) {
        to.out(slots.front().name, write_function(w, *row, descriptor, to.in(descriptor.inputs().front().name)));
    } else {
        row->write(to);
    }
    for (std::size_t i = 0; i < slots.size() && !w.has_failed(); ++i) {
        if (slots[i].desc == nullptr) {
            continue;
        }
        if (!to.outputs()[i]) {
            w.fail(fmt::format("{} of {} is not mapped", slots[i].name, name));
            return results;
        }
        results[i] = Stored{view_of(slots[i].name, *slots[i].desc), *to.outputs()[i], true};
    }
    return results;
}

Stored model_input(ModelWriter& w, const std::string& name, const core::TensorDesc& desc) {
    View view = view_of(name, desc);
    Value value = w.input(name, onnx_number(desc.data_type), view.port.sizes);
    return {std::move(view), std::move(value)};
}

class DescriptorExport {
public:
    explicit DescriptorExport(std::int64_t opset) : w_(opset) {}

    core::Result<ExportedModel> write(const operators::Descriptor& descriptor) {
        for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
            for (const operators::TensorSlot& slot : slots) {
                w_.reserve(slot.name);
            }
        }
        for (const operators::TensorSlot& slot : descriptor.inputs()) {
            std::optional<Stored> input;
            if (slot.desc != nullptr && has_onnx_type(w_, *slot.desc)) {
                input = model_input(w_, slot.name, *slot.desc);
            }
            exported_.inputs.push_back(input ? std::optional(input->view.port) : std::nullopt);
            inputs_.push_back(std::move(input));
        }
        if (!w_.has_failed()) {
            descriptor.graph ? write_graph(*descriptor.graph) : write_single(descriptor);
        }
        if (w_.has_failed()) {
            return core::fail(w_.reason());
        }
        const onnx::ModelProto model = w_.take();
        for (const onnx::NodeProto& node : model.graph().node()) {
            if (std::find(exported_.node_types.begin(), exported_.node_types.end(), node.op_type()) ==
                exported_.node_types.end()) {
                exported_.node_types.push_back(node.op_type());
            }
        }
        exported_.bytes = onnx::message_bytes(model);
        return std::move(exported_);
    }

private:
    /// Adds an output in the form that `judge` reads: with the sizes of the descriptor's tensor.
    void put_output(const std::string& name, const core::TensorDesc& desc, const Stored& stored) {
        const Value value = stored.is_logical ? stored.value : w_.transpose(stored.value, stored.view.order);
        w_.output(name, value);
        exported_.outputs.push_back(OnnxPort{name, desc.data_type, desc.sizes, strides_of(desc)});
    }

    void write_single(const operators::Descriptor& descriptor) {
        std::vector<std::optional<Operand>> operands;
        const auto slots = descriptor.inputs();
        for (std::size_t i = 0; i < slots.size(); ++i) {
            operands.push_back(inputs_[i] ? std::optional(seen(w_, *inputs_[i], *slots[i].desc)) : std::nullopt);
        }
        const auto results = write_operator(w_, descriptor, operands);
        const auto outputs = descriptor.outputs();
        for (std::size_t i = 0; i < outputs.size() && !w_.has_failed(); ++i) {
            if (results[i]) {
                put_output(outputs[i].name, *outputs[i].desc, *results[i]);
            } else {
                exported_.outputs.emplace_back();
            }
        }
    }

    void write_node(const operators::GraphNode& node, std::map<operators::ValueIndex, Stored>& values) {
        const auto slots = node.descriptor->inputs();
        std::vector<std::optional<Operand>> operands(slots.size());
        for (std::size_t i = 0; i < slots.size() && !w_.has_failed(); ++i) {
            if (slots[i].desc != nullptr && node.inputs[i] != operators::no_value) {
                operands[i] = seen(w_, values.at(node.inputs[i]), *slots[i].desc);
            }
        }
        if (w_.has_failed()) {
            return;
        }
        auto results = write_operator(w_, *node.descriptor, operands);
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (results[i] && node.outputs[i] != operators::no_value) {
                values.insert_or_assign(node.outputs[i], std::move(*results[i]));
            }
        }
    }

    void write_graph(const operators::Graph& graph) {
        std::map<operators::ValueIndex, Stored> values;
        for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
            values.emplace(graph.inputs[i], *inputs_[i]);
        }
        for (const std::size_t index : graph.execution_order()) {
            const operators::GraphNode& node = graph.nodes[index];
            write_node(node, values);
            if (w_.has_failed()) {
                return;
            }
        }
        for (const operators::ValueIndex output : graph.outputs) {
            put_output(graph.values[output].name, graph.values[output].desc, values.at(output));
        }
    }

    ModelWriter w_;
    ExportedModel exported_;
    std::vector<std::optional<Stored>> inputs_;
};

}  // namespace

core::Result<ExportedModel> export_onnx(const operators::Descriptor& descriptor, std::int64_t opset) {
    if (opset < oldest_export_opset || opset > newest_export_opset) {
        return core::fail(fmt::format("models of opset {} are not written", opset),
                          fmt::format("from {} to {}", oldest_export_opset, newest_export_opset));
    }
    return DescriptorExport(opset).write(descriptor);
}

core::Tensor port_elements(const OnnxPort& port, const core::Tensor& tensor) {
    core::Tensor packed(port.packed());
    const std::size_t width = core::bytes_of(port.type);
    std::size_t to = 0;
    const core::StridedRuns<1> runs(port.sizes, {core::Strides(port.strides.begin(), port.strides.end())});
    runs.for_each_element([&](const auto& offset) {
        std::memcpy(packed.buffer.bytes().data() + to,
                    tensor.buffer.bytes().data() + static_cast<std::size_t>(offset[0]) * width, width);
        to += width;
    });
    return packed;
}

void store_port_elements(const OnnxPort& port, std::span<const std::byte> elements, core::Tensor& tensor) {
    const std::size_t width = core::bytes_of(port.type);
    std::size_t from = 0;
    const core::StridedRuns<1> runs(port.sizes, {core::Strides(port.strides.begin(), port.strides.end())});
    runs.for_each_element([&](const auto& offset) {
        std::memcpy(tensor.buffer.bytes().data() + static_cast<std::size_t>(offset[0]) * width, elements.data() + from,
                    width);
        from += width;
    });
}

std::string never_exported(const operators::OperatorSchema& schema) {
    const OperatorExport* row = find_export(schema.short_name());
    return row == nullptr ? "is not mapped" : row->reason == nullptr ? "" : row->reason;
}

}  // namespace dmlconform::interop
