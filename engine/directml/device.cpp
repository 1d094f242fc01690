// Creates devices, and checks whether they were removed.
#if defined(_WIN32)

#include "engine/directml/device.h"

#include <fmt/format.h>

#include <chrono>

#include "engine/d3d12/device/d3d12_error.h"
#include "engine/directml/meta_commands.h"

namespace dmlconform::directml {
namespace {

/// For hanging GPUs. Software adapters are slow, and cannot always be distinguished from GPUs.
constexpr std::chrono::seconds time_limit{600};

}  // namespace

core::Result<void> Device::check_removed(std::string_view what) {
    HRESULT code = dml->GetDeviceRemovedReason();
    if (SUCCEEDED(code)) {
        code = d3d12->GetDeviceRemovedReason();
    }
    if (FAILED(code)) {
        lost = true;
        return d3d12::d3d12_error(fmt::format("{}: the device was removed", what), code);
    }
    return {};
}

core::Result<void> Device::run(std::string_view what,
                               const std::function<void(ID3D12GraphicsCommandList& list)>& record) {
    if (auto done = commands->run(record); !done) {
        lost = true;
        done.error().message = fmt::format("{}: {}", what, done.error().message);
        return done;
    }
    return check_removed(what);
}

core::Result<std::shared_ptr<Device>> create_device(const Library& library, const d3d12::AdapterList& adapters,
                                                    std::size_t adapter) {
    auto d3d12_device = adapters.create_device(adapter);
    if (!d3d12_device) {
        return tl::unexpected(d3d12_device.error());
    }
    auto commands = d3d12::Commands::create(*d3d12_device, time_limit);
    if (!commands) {
        return tl::unexpected(commands.error());
    }
    answer_without_meta_commands(*d3d12_device->Get());
    auto dml = library.create_device(*d3d12_device->Get());
    if (!dml) {
        return tl::unexpected(dml.error());
    }
    ComPtr<IDMLCommandRecorder> recorder;
    const HRESULT code =
        create(recorder, [&](REFIID iid, void** address) { return (*dml)->CreateCommandRecorder(iid, address); });
    if (FAILED(code)) {
        return d3d12::d3d12_error("no DirectML command recorder", code);
    }
    return std::make_shared<Device>(*d3d12_device, std::move(*commands), std::move(*dml), std::move(recorder));
}

}  // namespace dmlconform::directml

#endif
