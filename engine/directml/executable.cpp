// The steps that DirectML prescribes: initialise, bind, dispatch.
#if defined(_WIN32)

#include "engine/directml/executable.h"

#include <algorithm>

#include "engine/d3d12/device/d3d12_error.h"
#include "engine/directml/transfer.h"
#include "engine/operators/graph.h"

namespace dmlconform::directml {
namespace {

/// One binding for each tensor; an absent one gets an empty binding.
std::vector<BindingDesc> descs_of(const std::vector<BufferBinding>& bindings) {
    std::vector<BindingDesc> descs;
    for (const BufferBinding& binding : bindings) {
        descs.push_back(binding.buffer == nullptr ? BindingDesc{} : BindingDesc{binding_buffer, &binding});
    }
    return descs;
}

/// Adds a guard after the input in this buffer.
void add_guard(std::vector<Upload>& uploads, const ID3D12Resource* buffer) {
    for (Upload& upload : uploads) {
        if (upload.to == buffer) {
            upload.untouched = (upload.bytes.size() + 3) / 4 * 4 - upload.bytes.size() + core::guard_bytes;
        }
    }
}

}  // namespace

core::Result<std::unique_ptr<Executable>> DirectMlExecutable::create(std::shared_ptr<Device> device,
                                                                     const operators::Descriptor& descriptor,
                                                                     ComPtr<IDMLCompiledOperator> compiled) {
    std::unique_ptr<DirectMlExecutable> executable(new DirectMlExecutable(std::move(device)));
    executable->compiled_ = std::move(compiled);
    if (auto prepared = executable->prepare(descriptor); !prepared) {
        return tl::unexpected(prepared.error());
    }
    return executable;
}

core::Result<void> DirectMlExecutable::prepare(const operators::Descriptor& descriptor) {
    IDMLCompiledOperator* const operators[] = {compiled_.Get()};
    const HRESULT code = directml::create(initializer_, [&](REFIID iid, void** address) {
        return device_->dml->CreateOperatorInitializer(1, operators, iid, address);
    });
    if (FAILED(code)) {
        return d3d12::d3d12_error("no operator initializer", code);
    }
    initializer_->GetBindingProperties(&initializer_properties_);
    compiled_->GetBindingProperties(&compiled_properties_);
    auto lent = device_->descriptor_heaps.acquire(
        std::max(initializer_properties_.descriptor_count, compiled_properties_.descriptor_count));
    if (!lent) {
        return tl::unexpected(lent.error());
    }
    descriptors_ = std::move(*lent);
    auto prepared = add_slots(descriptor.inputs(), descriptor.in_place.empty() ? 0 : core::guard_bytes, inputs_);
    if (descriptor.graph != nullptr) {
        see_graph(*descriptor.graph);
    }
    if (prepared) {
        prepared = add_outputs(descriptor);
    }
    if (prepared) {
        prepared = acquire(temporary_,
                           std::max(initializer_properties_.temporary_bytes, compiled_properties_.temporary_bytes));
    }
    return prepared ? acquire(persistent_, compiled_properties_.persistent_bytes) : prepared;
}

core::Result<void> DirectMlExecutable::acquire(d3d12::PooledBuffer& buffer, std::uint64_t bytes) {
    if (bytes == 0) {
        return {};
    }
    auto acquired = device_->buffers.acquire(d3d12::Heap::device, bytes);
    if (!acquired) {
        return tl::unexpected(acquired.error());
    }
    buffer = std::move(*acquired);
    return {};
}

core::Result<void> DirectMlExecutable::add_slots(const std::vector<operators::TensorSlot>& tensors, std::uint64_t guard,
                                                 std::vector<Slot>& slots) {
    for (const operators::TensorSlot& tensor : tensors) {
        Slot& slot = slots.emplace_back();
        if (tensor.desc == nullptr) {
            continue;
        }
        slot.bytes = tensor.desc->total_bytes;
        slot.owned_by_dml = tensor.desc->flags == core::TensorFlags::owned_by_dml;
        if (auto acquired = acquire(slot.buffer, core::guard_offset(*tensor.desc) + guard); !acquired) {
            return acquired;
        }
    }
    return {};
}

void DirectMlExecutable::see_graph(const operators::Graph& graph) {
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        inputs_[i].owned_by_dml = inputs_[i].owned_by_dml || graph.values[graph.inputs[i]].is_constant;
        const bool is_read = std::ranges::any_of(graph.nodes, [&](const operators::GraphNode& node) {
            return std::ranges::find(node.inputs, graph.inputs[i]) != node.inputs.end();
        });
        if (!is_read) {
            inputs_[i].bytes = 0;
        }
    }
}

core::Result<void> DirectMlExecutable::add_outputs(const operators::Descriptor& descriptor) {
    auto tensors = descriptor.outputs();
    std::vector<std::optional<std::size_t>> in_place = descriptor.in_place;
    in_place.resize(tensors.size());
    for (std::size_t o = 0; o < tensors.size(); ++o) {
        if (!in_place[o]) {
            if (auto added = add_slots({tensors[o]}, core::guard_bytes, outputs_); !added) {
                return added;
            }
            continue;
        }
        Slot& slot = outputs_.emplace_back();
        slot.bytes = tensors[o].desc->total_bytes;
        slot.shared = inputs_[*in_place[o]].buffer.resource();
    }
    return {};
}

core::Result<void> DirectMlExecutable::bind(std::span<const core::Tensor* const> inputs) {
    std::vector<Upload> uploads;
    bool any_owned = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (inputs_[i].bytes != 0) {
            any_owned = any_owned || inputs_[i].owned_by_dml;
            // The value of another node of a graph is followed by a guard.
            uploads.push_back({inputs_[i].buffer.resource(), inputs[i]->buffer.bytes().first(inputs_[i].bytes), 0});
        }
    }
    for (const Slot& output : outputs_) {
        if (output.shared != nullptr) {
            add_guard(uploads, output.shared);
        } else if (output.bytes != 0) {
            uploads.push_back({output.buffer.resource(), {}, (output.bytes + 3) / 4 * 4 + core::guard_bytes});
        }
    }
    if (auto uploaded = upload(*device_, uploads); !uploaded) {
        return uploaded;
    }
    if (!initialised_ || any_owned) {
        if (auto done = initialise(); !done) {
            return done;
        }
        initialised_ = true;
        return bind_for_execution();
    }
    return {};
}

core::Result<void> DirectMlExecutable::reset_table(IDMLDispatchable* dispatchable, UINT descriptors) {
    BindingTableDesc desc;
    desc.dispatchable = dispatchable;
    desc.descriptor_count = descriptors;
    if (descriptors != 0) {
        desc.cpu_handle = descriptors_.cpu_handle();
        desc.gpu_handle = descriptors_.gpu_handle();
    }
    const HRESULT code = table_ ? table_->Reset(&desc) : directml::create(table_, [&](REFIID iid, void** address) {
        return device_->dml->CreateBindingTable(&desc, iid, address);
    });
    if (FAILED(code)) {
        device_->lost = true;
        return d3d12::d3d12_error("no binding table", code);
    }
    return {};
}

core::Result<void> DirectMlExecutable::initialise() {
    if (auto reset = reset_table(initializer_.Get(), initializer_properties_.descriptor_count); !reset) {
        return reset;
    }
    // A single array of inputs for the operator, including those that DirectML keeps.
    std::vector<BufferBinding> bindings;
    bool any_owned = false;
    for (const Slot& input : inputs_) {
        bindings.push_back(input.owned_by_dml ? input.binding() : BufferBinding{});
        any_owned = any_owned || input.owned_by_dml;
    }
    const BufferArrayBinding array{static_cast<UINT>(bindings.size()), bindings.data()};
    const BindingDesc inputs{binding_buffer_array, &array};
    if (any_owned) {
        table_->BindInputs(1, &inputs);
    }
    const BufferBinding temporary{temporary_.resource(), 0, initializer_properties_.temporary_bytes};
    const BindingDesc temporary_desc{binding_buffer, &temporary};
    if (temporary.bytes != 0) {
        table_->BindTemporaryResource(&temporary_desc);
    }
    const BufferBinding persistent{persistent_.resource(), 0, compiled_properties_.persistent_bytes};
    const BindingDesc output = persistent.bytes != 0 ? BindingDesc{binding_buffer, &persistent} : BindingDesc{};
    table_->BindOutputs(1, &output);
    return dispatch("initialisation", initializer_.Get());
}

core::Result<void> DirectMlExecutable::bind_for_execution() {
    if (auto reset = reset_table(compiled_.Get(), compiled_properties_.descriptor_count); !reset) {
        return reset;
    }
    std::vector<BufferBinding> inputs;
    for (const Slot& input : inputs_) {
        inputs.push_back(input.owned_by_dml ? BufferBinding{} : input.binding());
    }
    std::vector<BufferBinding> outputs;
    for (const Slot& output : outputs_) {
        outputs.push_back(output.binding());
    }
    const auto input_descs = descs_of(inputs);
    const auto output_descs = descs_of(outputs);
    table_->BindInputs(static_cast<UINT>(input_descs.size()), input_descs.data());
    table_->BindOutputs(static_cast<UINT>(output_descs.size()), output_descs.data());
    const BufferBinding temporary{temporary_.resource(), 0, compiled_properties_.temporary_bytes};
    const BindingDesc temporary_desc{binding_buffer, &temporary};
    if (temporary.bytes != 0) {
        table_->BindTemporaryResource(&temporary_desc);
    }
    const BufferBinding persistent{persistent_.resource(), 0, compiled_properties_.persistent_bytes};
    const BindingDesc persistent_desc{binding_buffer, &persistent};
    if (persistent.bytes != 0) {
        table_->BindPersistentResource(&persistent_desc);
    }
    return device_->check_removed("binding");
}

core::Result<void> DirectMlExecutable::dispatch(const char* what, IDMLDispatchable* dispatchable) {
    return device_->run(what, [&](ID3D12GraphicsCommandList& list) {
        ID3D12DescriptorHeap* const heaps[] = {descriptors_.heap()};
        list.SetDescriptorHeaps(1, heaps);
        device_->commands->begin_timing(list);
        device_->recorder->RecordDispatch(&list, dispatchable, table_.Get());
        device_->commands->end_timing(list);
    });
}

core::Result<void> DirectMlExecutable::execute() {
    auto done = dispatch("execution", compiled_.Get());
    if (done) {
        device_time_ = device_->commands->measured();
    }
    return done;
}

core::Result<void> DirectMlExecutable::read(std::span<core::Tensor* const> outputs) {
    std::vector<Download> downloads;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        if (outputs_[i].bytes != 0 && outputs[i] != nullptr) {
            downloads.push_back({outputs_[i].resource(), outputs[i]->buffer.bytes()});
        }
    }
    return download(*device_, downloads);
}

}  // namespace dmlconform::directml

#endif
