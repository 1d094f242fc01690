// Implements the engine interface by devices, bindings and executables.
#include "engine/d3d12/d3d12_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/d3d12/device/device.h"
#include "engine/d3d12/device/executable.h"
#include "engine/d3d12/device/half_conversions.h"
#include "engine/d3d12/device/platform.h"
#include "engine/d3d12/device/roofline.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/graph_plan.h"
#include "engine/d3d12/planning/parts_plan.h"

namespace dmlconform::d3d12 {
namespace {

/// Upper bound for the ratio of temporaries to the operator's largest tensor. It avoids planning most descriptors only
/// to check their memory.
constexpr std::uint64_t most_temporary_growth = 64;

/// A CPU adapter cannot hang, but is slow.
constexpr std::chrono::seconds gpu_time_limit{60};
constexpr std::chrono::seconds cpu_time_limit{600};

std::uint64_t largest_tensor(const operators::Descriptor& descriptor) {
    std::uint64_t largest = 0;
    for (const core::TensorDesc* desc : tensors_of(descriptor)) {
        largest = std::max(largest, desc == nullptr ? 0 : device_bytes(*desc));
    }
    return largest;
}

bool has_halves(const operators::Descriptor& descriptor) {
    if (descriptor.graph != nullptr) {
        return std::ranges::any_of(descriptor.graph->nodes,
                                   [](const operators::GraphNode& node) { return has_halves(*node.descriptor); });
    }
    return std::ranges::any_of(tensors_of(descriptor), [](const core::TensorDesc* desc) {
        return desc != nullptr && desc->data_type == core::DataType::float16;
    });
}

bool reads_units(ID3D12Device& device) {
    D3D12_FEATURE_DATA_D3D12_OPTIONS options{};
    return SUCCEEDED(device.CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS, &options, sizeof(options))) &&
           options.TypedUAVLoadAdditionalFormats;
}

/// Destroying a device that may still be working could block forever.
void release(std::shared_ptr<Device> device) {
    if (device->commands->hung()) {
        static auto* const abandoned = new std::vector<std::shared_ptr<Device>>;
        abandoned->push_back(std::move(device));
    }
}

/// Creates a device on the adapter that the text selects, and says which adapter that is.
core::Result<std::shared_ptr<PipelineCache>> pipelines_on(std::string_view adapter_substring,
                                                          AdapterInfo* info = nullptr) {
    const auto list = AdapterList::open();
    if (!list) {
        return tl::unexpected(list.error());
    }
    const auto chosen = choose_adapter(list->adapters(), adapter_substring);
    if (!chosen) {
        return tl::unexpected(chosen.error());
    }
    if (info != nullptr) {
        *info = list->adapters()[*chosen];
    }
    auto device = list->create_device(*chosen);
    if (!device) {
        return tl::unexpected(device.error());
    }
    return std::make_shared<PipelineCache>(*device);
}

}  // namespace

D3d12Engine::D3d12Engine(std::shared_ptr<Device> device, const AdapterInfo& adapter, core::FeatureLevel level)
    : device_(std::move(device)), adapter_(adapter) {
    info_.name = "d3d12";
    info_.adapter = adapter.name;
    info_.driver = adapter.driver;
    info_.libraries = library_versions();
    info_.feature_level = level;
}

D3d12Engine::~D3d12Engine() {
    release(std::move(device_));
}

std::optional<std::string> D3d12Engine::unsupported(const operators::Descriptor& descriptor) const {
    const Binding* binding = find_binding(descriptor.schema->short_name());
    if (binding == nullptr) {
        return fmt::format("no shader yet for {}", descriptor.schema->short_name());
    }
    const std::uint64_t most = device_->addressable.bytes;
    const std::uint64_t largest = largest_tensor(descriptor);
    const bool may_be_too_large = binding->has_large_temporaries || largest > most / most_temporary_growth;
    if (!may_be_too_large && binding->unsupported == nullptr) {
        return std::nullopt;
    }
    if (operators::validate(descriptor, info_.feature_level)) {
        return std::nullopt;  // compile rejects it
    }
    if (largest <= most && binding->unsupported != nullptr) {
        if (auto reason = binding->unsupported(descriptor)) {
            return reason;
        }
    }
    if (!may_be_too_large || plan_within(device_->addressable, *binding, descriptor)) {
        return std::nullopt;
    }
    std::uint64_t needed = largest;
    if (needed <= most) {
        for (const std::uint64_t bytes : binding->plan(descriptor).temporaries) {
            needed = std::max(needed, bytes);
        }
    }
    return fmt::format("needs a buffer of {} bytes; shaders on {} address {}, and the work cannot be cut into parts",
                       needed, info_.adapter, most);
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> D3d12Engine::compile(
    const operators::Descriptor& descriptor) {
    if (auto failure = prepare_for(descriptor)) {
        return tl::unexpected(std::move(*failure));
    }
    const auto plan = plan_within(device_->addressable, *find_binding(descriptor.schema->short_name()), descriptor);
    if (!plan) {
        return tl::unexpected(broken(info_.name, {"the work cannot be cut into parts that shaders address", ""}));
    }
    const auto tensors = tensors_of(descriptor);
    const auto inputs = std::span(tensors).first(descriptor.inputs().size());
    auto executable =
        D3d12Executable::create(device_, inputs, std::span(tensors).subspan(inputs.size()), descriptor.in_place, *plan);
    if (!executable) {
        return tl::unexpected(broken(info_.name, executable.error()));
    }
    return std::move(*executable);
}

tl::expected<std::unique_ptr<Executable>, CompileFailure> D3d12Engine::compile_graph(
    const operators::Descriptor& graph) {
    if (auto failure = prepare_for(graph)) {
        return tl::unexpected(std::move(*failure));
    }
    const auto plan = plan_graph(device_->addressable, *graph.graph);
    if (!plan) {
        return tl::unexpected(broken(info_.name, plan.error()));
    }
    auto executable = D3d12Executable::create(device_, *plan);
    if (!executable) {
        return tl::unexpected(broken(info_.name, executable.error()));
    }
    return std::move(*executable);
}

std::optional<CompileFailure> D3d12Engine::prepare_for(const operators::Descriptor& descriptor) {
    if (auto rejection = operators::validate(descriptor, info_.feature_level)) {
        return CompileFailure{CompileFailure::Kind::rejected, std::move(*rejection)};
    }
    if (auto ready = ensure_device(); !ready) {
        return broken(info_.name, ready.error());
    }
    if (!device_->half_conversions && has_halves(descriptor)) {
        // If this is unknown, shaders do not use the device's conversions.
        device_->half_conversions = has_exact_half_conversions(device_).value_or(false);
    }
    return std::nullopt;
}

core::Result<std::unique_ptr<Engine>> D3d12Engine::another() const {
    auto device = create_device(device_->pipelines, adapter_);
    if (!device) {
        return tl::unexpected(device.error());
    }
    // The new device has the same adapter, so the same capability.
    (*device)->half_conversions = device_->half_conversions;
    return std::make_unique<D3d12Engine>(std::move(*device), adapter_, info_.feature_level);
}

const std::shared_ptr<PipelineCache>& D3d12Engine::pipelines() const {
    return device_->pipelines;
}

core::Result<void> D3d12Engine::ensure_device() {
    if (!device_->commands->lost()) {
        return {};
    }
    const auto pipelines = pipelines_on(adapter_.name);
    if (!pipelines) {
        return tl::unexpected(pipelines.error());
    }
    auto device = create_device(*pipelines, adapter_);
    if (!device) {
        return tl::unexpected(device.error());
    }
    release(std::exchange(device_, std::move(*device)));
    return {};
}

core::Result<Roofline> D3d12Engine::measure_roofline() {
    return d3d12::measure_roofline(device_);
}

core::Result<std::shared_ptr<Device>> create_device(const std::shared_ptr<PipelineCache>& pipelines,
                                                    const AdapterInfo& adapter,
                                                    std::optional<std::chrono::seconds> time_limit) {
    const auto usual_limit = adapter.type == AdapterType::cpu ? cpu_time_limit : gpu_time_limit;
    auto commands = Commands::create(pipelines->device(), time_limit.value_or(usual_limit));
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    auto result = std::make_shared<Device>(pipelines, std::move(*commands), adapter.addressable);
    result->reads_units = reads_units(*pipelines->device().Get());
    return result;
}

core::Result<std::unique_ptr<Engine>> create_engine(std::string_view adapter_substring, core::FeatureLevel level) {
    AdapterInfo adapter;
    const auto pipelines = pipelines_on(adapter_substring, &adapter);
    if (!pipelines) {
        return tl::unexpected(pipelines.error());
    }
    auto device = create_device(*pipelines, adapter);
    if (!device) {
        return tl::unexpected(device.error());
    }
    return std::make_unique<D3d12Engine>(std::move(*device), adapter, level);
}

}  // namespace dmlconform::d3d12
