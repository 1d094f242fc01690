// Formats failed HRESULTs.
#include "engine/d3d12/device/d3d12_error.h"

#include <fmt/format.h>

#include "engine/core/hresult.h"
#include "engine/d3d12/device/platform.h"

namespace dmlconform::d3d12 {

tl::unexpected<core::Error> d3d12_error(std::string_view what, HRESULT code) {
    return core::fail(fmt::format("{}: {}", what, to_string(static_cast<core::HResult>(code))), recent_diagnostics());
}

}  // namespace dmlconform::d3d12
