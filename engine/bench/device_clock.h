// The clock rate of a graphics device, where its driver tells it: NVIDIA's by NVML, which is loaded if it is there.
#pragma once

#include <optional>
#include <string_view>

namespace dmlconform::bench {

class DeviceClock {
public:
    /// Of the device that the driver calls so. Nothing where no driver tells, or where several devices have that name.
    [[nodiscard]] static std::optional<DeviceClock> of(std::string_view adapter);

    /// The rate at which its processors run now.
    [[nodiscard]] std::optional<double> megahertz() const;

private:
    explicit DeviceClock(void* device) : device_(device) {}

    /// NVML's handle.
    void* device_;
};

}  // namespace dmlconform::bench
