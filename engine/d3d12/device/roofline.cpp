// Measures peak bandwidth and throughput by two dispatches: a copy, and multiply-adds in registers.
#include "engine/d3d12/device/roofline.h"

#include <algorithm>
#include <limits>

#include "engine/d3d12/device/device.h"
#include "engine/d3d12/device/executable.h"
#include "engine/d3d12/device/roofline_shaders.h"
#include "shaders/device/roofline_multiply_add_parameters.hlsli"

namespace dmlconform::d3d12 {
namespace {

constexpr std::uint64_t bytes_per_thread = 16;
/// Larger than any cache, and small enough for lavapipe to bind.
constexpr std::uint64_t copied_bytes = std::uint64_t{128} << 20;
constexpr std::uint64_t sum_count = std::uint64_t{1} << 20;

/// Steps of the first attempt. They are increased until an execution takes long enough for the clock.
constexpr std::uint32_t fewest_steps = 64;
constexpr std::uint32_t most_steps = 1u << 20;
constexpr double long_enough = 5e-3;
constexpr int repetitions = 5;

DispatchPlan copy_plan() {
    Dispatch dispatch;
    dispatch.shader = roofline_copy_shader();
    dispatch.buffers = {temporary(0), temporary(1)};
    dispatch.has_units = true;
    dispatch.groups = groups_of(copied_bytes, bytes_per_thread * group_size);
    return {{copied_bytes, copied_bytes}, {dispatch}};
}

DispatchPlan multiply_add_plan(std::uint32_t steps) {
    Dispatch dispatch;
    dispatch.shader = roofline_multiply_add_shader();
    dispatch.buffers = {temporary(0)};
    RooflineMultiplyAddParameters parameters{};
    parameters.steps = steps;
    parameters.factor = 0.999F;
    dispatch.parameters = parameters_from(parameters);
    dispatch.groups = groups_of(sum_count, group_size);
    return {{sum_count * sizeof(float)}, {dispatch}};
}

/// The fastest of several executions, because disturbances only make executions slower.
core::Result<double> fastest_seconds(const std::shared_ptr<Device>& device, const DispatchPlan& plan) {
    auto executable = D3d12Executable::create(device, {}, {}, {}, plan);
    if (!executable) {
        return tl::unexpected(executable.error());
    }
    if (auto bound = (*executable)->bind({}); !bound) {
        return tl::unexpected(bound.error());
    }
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repetitions; ++i) {
        if (auto executed = (*executable)->execute(); !executed) {
            return tl::unexpected(executed.error());
        }
        const auto time = (*executable)->device_time();
        if (!time || time->count() <= 0) {
            return core::fail("the device has no timestamps");
        }
        fastest = std::min(fastest, std::chrono::duration<double>(*time).count());
    }
    return fastest;
}

}  // namespace

core::Result<Roofline> measure_roofline(const std::shared_ptr<Device>& device) {
    const auto copying = fastest_seconds(device, copy_plan());
    if (!copying) {
        return tl::unexpected(copying.error());
    }
    Roofline roofline;
    roofline.bytes_per_second = 2.0 * static_cast<double>(copied_bytes) / *copying;
    for (std::uint32_t steps = fewest_steps;; steps *= 4) {
        const auto computing = fastest_seconds(device, multiply_add_plan(steps));
        if (!computing) {
            return tl::unexpected(computing.error());
        }
        if (*computing >= long_enough || steps >= most_steps) {
            roofline.operations_per_second = 2.0 * static_cast<double>(sum_count * ROOFLINE_LANES) * steps / *computing;
            return roofline;
        }
    }
}

}  // namespace dmlconform::d3d12
