// The project's shaders as bytecode, which is compiled when the program is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/core/error.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

struct CompiledShader {
    /// ShaderVariant::key.
    std::string_view key;
    /// Compressed by zlib to about a seventh of the size; padded to whole elements.
    std::span<const std::uint64_t> compressed;
    std::size_t compressed_bytes = 0;
    /// The size of the bytecode in 32-bit words.
    std::size_t words = 0;
};

/// All variants, sorted by key. The build writes the list (see engine/hlsl/compile_shaders.cpp).
extern const std::span<const CompiledShader> compiled_shaders;

/// Name and version of the shader compiler. Written by the build.
extern const std::string_view shader_compiler;

/// The bytecode of a compute shader. It is decompressed on first use and lives as long as the program. Fails for a
/// variant that no binding lists. Thread-safe.
[[nodiscard]] core::Result<std::span<const std::uint32_t>> find_shader(const ShaderVariant& variant);

}  // namespace dmlconform::d3d12
