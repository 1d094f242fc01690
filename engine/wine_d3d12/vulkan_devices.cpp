// Compiled for this machine: for what winegcc compiles, Vulkan's headers declare Windows' calling convention.
#include "engine/wine_d3d12/vulkan_devices.h"

#include <vector>

namespace dmlconform::wine_d3d12 {

VkPhysicalDevice find_device(VkInstance instance, std::uint32_t vendor_id, std::uint32_t device_id) {
    std::uint32_t count = 0;
    vkEnumeratePhysicalDevices(instance, &count, nullptr);
    std::vector<VkPhysicalDevice> devices(count);
    vkEnumeratePhysicalDevices(instance, &count, devices.data());
    devices.resize(count);
    for (VkPhysicalDevice device : devices) {
        VkPhysicalDeviceProperties properties{};
        vkGetPhysicalDeviceProperties(device, &properties);
        if (properties.vendorID == vendor_id && properties.deviceID == device_id) {
            return device;
        }
    }
    return VK_NULL_HANDLE;
}

}  // namespace dmlconform::wine_d3d12
