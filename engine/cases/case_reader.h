// Reads one case of a case file.
#pragma once

#include <optional>
#include <string>

#include "engine/cases/case.h"
#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// The keys of a case, in the order of the documentation.
[[nodiscard]] std::span<const std::string> case_keys();

/// Context of a case: what read_case needs besides the case's JSON.
struct CaseContext {
    /// The first part of the id.
    std::string file_stem;
    /// The folder of data files.
    DataFolder folder;
    /// The last part of the id: "[T=FLOAT16]" for an expansion of a sweep, otherwise empty.
    std::string suffix;
    /// Incremented for each expansion that `skipInvalid` skips.
    std::size_t skipped = 0;
    /// The case was valid when it was first read. If it no longer is, read_case returns it with Case::problem.
    bool was_right = false;
    /// ReadOptions::without_expected.
    bool without_expected = false;
};

/// Reads a case, or an expansion of one, with the file's defaults already merged. Reports problems. Empty if there are
/// any, and for skipped expansions.
[[nodiscard]] std::optional<Case> read_case(const JsonValue& object, CaseContext& context, ProblemSink& problems);

}  // namespace dmlconform::cases
