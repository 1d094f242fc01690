// The JSON Schema of case files, generated from the catalogue, with which editors check files and complete names.
#pragma once

#include <string>

namespace dmlconform::cases {

/// A JSON Schema (2020-12). It accepts every file that the reader accepts; what takes arithmetic (counts, ranges of
/// types, legality of descriptors) only the reader checks.
[[nodiscard]] std::string case_file_schema();

}  // namespace dmlconform::cases
