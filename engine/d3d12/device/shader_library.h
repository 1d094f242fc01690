// The project's shaders as bytecode, which is compiled when the program is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/core/error.h"
#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// The bytecode of several shaders, one after the other. They are compressed together, as variants of one source have
/// much in common.
struct ShaderGroup {
    /// What bytes_in_planes (shader_packing.h) returns, compressed by zlib to about a twelfth; padded to whole
    /// elements.
    std::span<const std::uint64_t> compressed;
    std::size_t compressed_bytes = 0;
    /// The size of the bytecode in 32-bit words.
    std::size_t words = 0;
};

struct CompiledShader {
    /// ShaderVariant::key.
    std::string_view key;
    /// An index into shader_groups.
    std::size_t group = 0;
    /// Where the bytecode is in the group, in 32-bit words.
    std::size_t first_word = 0;
    std::size_t words = 0;
};

/// Written by the build (see engine/hlsl/compile_shaders.cpp).
extern const std::span<const ShaderGroup> shader_groups;

/// All variants, sorted by key. Written by the build.
extern const std::span<const CompiledShader> compiled_shaders;

/// Name and version of the shader compiler. Written by the build.
extern const std::string_view shader_compiler;

/// The bytecode of a compute shader. Its group is decompressed on first use and lives as long as the program. Fails for
/// a variant that no binding lists. Thread-safe.
[[nodiscard]] core::Result<std::span<const std::uint32_t>> find_shader(const ShaderVariant& variant);

}  // namespace dmlconform::d3d12
