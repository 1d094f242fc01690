// Case files: reading one, and loading many from files and folders.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cases/case.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// Expansions of a sweep that were left out because their descriptors are illegal and the case allows it.
struct SkippedExpansions {
    /// The case's id, without sweep values.
    std::string id;
    std::size_t count = 0;
};

/// Cases in the order of the files and of the cases in them, and everything that is wrong with the input. Cases are
/// only of use when there are no problems.
struct Suite {
    std::vector<Case> cases;
    std::vector<Problem> problems;
    std::vector<SkippedExpansions> skipped;
};

struct ReadOptions {
    /// Lets data files be outside the case file's folder.
    bool allow_external_data = false;
    /// In one file, expansions of sweeps counted one by one. A case takes one or two kilobytes of memory.
    std::size_t most_cases = 200'000;
};

/// Reads a case file's text. `file` is its path, for messages, and its stem begins the cases' ids.
[[nodiscard]] Suite read_case_file(const std::string& file, std::string_view text, const ReadOptions& options = {});

/// Loads case files, and all *.json below folders in the order of their paths.
[[nodiscard]] Suite load_suite(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace dmlconform::cases
