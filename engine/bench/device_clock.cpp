// Calls the necessary functions of NVML, declared as in its documentation ("NVML API Reference Guide"): enumerations
// are C ints, and 0 is success.
#include "engine/bench/device_clock.h"

#include <array>

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace dmlconform::bench {
namespace {

void* function_of_nvml(const char* name) {
#if defined(_WIN32)
    static const HMODULE library = LoadLibraryW(L"nvml.dll");
    return library == nullptr ? nullptr : reinterpret_cast<void*>(GetProcAddress(library, name));
#else
    static void* const library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    return library == nullptr ? nullptr : dlsym(library, name);
#endif
}

/// NVML_CLOCK_SM.
constexpr int clock_of_processors = 1;
/// NVML_DEVICE_NAME_V2_BUFFER_SIZE.
constexpr std::size_t longest_name = 96;

struct Nvml {
    int (*init)() = nullptr;
    int (*count)(unsigned* count) = nullptr;
    int (*handle)(unsigned index, void** device) = nullptr;
    int (*name)(void* device, char* name, unsigned length) = nullptr;
    int (*clock)(void* device, int type, unsigned* megahertz) = nullptr;

    Nvml() {
        find(init, "nvmlInit_v2");
        find(count, "nvmlDeviceGetCount_v2");
        find(handle, "nvmlDeviceGetHandleByIndex_v2");
        find(name, "nvmlDeviceGetName");
        find(clock, "nvmlDeviceGetClockInfo");
        complete = init != nullptr && count != nullptr && handle != nullptr && name != nullptr && clock != nullptr &&
                   init() == 0;
    }

    template <class Function>
    static void find(Function*& function, const char* name) {
        function = reinterpret_cast<Function*>(function_of_nvml(name));
    }

    bool complete = false;
};

/// Never unloaded, because it may be used until the program ends.
const Nvml& nvml() {
    static const Nvml loaded;
    return loaded;
}

bool is_called(void* device, std::string_view adapter) {
    std::array<char, longest_name> name{};
    return nvml().name(device, name.data(), static_cast<unsigned>(name.size() - 1)) == 0 && adapter == name.data();
}

}  // namespace

std::optional<DeviceClock> DeviceClock::of(std::string_view adapter) {
    unsigned count = 0;
    if (!nvml().complete || nvml().count(&count) != 0) {
        return std::nullopt;
    }
    std::optional<DeviceClock> found;
    for (unsigned i = 0; i < count; ++i) {
        void* device = nullptr;
        if (nvml().handle(i, &device) != 0 || !is_called(device, adapter)) {
            continue;
        }
        if (found) {
            return std::nullopt;
        }
        found = DeviceClock(device);
    }
    return found;
}

std::optional<double> DeviceClock::megahertz() const {
    unsigned rate = 0;
    return nvml().clock(device_, clock_of_processors, &rate) == 0 ? std::optional<double>(rate) : std::nullopt;
}

}  // namespace dmlconform::bench
