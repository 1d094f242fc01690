// The clock rate of a graphics device, if its driver reports it: NVIDIA's by NVML, which is loaded if it is installed.
#pragma once

#include <optional>
#include <string_view>

namespace dmlconform::bench {

class DeviceClock {
public:
    /// Finds the device with that name. Empty if no driver reports clock rates, or if several devices have the name.
    [[nodiscard]] static std::optional<DeviceClock> of(std::string_view adapter);

    /// The current clock rate of its processors.
    [[nodiscard]] std::optional<double> megahertz() const;

private:
    explicit DeviceClock(void* device) : device_(device) {}

    /// NVML's device handle.
    void* device_;
};

}  // namespace dmlconform::bench
