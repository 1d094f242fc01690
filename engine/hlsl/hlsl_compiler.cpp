// Compiles shaders by D3DCompile; #include is resolved among the embedded files.
#include "engine/hlsl/hlsl_compiler.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/hresult.h"
#include "engine/d3d12/device/d3d12_headers.h"
#if defined(_WIN32)
#include <d3dcompiler.h>
#else
// vkd3d's headers need Direct3D's types.
#define VKD3D_NO_WIN32_TYPES
#include <vkd3d_shader.h>
#include <vkd3d_utils.h>
#endif

namespace dmlconform::hlsl {
namespace {

using d3d12::ComPtr;

#if defined(_WIN32)
// Without strictness the compiler assumes that there are no NaNs.
constexpr UINT flags = D3DCOMPILE_OPTIMIZATION_LEVEL3 | D3DCOMPILE_IEEE_STRICTNESS;
#else
constexpr UINT flags = 0;
// Defined here because the header that has it, vkd3d_d3dcompiler.h, conflicts with vkd3d_utils.h.
constexpr UINT D3DCOMPILER_STRIP_REFLECTION_DATA = 1;
#endif

/// The names of files are unique without their folders.
std::optional<std::string_view> find_shader_text(std::string_view path) {
    const std::string_view file_name = path.substr(path.rfind('/') + 1);
    for (const core::EmbeddedText& file : shader_texts) {
        if (file.name == file_name) {
            return file.text;
        }
    }
    return std::nullopt;
}

constexpr const char* target = "cs_5_1";

class EmbeddedIncludes final : public ID3DInclude {
public:
    HRESULT STDMETHODCALLTYPE Open(D3D_INCLUDE_TYPE /*type*/, LPCSTR name, LPCVOID /*parent*/, LPCVOID* data,
                                   UINT* bytes) override {
        const auto text = find_shader_text(name);
        if (!text) {
            return E_FAIL;
        }
        *data = text->data();
        *bytes = static_cast<UINT>(text->size());
        return S_OK;
    }

    HRESULT STDMETHODCALLTYPE Close(LPCVOID /*data*/) override { return S_OK; }
};

/// Appends a file and, once each, the files that it includes.
void append_text(std::string_view path, std::set<const char*>& seen, std::string& result) {
    const auto text = find_shader_text(path);
    if (!text || !seen.insert(text->data()).second) {
        return;
    }
    result += *text;
    constexpr std::string_view directive = "#include \"";
    for (std::size_t at = text->find(directive); at != std::string_view::npos; at = text->find(directive, at)) {
        at += directive.size();
        append_text(text->substr(at, text->find('"', at) - at), seen, result);
    }
}

std::string text_of(ID3DBlob* messages) {
    if (messages == nullptr) {
        return {};
    }
    std::string text(static_cast<const char*>(messages->GetBufferPointer()), messages->GetBufferSize());
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) {
        text.pop_back();
    }
    return text;
}

std::string file_name_of(const d3d12::ShaderVariant& variant) {
    return fmt::format("{}.hlsl", variant.shader);
}

}  // namespace

std::string shader_source(const d3d12::ShaderVariant& variant) {
    std::string source = fmt::format("{} {} {}\n", target, flags, variant.key());
    std::set<const char*> seen;
    append_text(file_name_of(variant), seen, source);
    return source;
}

core::Result<std::vector<std::uint32_t>> compile_shader(const d3d12::ShaderVariant& variant) {
    const std::string file = file_name_of(variant);
    const auto text = find_shader_text(file);
    if (!text) {
        return core::fail(fmt::format("there is no shader {}", file));
    }
    std::vector<std::pair<std::string, std::string>> defines;
    for (const auto& [name, value] : variant.defines) {
        defines.emplace_back(name, fmt::format("{}", value));
    }
    std::vector<D3D_SHADER_MACRO> macros;
    for (const auto& [name, value] : defines) {
        macros.push_back({name.c_str(), value.c_str()});
    }
    macros.push_back({nullptr, nullptr});

    EmbeddedIncludes includes;
    ComPtr<ID3DBlob> code;
    ComPtr<ID3DBlob> messages;
    HRESULT result = D3DCompile(text->data(), text->size(), file.c_str(), macros.data(), &includes, "main", target,
                                flags, 0, code.GetAddressOf(), messages.GetAddressOf());
    if (FAILED(result)) {
        return core::fail(fmt::format("shader {} does not compile: {}", variant.key(),
                                      core::to_string(static_cast<core::HResult>(result))),
                          text_of(messages.Get()));
    }
    // Reflection data (names and types of constants) is a sixth of the bytecode and is not needed.
    ComPtr<ID3DBlob> stripped;
    result = D3DStripShader(code->GetBufferPointer(), code->GetBufferSize(), D3DCOMPILER_STRIP_REFLECTION_DATA,
                            stripped.GetAddressOf());
    if (FAILED(result)) {
        return core::fail(fmt::format("the bytecode of shader {} cannot be stripped: {}", variant.key(),
                                      core::to_string(static_cast<core::HResult>(result))));
    }
    const auto* words = static_cast<const std::uint32_t*>(stripped->GetBufferPointer());
    return std::vector<std::uint32_t>(words, words + stripped->GetBufferSize() / sizeof(std::uint32_t));
}

std::string compiler_version() {
#if defined(_WIN32)
    return fmt::format("d3dcompiler {}", D3D_COMPILER_VERSION);
#else
    unsigned major = 0;
    unsigned minor = 0;
    vkd3d_shader_get_version(&major, &minor);
    return fmt::format("vkd3d {}.{}", major, minor);
#endif
}

}  // namespace dmlconform::hlsl
