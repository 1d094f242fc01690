// HRESULTs, the error codes of DirectML and D3D12, and their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dmlconform::core {

enum class HResult : std::uint32_t {
    ok = 0,
    invalid_argument = 0x80070057,
    not_implemented = 0x80004001,
    out_of_memory = 0x8007000e,
    fail = 0x80004005,
};

/// The name, such as "E_INVALIDARG", or "0x%08x" for a code that is not in the table.
[[nodiscard]] std::string to_string(HResult code);

/// Parses a name or a hexadecimal number with 0x.
[[nodiscard]] std::optional<HResult> parse_hresult(std::string_view text);

}  // namespace dmlconform::core
