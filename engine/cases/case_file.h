// Loads all cases of case files at once, for tools that read few cases or read them repeatedly.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/corpus.h"

namespace dmlconform::cases {

/// All cases, ordered by file and by position in the file, and all problems. The cases may only be used if there are no
/// problems.
struct Suite {
    std::vector<Case> cases;
    std::vector<Problem> problems;
    std::vector<SkippedExpansions> skipped;
};

/// Reads the text of a case file like read_corpus.
[[nodiscard]] Suite read_case_file(const std::string& file, std::string_view text, const ReadOptions& options = {});

/// Loads case files like load_corpus.
[[nodiscard]] Suite load_suite(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace dmlconform::cases
