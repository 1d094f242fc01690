// The header of NumPy's .npy files (format versions 1, 2 and 3), as numpy.lib.format documents it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "engine/core/data_type.h"
#include "engine/core/error.h"

namespace dmlconform::cases {

struct NpyHeader {
    core::DataType type = core::DataType::unknown;
    bool fortran_order = false;
    std::vector<std::uint64_t> shape;
    /// Offset of the first element in the file.
    std::size_t data_offset = 0;
};

/// Limit for the length of a header. NumPy's headers take about a hundred bytes.
inline constexpr std::size_t longest_npy_header = 64 * 1024;

/// The type code: "<f4". The type must be at least one byte wide.
[[nodiscard]] std::string_view npy_type_code(core::DataType type);

/// Parses the header. `start` must contain the complete header, or the whole file.
[[nodiscard]] core::Result<NpyHeader> parse_npy_header(std::string_view start);

/// Reads the header of a file. Fails if the path is not a regular file or has no valid header. The error does not
/// contain the path.
[[nodiscard]] core::Result<NpyHeader> read_npy_header(const std::filesystem::path& path);

}  // namespace dmlconform::cases
