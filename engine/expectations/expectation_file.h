// Reading of expectation files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/problems.h"
#include "engine/expectations/expectation.h"

namespace dmlconform::expectations {

/// What a file of expectations says that it is. Case files have no such key, so that both can be in one folder.
inline constexpr std::string_view format_name = "dmlconform-expectations";
inline constexpr unsigned format_version = 1;

/// In bytes.
inline constexpr std::uintmax_t largest_file = std::uintmax_t{16} << 20;

/// Expectations in the order of the file, or what is wrong with it.
struct ExpectationFile {
    std::vector<Expectation> expectations;
    std::vector<cases::Problem> problems;
};

[[nodiscard]] ExpectationFile read_expectations(const std::string& file, std::string_view text);

/// The same from the disk.
[[nodiscard]] ExpectationFile load_expectations(const std::string& path);

/// A JSON Schema (2020-12) for these files.
[[nodiscard]] std::string expectations_schema();

}  // namespace dmlconform::expectations
