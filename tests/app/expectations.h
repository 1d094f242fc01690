// Assertions about what a program did, which print all of its output when they fail.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/app/program.h"

namespace dmlconform::tests {

[[nodiscard]] inline testing::AssertionResult ends_with_code(const ProgramResult& result, int exit_code) {
    if (result.exit_code == exit_code && !result.timed_out) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "instead of exit code " << exit_code << ":\n" << result.all();
}

[[nodiscard]] inline testing::AssertionResult prints(const ProgramResult& result, std::string_view text) {
    if (result.output.find(text) != std::string::npos) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "\"" << text << "\" is not in the output:\n" << result.all();
}

[[nodiscard]] inline testing::AssertionResult complains(const ProgramResult& result, std::string_view text) {
    if (result.errors.find(text) != std::string::npos) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "\"" << text << "\" is not among the errors:\n" << result.all();
}

/// Counts the occurrences of `part`.
[[nodiscard]] inline std::size_t occurrences(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}

}  // namespace dmlconform::tests
