// The engine's shaders with planted bugs, compiled on first use. The linker prefers this definition to that in the
// engine's library.
#include <map>
#include <string>
#include <vector>

#include "engine/d3d12/device/shader_library.h"
#include "engine/hlsl/hlsl_compiler.h"

namespace dmlconform::d3d12 {

core::Result<std::span<const std::uint32_t>> find_shader(const ShaderVariant& variant) {
    static std::map<std::string, std::vector<std::uint32_t>> compiled;
    const std::string key = variant.key();
    auto found = compiled.find(key);
    if (found == compiled.end()) {
        auto code = hlsl::compile_shader(variant);
        if (!code) {
            return tl::unexpected(code.error());
        }
        found = compiled.emplace(key, std::move(*code)).first;
    }
    return std::span<const std::uint32_t>(found->second);
}

}  // namespace dmlconform::d3d12
