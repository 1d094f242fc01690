// One dispatch, and a look at what it found.
#include "engine/d3d12/half_conversions.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/d3d12/executable.h"
#include "engine/d3d12/roofline_shaders.h"

namespace dmlconform::d3d12 {

core::Result<bool> has_exact_half_conversions(const std::shared_ptr<Device>& device) {
    // A thread for each number, as in the shader.
    constexpr std::uint32_t groups = 256;
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
    const auto bytes = differences.buffer.bytes();
    return std::all_of(bytes.begin(), bytes.end(), [](auto byte) { return std::to_integer<int>(byte) == 0; });
}

}  // namespace dmlconform::d3d12
