// One case: an operator with its inputs, and what has to come out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cases/initialiser.h"
#include "engine/core/feature_level.h"
#include "engine/core/hresult.h"
#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cases {

struct Case {
    /// "<file stem>/<name>": what filters, expectations and reports use.
    std::string id;
    std::string description;
    /// Where the case is written.
    std::string file;
    std::size_t line = 0;
    /// Legal at the highest feature level, unless there is expect_error.
    std::shared_ptr<const operators::Descriptor> descriptor;
    /// Engines below this level skip the case.
    core::FeatureLevel min_feature_level;
    /// In the order of Descriptor::inputs(); nothing for an absent tensor, and for all of them with expect_error.
    std::vector<std::optional<Initialiser>> inputs;
    /// In the order of Descriptor::outputs(); nothing where the reference decides.
    std::vector<std::optional<Initialiser>> expected;
    /// In the order of Descriptor::outputs(); nothing: the operator's default.
    std::vector<std::optional<core::Tolerance>> tolerances;
    /// Engines have to reject the descriptor.
    std::optional<core::HResult> expect_error;
    std::vector<std::string> tags;
    /// Why the case cannot be run any more: its data files have changed since it was found right. Empty if it can.
    std::string problem;

    [[nodiscard]] bool has_tag(const std::string& tag) const;
    /// True when some output has no expected values in the file, so that the reference decides.
    [[nodiscard]] bool needs_reference() const;
};

}  // namespace dmlconform::cases
