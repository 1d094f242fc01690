// Failed HRESULTs as errors.
#pragma once

#include <string_view>

#include "engine/core/error.h"
#include "engine/d3d12/device/d3d12_headers.h"

namespace dmlconform::d3d12 {

/// An error "what: E_OUTOFMEMORY", with the library's diagnostics as the hint.
[[nodiscard]] tl::unexpected<core::Error> d3d12_error(std::string_view what, HRESULT code);

}  // namespace dmlconform::d3d12
