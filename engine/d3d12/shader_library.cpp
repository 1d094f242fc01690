// Compilation of embedded HLSL, with #include resolved among the embedded files.
#include "engine/d3d12/shader_library.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "engine/d3d12/d3d12_error.h"
#include "engine/d3d12/platform.h"

namespace dmlconform::d3d12 {
namespace {

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

}  // namespace

std::optional<std::string_view> find_shader_text(std::string_view file_name) {
    for (const core::EmbeddedText& file : shader_texts) {
        if (file.name == file_name) {
            return file.text;
        }
    }
    return std::nullopt;
}

core::Result<ComPtr<ID3DBlob>> compile_shader(const ShaderVariant& variant) {
    const std::string file = fmt::format("{}.hlsl", variant.shader);
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
    const HRESULT result =
        compile_hlsl(*text, file.c_str(), macros.data(), &includes, code.GetAddressOf(), messages.GetAddressOf());
    if (FAILED(result)) {
        auto error = d3d12_error(fmt::format("shader {} does not compile", variant.key()), result);
        error.value().hint = text_of(messages.Get());
        return error;
    }
    return code;
}

}  // namespace dmlconform::d3d12
