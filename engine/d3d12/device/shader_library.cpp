// Finds and decompresses compiled shaders.
#include "engine/d3d12/device/shader_library.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace dmlconform::d3d12 {
namespace {

/// Empty if the data is damaged.
std::vector<std::uint32_t> unpack(const CompiledShader& shader) {
    std::vector<std::uint32_t> code(shader.words);
    auto size = static_cast<uLongf>(code.size() * sizeof(code[0]));
    const int status = uncompress(reinterpret_cast<Bytef*>(code.data()), &size,
                                  reinterpret_cast<const Bytef*>(shader.compressed.data()),
                                  static_cast<uLong>(shader.compressed_bytes));
    return status == Z_OK && size == code.size() * sizeof(code[0]) ? code : std::vector<std::uint32_t>();
}

/// The bytecode of shaders that have been used.
class Unpacked {
public:
    std::span<const std::uint32_t> code_of(const CompiledShader& shader) {
        const std::lock_guard lock(mutex_);
        const auto [entry, is_new] = codes_.try_emplace(shader.key);
        if (is_new) {
            entry->second = unpack(shader);
        }
        return entry->second;
    }

private:
    std::mutex mutex_;
    std::map<std::string_view, std::vector<std::uint32_t>> codes_;
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
