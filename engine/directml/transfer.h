// Copies to and from device buffers, combining many copies in one submission. Only for Windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/directml/device.h"

namespace dmlconform::directml {

/// The initial contents of a device buffer: the bytes, followed by `untouched` bytes of core::untouched.
struct Upload {
    ID3D12Resource* to = nullptr;
    std::span<const std::byte> bytes;
    std::uint64_t untouched = 0;
};

struct Download {
    ID3D12Resource* from = nullptr;
    std::span<std::byte> bytes;
};

[[nodiscard]] core::Result<void> upload(Device& device, std::span<const Upload> uploads);
[[nodiscard]] core::Result<void> download(Device& device, std::span<const Download> downloads);

}  // namespace dmlconform::directml
