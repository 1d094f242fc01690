// Vulkan's devices, accessed with the native calling convention.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace dmlconform::directml::wine {

/// The first device with these identifiers, or null.
VkPhysicalDevice find_device(VkInstance instance, std::uint32_t vendor_id, std::uint32_t device_id);

}  // namespace dmlconform::directml::wine
