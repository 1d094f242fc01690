// Lookup of compiled shaders.
#include "engine/d3d12/shader_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace dmlconform::d3d12 {

core::Result<std::span<const std::uint32_t>> find_shader(const ShaderVariant& variant) {
    const std::string key = variant.key();
    const auto found = std::ranges::lower_bound(compiled_shaders, std::string_view(key), {}, &CompiledShader::key);
    if (found == compiled_shaders.end() || found->key != key) {
        return core::fail(fmt::format("the shader {} was not compiled: its binding does not list it", key));
    }
    return found->code;
}

}  // namespace dmlconform::d3d12
