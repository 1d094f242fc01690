// The JSON Schema of case files, generated from the catalogue. Editors use it to check files and to complete names.
#pragma once

#include <string>

namespace dmlconform::cases {

/// A JSON Schema (2020-12) that accepts every file that the reader accepts. Only the reader checks counts, ranges of
/// types, and the legality of descriptors.
[[nodiscard]] std::string case_file_schema();

}  // namespace dmlconform::cases
