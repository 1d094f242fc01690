// A case as files that any program can read: what `export raw` writes for a machine that has no dmlconform.
//
//     slice1-basic-T-FLOAT16-3f0a8c1d2b4e5f60/
//         case.json            what to compute, and what the files of inputs and outputs are called
//         InputTensor.npy      an input: its elements in row-major order, whatever strides the descriptor has
#pragma once

#include <cstdint>
#include <filesystem>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::outputs {

/// Larger tensors are not written, in bytes.
inline constexpr std::uint64_t largest_raw_tensor = std::uint64_t{1} << 30;

/// Why nothing was written.
struct NoRawCase {
    core::Error error;
    /// Whether its files could not be written. Otherwise there is nothing to write: the case expects a rejection, or
    /// its data are gone or too large.
    bool unwritten = false;
};

/// Writes the folder of the case, which is called by cases::case_folder_name, below `parent`. Files that are there
/// already are replaced.
[[nodiscard]] tl::expected<void, NoRawCase> write_raw_case(const std::filesystem::path& parent,
                                                           const cases::Case& subject);

}  // namespace dmlconform::outputs
