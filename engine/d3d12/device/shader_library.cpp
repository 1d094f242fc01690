// Finds and decompresses compiled shaders.
#include "engine/d3d12/device/shader_library.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/d3d12/device/shader_packing.h"

namespace dmlconform::d3d12 {
namespace {

/// Empty if the data is damaged.
std::vector<std::uint32_t> unpack(const ShaderGroup& group) {
    std::vector<std::uint8_t> bytes(group.words * sizeof(std::uint32_t));
    auto size = static_cast<uLongf>(bytes.size());
    const int status = uncompress(bytes.data(), &size, reinterpret_cast<const Bytef*>(group.compressed.data()),
                                  static_cast<uLong>(group.compressed_bytes));
    return status == Z_OK && size == bytes.size() ? words_of_planes(bytes) : std::vector<std::uint32_t>();
}

/// The bytecode of the groups that have been used.
class Unpacked {
public:
    /// Empty if the data is damaged.
    std::span<const std::uint32_t> code_of(const CompiledShader& shader) {
        const std::lock_guard lock(mutex_);
        const auto [entry, is_new] = groups_.try_emplace(shader.group);
        if (is_new) {
            entry->second = unpack(shader_groups[shader.group]);
        }
        const std::span<const std::uint32_t> group = entry->second;
        return group.empty() ? group : group.subspan(shader.first_word, shader.words);
    }

private:
    std::mutex mutex_;
    std::map<std::size_t, std::vector<std::uint32_t>> groups_;
};

}  // namespace

core::Result<std::span<const std::uint32_t>> find_shader(const ShaderVariant& variant) {
    const std::string key = variant.key();
    const auto found = std::ranges::lower_bound(compiled_shaders, std::string_view(key), {}, &CompiledShader::key);
    if (found == compiled_shaders.end() || found->key != key) {
        return core::fail(fmt::format("the shader {} was not compiled: its binding does not list it", key));
    }
    static Unpacked unpacked;
    const auto code = unpacked.code_of(*found);
    if (code.empty()) {
        return core::fail(fmt::format("the shader {} cannot be unpacked: the program is damaged", key));
    }
    return code;
}

}  // namespace dmlconform::d3d12
