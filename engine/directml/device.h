// The objects that all executables of a DirectML device share. Only for Windows.
#pragma once

#include <memory>
#include <string_view>

#include "engine/d3d12/device/buffer_pool.h"
#include "engine/d3d12/device/commands.h"
#include "engine/d3d12/device/platform.h"
#include "engine/directml/descriptor_heaps.h"
#include "engine/directml/library.h"

namespace dmlconform::directml {

struct Device {
    Device(const ComPtr<ID3D12Device>& device, std::unique_ptr<d3d12::Commands> queue, ComPtr<IDMLDevice> directml,
           ComPtr<IDMLCommandRecorder> directml_recorder)
        : d3d12(device),
          commands(std::move(queue)),
          buffers(device),
          descriptor_heaps(device),
          dml(std::move(directml)),
          recorder(std::move(directml_recorder)) {}

    ComPtr<ID3D12Device> d3d12;
    std::unique_ptr<d3d12::Commands> commands;
    d3d12::BufferPool buffers;
    DescriptorHeaps descriptor_heaps;
    ComPtr<IDMLDevice> dml;
    ComPtr<IDMLCommandRecorder> recorder;
    /// True if the device was removed or hangs. Then the next operator needs a new one.
    bool lost = false;

    /// Fails if DirectML or D3D12 removed the device, which is their reaction to invalid bindings.
    [[nodiscard]] core::Result<void> check_removed(std::string_view what);

    /// Runs commands, then checks both devices.
    [[nodiscard]] core::Result<void> run(std::string_view what,
                                         const std::function<void(ID3D12GraphicsCommandList& list)>& record);
};

/// Creates a DirectML device on the adapter with that index.
[[nodiscard]] core::Result<std::shared_ptr<Device>> create_device(const Library& library,
                                                                  const d3d12::AdapterList& adapters,
                                                                  std::size_t adapter);

}  // namespace dmlconform::directml
