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
    /// Where the elements start in the file.
    std::size_t data_offset = 0;
};

/// Headers are never longer than this, for us: NumPy's own take some hundred bytes.
inline constexpr std::size_t longest_npy_header = 64 * 1024;

/// The code of a type that is at least a byte wide: "<f4".
[[nodiscard]] std::string_view npy_type_code(core::DataType type);

/// Reads the header from the beginning of a file, of which `start` holds at least the header, or all.
[[nodiscard]] core::Result<NpyHeader> parse_npy_header(std::string_view start);

/// Reads the header of a file. An error (without the path) for what is not a regular file, or does not have such a
/// header.
[[nodiscard]] core::Result<NpyHeader> read_npy_header(const std::filesystem::path& path);

}  // namespace dmlconform::cases
