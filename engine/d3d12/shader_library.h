// The project's HLSL, compiled in as text, and its compilation to bytecode.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "engine/core/embedded_text.h"
#include "engine/core/error.h"
#include "engine/d3d12/d3d12_headers.h"
#include "engine/d3d12/dispatch_plan.h"

namespace dmlconform::d3d12 {

/// shaders/*.hlsl and *.hlsli. Written by the build.
extern const std::span<const core::EmbeddedText> shader_texts;

/// The text of a file of shaders/, by its full name.
[[nodiscard]] std::optional<std::string_view> find_shader_text(std::string_view file_name);

/// Bytecode of a compute shader, or the compiler's messages.
[[nodiscard]] core::Result<ComPtr<ID3DBlob>> compile_shader(const ShaderVariant& variant);

}  // namespace dmlconform::d3d12
