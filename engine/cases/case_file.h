// All cases of case files at once: for tools that go through few of them, or through all of them several times.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/corpus.h"

namespace dmlconform::cases {

/// Cases in the order of the files and of the cases in them, and everything that is wrong with the input. Cases are
/// only of use when there are no problems.
struct Suite {
    std::vector<Case> cases;
    std::vector<Problem> problems;
    std::vector<SkippedExpansions> skipped;
};

/// As read_corpus.
[[nodiscard]] Suite read_case_file(const std::string& file, std::string_view text, const ReadOptions& options = {});

/// As load_corpus.
[[nodiscard]] Suite load_suite(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace dmlconform::cases
