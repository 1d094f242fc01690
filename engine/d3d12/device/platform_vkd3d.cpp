// D3D12 by vkd3d on a Vulkan driver.
#if !defined(_WIN32)

#include "engine/d3d12/device/d3d12_headers.h"
// vkd3d's headers need Direct3D's types. clang-format off
#define VKD3D_NO_WIN32_TYPES
#include <vkd3d.h>
#include <vkd3d_shader.h>
#include <vkd3d_utils.h>
// clang-format on
#undef D3D12CreateDevice  // vkd3d_utils.h defines it as a macro

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <optional>

#include "engine/core/hresult.h"
#include "engine/d3d12/device/platform.h"
#include "engine/d3d12/device/vkd3d_version.h"

namespace dmlconform::d3d12 {
namespace {

/// The last error that vkd3d logged.
struct Diagnostics {
    std::mutex mutex;
    std::string last;
};

Diagnostics& diagnostics() {
    static Diagnostics instance;
    return instance;
}

/// vkd3d prints unimplemented features to stderr, even harmless ones. Unless vkd3d is being debugged, the messages are
/// kept for error messages instead.
void keep_message(const char* format, va_list arguments) {
    std::array<char, 512> line{};
    if (std::vsnprintf(line.data(), line.size(), format, arguments) < 0) {
        return;
    }
    std::string_view text = line.data();
    while (text.ends_with('\n')) {
        text.remove_suffix(1);
    }
    const std::scoped_lock lock(diagnostics().mutex);
    diagnostics().last = text;
}

void set_up_logging() {
    if (std::getenv("VKD3D_DEBUG") == nullptr) {
        vkd3d_utils_set_log_callback(keep_message);
    }
}

/// An event that vkd3d signals. vkd3d's own events do not support waiting with a limit.
class Event {
public:
    void signal() {
        {
            const std::scoped_lock lock(mutex_);
            signalled_ = true;
        }
        condition_.notify_one();
    }

    /// Waits until the event is signalled, and resets it; false on a timeout.
    [[nodiscard]] bool wait(std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        return condition_.wait_for(lock, limit, [&] { return std::exchange(signalled_, false); });
    }

private:
    std::mutex mutex_;
    std::condition_variable condition_;
    bool signalled_ = false;
};

HRESULT signal_event(HANDLE event) {
    static_cast<Event*>(event)->signal();
    return S_OK;
}

AdapterType type_of(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return AdapterType::discrete;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return AdapterType::integrated;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return AdapterType::virtual_gpu;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return AdapterType::cpu;
        default:
            return AdapterType::other;
    }
}

AdapterInfo describe(VkInstance instance, VkPhysicalDevice handle) {
    VkPhysicalDeviceDriverProperties driver{};
    driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES;
    VkPhysicalDeviceProperties2 all{};
    all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
    all.pNext = &driver;
    // vkd3d's instance is a Vulkan 1.0 one with VK_KHR_get_physical_device_properties2, so the function has the suffix
    // KHR.
    const auto get_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties2KHR>(
        vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceProperties2KHR"));
    if (get_properties != nullptr) {
        get_properties(handle, &all);
    } else {
        vkGetPhysicalDeviceProperties(handle, &all.properties);
    }
    const VkPhysicalDeviceProperties& properties = all.properties;
    AdapterInfo info;
    info.name = properties.deviceName;
    info.type = type_of(properties.deviceType);
    info.driver = fmt::format("{} {}", driver.driverName, driver.driverInfo);
    // vkd3d gives shaders buffers as texel buffers of 32-bit texels.
    info.addressable.bytes = std::uint64_t{properties.limits.maxTexelBufferElements} * 4;
    info.addressable.alignment = std::max<std::uint64_t>(properties.limits.minTexelBufferOffsetAlignment, 16);
    return info;
}

/// The minimum address space that a limit must leave. Measured with lavapipe of Mesa 22.3 on two processors: with 350
/// to 700 MiB it crashes in vkCreateDevice or while compiling a shader, because it does not check allocations; with 800
/// MiB it works. Each additional processor needs another thread with its stack.
constexpr std::uint64_t least_address_space = std::uint64_t{2} << 30;

/// The address space that the process may still use, if it is limited (ulimit -v).
std::optional<std::uint64_t> address_space_left() {
    struct rlimit limit {};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const std::uint64_t taken = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return limit.rlim_cur - std::min<std::uint64_t>(taken, limit.rlim_cur);
}

/// Says why an instance cannot be created. vkd3d does not tell, so Vulkan is asked directly.
tl::unexpected<core::Error> explain_no_instance(HRESULT code) {
    VkInstanceCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    VkInstance instance = VK_NULL_HANDLE;
    const VkResult result = vkCreateInstance(&info, nullptr, &instance);
    if (result == VK_SUCCESS) {
        vkDestroyInstance(instance, nullptr);
    }
    if (result != VK_ERROR_INCOMPATIBLE_DRIVER) {
        return core::fail(fmt::format("vkd3d has no instance: {}", to_string(static_cast<core::HResult>(code))),
                          recent_diagnostics());
    }
    for (const char* variable : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"}) {
        if (const char* value = std::getenv(variable)) {
            return core::fail(fmt::format("no Vulkan driver found: {} is set to \"{}\"", variable, value),
                              fmt::format("unset {}, or set it to a driver's .json file", variable));
        }
    }
    return core::fail("no Vulkan driver found", "install one; for the processor, Debian's is mesa-vulkan-drivers");
}

struct InstanceRelease {
    void operator()(vkd3d_instance* instance) const { vkd3d_instance_decref(instance); }
};
using InstancePointer = std::unique_ptr<vkd3d_instance, InstanceRelease>;

core::Result<InstancePointer> create_instance() {
    vkd3d_application_info application{};
    application.type = VKD3D_STRUCTURE_TYPE_APPLICATION_INFO;
    application.application_name = "dmlconform";
    application.api_version = VKD3D_API_VERSION_1_17;  // otherwise vkd3d behaves like version 1.0
    vkd3d_instance_create_info info{};
    info.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.next = &application;
    info.pfn_signal_event = signal_event;
    info.wchar_size = sizeof(WCHAR);
    vkd3d_instance* instance = nullptr;
    if (const HRESULT code = vkd3d_create_instance(&info, &instance); FAILED(code)) {
        return explain_no_instance(code);
    }
    return InstancePointer(instance);
}

}  // namespace

/// ID3D12DescriptorHeap with the ABI of Windows: methods that return a structure take its address. DirectX-Headers
/// declares them differently on other systems. Not in an anonymous namespace, because the compiler would then assume
/// that there is no definition.
struct DescriptorHeapMethods : ID3D12Pageable {
    virtual D3D12_DESCRIPTOR_HEAP_DESC* STDMETHODCALLTYPE GetDesc(D3D12_DESCRIPTOR_HEAP_DESC* result) = 0;
    virtual D3D12_CPU_DESCRIPTOR_HANDLE* STDMETHODCALLTYPE
    GetCPUDescriptorHandleForHeapStart(D3D12_CPU_DESCRIPTOR_HANDLE* result) = 0;
    virtual D3D12_GPU_DESCRIPTOR_HANDLE* STDMETHODCALLTYPE
    GetGPUDescriptorHandleForHeapStart(D3D12_GPU_DESCRIPTOR_HANDLE* result) = 0;
};

struct FenceEvent::Implementation final : Event {};

struct AdapterList::Implementation {
    InstancePointer instance;
    std::vector<VkPhysicalDevice> handles;
    std::vector<AdapterInfo> adapters;
};

AdapterList::AdapterList(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

core::Result<AdapterList> AdapterList::open() {
    if (const auto left = address_space_left(); left && *left < least_address_space) {
        return core::fail(fmt::format("the limit on memory (ulimit -v) leaves {} MiB, and Vulkan's drivers crash where "
                                      "there is too little",
                                      *left >> 20),
                          fmt::format("raise it: at least {} MiB have to be left", least_address_space >> 20));
    }
    set_up_logging();
    // The variable would override the adapter that was selected by name.
    unsetenv("VKD3D_VULKAN_DEVICE");
    // Otherwise vkd3d allocates as many Vulkan descriptors for a small heap as the device has, if the device has an
    // extension for that. On lavapipe of Debian 13 this takes 0.1 s and more for each executable.
    setenv("VKD3D_CONFIG", "virtual_heaps", 0);
    auto instance = create_instance();
    if (!instance) {
        return tl::unexpected(instance.error());
    }
    auto implementation = std::make_shared<Implementation>();
    implementation->instance = std::move(*instance);
    VkInstance vulkan = vkd3d_instance_get_vk_instance(implementation->instance.get());
    std::uint32_t count = 0;
    vkEnumeratePhysicalDevices(vulkan, &count, nullptr);
    implementation->handles.resize(count);
    vkEnumeratePhysicalDevices(vulkan, &count, implementation->handles.data());
    implementation->handles.resize(count);
    for (VkPhysicalDevice handle : implementation->handles) {
        implementation->adapters.push_back(describe(vulkan, handle));
    }
    if (implementation->adapters.empty()) {
        return core::fail("no Vulkan device found, though there is a driver", "does the driver fit the hardware?");
    }
    return AdapterList(std::move(implementation));
}

std::span<const AdapterInfo> AdapterList::adapters() const {
    return implementation_->adapters;
}

core::Result<ComPtr<ID3D12Device>> AdapterList::create_device(std::size_t index) const {
    vkd3d_device_create_info info{};
    info.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.minimum_feature_level = D3D_FEATURE_LEVEL_11_0;
    info.instance = implementation_->instance.get();
    info.vk_physical_device = implementation_->handles[index];
    ComPtr<ID3D12Device> device;
    if (const HRESULT code = vkd3d_create_device(&info, IID_PPV_ARGS(device.GetAddressOf())); FAILED(code)) {
        return core::fail(fmt::format("no D3D12 device on {}: {}", implementation_->adapters[index].name,
                                      to_string(static_cast<core::HResult>(code))),
                          recent_diagnostics());
    }
    return device;
}

std::vector<std::pair<std::string, std::string>> library_versions() {
    std::uint32_t vulkan = VK_API_VERSION_1_0;
    if (vkEnumerateInstanceVersion(&vulkan) != VK_SUCCESS) {
        vulkan = VK_API_VERSION_1_0;
    }
    unsigned major = 0;
    unsigned minor = 0;
    return {{"vkd3d", vkd3d_version(vkd3d_shader_get_version(&major, &minor))},
            {"Vulkan loader", fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(vulkan), VK_API_VERSION_MINOR(vulkan),
                                          VK_API_VERSION_PATCH(vulkan))},
            {"DirectX-Headers", DMLCONFORM_DIRECTX_HEADERS_VERSION}};
}

HRESULT serialize_root_signature(const D3D12_ROOT_SIGNATURE_DESC& desc, ID3DBlob** blob, ID3DBlob** messages) {
    return D3D12SerializeRootSignature(&desc, D3D_ROOT_SIGNATURE_VERSION_1_0, blob, messages);
}

FirstDescriptor first_descriptor(ID3D12DescriptorHeap& heap) {
    auto& methods = *static_cast<DescriptorHeapMethods*>(static_cast<void*>(&heap));
    FirstDescriptor first;
    methods.GetCPUDescriptorHandleForHeapStart(&first.processor);
    methods.GetGPUDescriptorHandleForHeapStart(&first.commands);
    return first;
}

FenceEvent::FenceEvent() : implementation_(std::make_unique<Implementation>()) {}

FenceEvent::~FenceEvent() = default;

HRESULT FenceEvent::wait(ID3D12Fence& fence, UINT64 value, std::chrono::milliseconds limit) {
    if (const HRESULT code = fence.SetEventOnCompletion(value, static_cast<Event*>(implementation_.get()));
        FAILED(code)) {
        return code;
    }
    return implementation_->wait(limit) ? S_OK : S_FALSE;
}

std::string recent_diagnostics() {
    const std::scoped_lock lock(diagnostics().mutex);
    return diagnostics().last;
}

}  // namespace dmlconform::d3d12

#endif
