// The project's shaders as bytecode, compiled when the program was built.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/core/error.h"
#include "engine/d3d12/dispatch_plan.h"

namespace dmlconform::d3d12 {

struct CompiledShader {
    /// ShaderVariant::key.
    std::string_view key;
    std::span<const std::uint32_t> code;
};

/// All variants, in the order of their keys. Written by the build (see engine/hlsl/compile_shaders.cpp).
extern const std::span<const CompiledShader> compiled_shaders;

/// Name and version of what compiled them. Written by the build too.
extern const std::string_view shader_compiler;

/// Bytecode of a compute shader, which lives as long as the program. An error for a variant that its binding does not
/// list.
[[nodiscard]] core::Result<std::span<const std::uint32_t>> find_shader(const ShaderVariant& variant);

}  // namespace dmlconform::d3d12
