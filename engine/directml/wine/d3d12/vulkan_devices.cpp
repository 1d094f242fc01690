// Compiled by the native compiler: under winegcc, Vulkan's headers declare the calling convention of Windows.
#include "engine/directml/wine/d3d12/vulkan_devices.h"

#include <vector>

namespace dmlconform::directml::wine {

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

}  // namespace dmlconform::directml::wine
