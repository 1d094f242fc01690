// Runs a shader that tests the conversions, and reads its result.
#include "engine/d3d12/device/half_conversions.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "engine/core/tensor.h"
#include "engine/d3d12/device/executable.h"
#include "engine/d3d12/device/roofline_shaders.h"

namespace dmlconform::d3d12 {

core::Result<bool> has_exact_half_conversions(const std::shared_ptr<Device>& device) {
    // One thread for each number.
    constexpr std::uint32_t groups = 65536 / GROUP_SIZE;
    const auto desc = core::TensorDesc::packed(core::DataType::uint32, {groups});
    Dispatch dispatch;
    dispatch.shader = half_conversions_shader();
    dispatch.buffers = {output(0)};
    dispatch.groups = groups;
    const core::TensorDesc* const outputs[] = {&desc};
    auto executable = D3d12Executable::create(device, {}, outputs, {}, {{}, {dispatch}});
    if (!executable) {
        return tl::unexpected(executable.error());
    }
    core::Tensor differences = core::output_tensor(desc);
    core::Tensor* const targets[] = {&differences};
    for (const auto& result : {(*executable)->bind({}), (*executable)->execute(), (*executable)->read(targets)}) {
        if (!result) {
            return tl::unexpected(result.error());
        }
    }
    // Excludes the guard after the elements.
    const std::span<const std::uint32_t> counts = differences.as<std::uint32_t>();
    return std::ranges::all_of(counts, [](std::uint32_t count) { return count == 0; });
}

}  // namespace dmlconform::d3d12
