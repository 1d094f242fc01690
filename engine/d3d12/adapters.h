// The graphics adapters that the D3D12 engine can run on, and the choice among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::d3d12 {

/// In the order of preference.
enum class AdapterType : std::uint8_t { discrete, integrated, virtual_gpu, cpu, other };

/// What a shader can access of a buffer: so many bytes, from a multiple of the alignment on.
struct Addressable {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
};

struct AdapterInfo {
    std::string name;
    AdapterType type = AdapterType::other;
    /// PCI identifiers, or Khronos' for what is no PCI device.
    std::uint32_t vendor_id = 0;
    std::uint32_t device_id = 0;
    /// "NVIDIA 580.65.06": name and version of the driver.
    std::string driver;
    Addressable addressable;
};

/// "discrete GPU".
[[nodiscard]] std::string_view to_string(AdapterType type);

/// "NVIDIA", or the identifier in hexadecimal.
[[nodiscard]] std::string vendor_name(std::uint32_t vendor_id);

/// At least one adapter, or the reason why there is none.
[[nodiscard]] core::Result<std::vector<AdapterInfo>> enumerate_adapters();

/// Index of the first adapter whose name contains `substring`, whatever the case of letters. Empty: the most capable
/// kind there is, a discrete GPU before an integrated one and either before the processor.
[[nodiscard]] core::Result<std::size_t> choose_adapter(std::span<const AdapterInfo> adapters,
                                                       std::string_view substring);

}  // namespace dmlconform::d3d12
