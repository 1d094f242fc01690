// The project's HLSL files, and their compilation to bytecode. Part of the build, not of the program: see
// compile_shaders.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/core/embedded_text.h"
#include "engine/core/error.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::hlsl {

/// shaders/*/*.hlsl and *.hlsli. Written by the build.
extern const std::span<const core::EmbeddedText> shader_texts;

/// The bytecode of a compute shader as 32-bit words. On failure, the hint has the compiler's messages.
[[nodiscard]] core::Result<std::vector<std::uint32_t>> compile_shader(const d3d12::ShaderVariant& variant);

/// Everything that a shader's bytecode follows from besides the compiler: its text, the texts that it includes, and the
/// variant's macros.
[[nodiscard]] std::string shader_source(const d3d12::ShaderVariant& variant);

/// Name and version of the compiler: "vkd3d 2.1".
[[nodiscard]] std::string compiler_version();

}  // namespace dmlconform::hlsl
