// Vulkan's devices, asked for with the calling convention of this machine.
#pragma once

#include <vulkan/vulkan_core.h>

#include <cstdint>

namespace dmlconform::directml::wine {

/// The first one with these numbers, or null.
VkPhysicalDevice find_device(VkInstance instance, std::uint32_t vendor_id, std::uint32_t device_id);

}  // namespace dmlconform::directml::wine
