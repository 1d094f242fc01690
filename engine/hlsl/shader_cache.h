// Shaders that an earlier build compiled, so that a change of one shader compiles only its own variants.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace dmlconform::hlsl {

/// The bytecode of one shader.
struct CompressedShader {
    /// Compressed by zlib, and padded to whole elements.
    std::vector<std::uint64_t> data;
    std::uint64_t bytes = 0;
    /// The size of the bytecode in 32-bit words.
    std::uint64_t words = 0;
};

/// Two hashes of everything that the bytecode follows from.
using ShaderFingerprint = std::pair<std::uint64_t, std::uint64_t>;

/// The fingerprint of `text`: shader_source() and whatever else the bytecode follows from.
[[nodiscard]] ShaderFingerprint fingerprint_of(const std::string& text);

using ShaderCache = std::map<ShaderFingerprint, CompressedShader>;

/// Reads a cache file. One that is missing, damaged, or of another version gives an empty cache, because everything in
/// it can be compiled again.
[[nodiscard]] ShaderCache read_shader_cache(const std::string& path);

/// Replaces the cache file. It is not written if that fails.
void write_shader_cache(const std::string& path, const ShaderCache& cache);

}  // namespace dmlconform::hlsl
