// The graphics adapters that the D3D12 engine can use, and the selection of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"

namespace dmlconform::d3d12 {

/// In order of preference.
enum class AdapterType : std::uint8_t { discrete, integrated, virtual_gpu, cpu, other };

/// The part of a buffer that a shader can access: at most `bytes`, starting at a multiple of `alignment`.
struct Addressable {
    std::uint64_t bytes = 0;
    std::uint64_t alignment = 0;
};

struct AdapterInfo {
    std::string name;
    AdapterType type = AdapterType::other;
    /// Name and version of the driver: "NVIDIA 580.65.06".
    std::string driver;
    Addressable addressable;
};

/// At least one adapter, or why there is none.
[[nodiscard]] core::Result<std::vector<AdapterInfo>> enumerate_adapters();

/// Index of the first adapter whose name contains `substring`, ignoring case. If it is empty, the most capable kind is
/// chosen: a discrete GPU before an integrated one, and both before the processor.
[[nodiscard]] core::Result<std::size_t> choose_adapter(std::span<const AdapterInfo> adapters,
                                                       std::string_view substring);

}  // namespace dmlconform::d3d12
