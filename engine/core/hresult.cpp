// The table of HRESULT names.
#include "engine/core/hresult.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engine/core/parse_number.h"

namespace dmlconform::core {
namespace {

constexpr std::array<std::pair<std::uint32_t, std::string_view>, 11> names{{
    {0x00000000, "S_OK"},
    {0x80070057, "E_INVALIDARG"},
    {0x80004001, "E_NOTIMPL"},
    {0x8007000e, "E_OUTOFMEMORY"},
    {0x80004005, "E_FAIL"},
    {0x80004002, "E_NOINTERFACE"},
    {0x8000ffff, "E_UNEXPECTED"},
    {0x887a0004, "DXGI_ERROR_UNSUPPORTED"},
    {0x887a0005, "DXGI_ERROR_DEVICE_REMOVED"},
    {0x887a0006, "DXGI_ERROR_DEVICE_HUNG"},
    {0x887a0007, "DXGI_ERROR_DEVICE_RESET"},
}};

}  // namespace

std::string to_string(HResult code) {
    for (const auto& [value, name] : names) {
        if (value == static_cast<std::uint32_t>(code)) {
            return std::string(name);
        }
    }
    return fmt::format("0x{:08x}", static_cast<std::uint32_t>(code));
}

std::optional<HResult> parse_hresult(std::string_view text) {
    for (const auto& [value, name] : names) {
        if (name == text) {
            return static_cast<HResult>(value);
        }
    }
    if (text.starts_with("0x")) {
        if (const auto value = parse_number<std::uint32_t>(text.substr(2), 16)) {
            return static_cast<HResult>(*value);
        }
    }
    return std::nullopt;
}

}  // namespace dmlconform::core
