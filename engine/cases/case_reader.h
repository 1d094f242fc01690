// Reading of one case of a case file.
#pragma once

#include <optional>
#include <string>

#include "engine/cases/case.h"
#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::cases {

/// Keys of a case, in the order in which they are documented.
[[nodiscard]] std::span<const std::string> case_keys();

/// What read_case needs to know besides the case itself.
struct CaseContext {
    /// Begins the id.
    std::string file_stem;
    /// Where data files are.
    DataFolder folder;
    /// "[T=FLOAT16]" for an expansion of a sweep, else empty; ends the id.
    std::string suffix;
    /// Counts expansions that are left out because `skipInvalid` allows it.
    std::size_t skipped = 0;
    /// Whether a case that was right when it was read first is returned with Case::problem if it is not now.
    bool was_right = false;
    /// ReadOptions::without_expected.
    bool without_expected = false;
};

/// Reads a case into which the file's defaults are merged already, or an expansion of one. Reports what is wrong.
/// Returns nothing then, and for an expansion that is skipped.
[[nodiscard]] std::optional<Case> read_case(const JsonValue& object, CaseContext& context, ProblemSink& problems);

}  // namespace dmlconform::cases
