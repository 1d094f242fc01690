// Reads expectation files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/problems.h"
#include "engine/expectations/expectation.h"

namespace dmlconform::expectations {

/// The format that an expectation file declares. Case files lack this key, so both can be in one folder.
inline constexpr std::string_view format_name = "dmlconform-expectations";
inline constexpr unsigned format_version = 1;

/// Limit in bytes.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{16} << 20;

/// The expectations in the order of the file, or the file's problems.
struct ExpectationFile {
    std::vector<Expectation> expectations;
    std::vector<cases::Problem> problems;
};

[[nodiscard]] ExpectationFile read_expectations(const std::string& file, std::string_view text);

/// Loads a file.
[[nodiscard]] ExpectationFile load_expectations(const std::string& path);

/// A JSON Schema (2020-12) for expectation files.
[[nodiscard]] std::string expectations_schema();

}  // namespace dmlconform::expectations
