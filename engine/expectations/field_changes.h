// Changes to a case's descriptor, for engines that compute what is right of another descriptor.
//
//     { "InputPixelOffsets": "OutputPixelOffsets", "OutputPixelOffsets": "InputPixelOffsets" }
//     { "MaskTensor": null, "IncludePadding": false, "Scales": 1 }
//     { "Strides": "Strides[0]", "StartPadding[1]": 0 }
//     { "InputTensor": { "atLeast": -3.4028234663852886e+38 } }
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/cases/case.h"
#include "engine/cases/json_document.h"
#include "engine/cases/problems.h"

namespace dmlconform::expectations {

/// Smaller elements of an input, and NaN, become this, or the lowest finite number of the type.
struct AtLeast {
    double bound;
};

/// What a field becomes.
struct FieldChange {
    std::string field;
    /// Absent, a number (for each entry of an array, or for "Strides[1]" alone), what another field or an entry of an
    /// array has in the unchanged case, or the same input with larger elements.
    std::variant<std::monostate, double, std::string, AtLeast> becomes;
};

/// A changed case, how it is computed, and how many times its tolerance an engine may be off.
struct OtherCase {
    std::vector<FieldChange> changes{};
    /// A variant of the operator: see engine/cpu/variants.h. Empty if the case is computed as it should be.
    std::string variant{};
    double times_tolerance = 1;

    /// False if it is the case itself.
    [[nodiscard]] bool is_other() const { return !changes.empty() || !variant.empty(); }
};

/// Reports problems; the result is then empty.
[[nodiscard]] std::optional<std::vector<FieldChange>> read_field_changes(
    const cases::JsonValue& value, std::span<const operators::OperatorSchema* const> operators,
    cases::ProblemSink& problems);

/// The case with these changes, and without values, tolerances and precision of its own. Nothing if its operator lacks
/// a field, if data files are missing, or if the result is not legal. An output of QUANTIZED_LINEAR_CONVOLUTION may
/// have another size than follows from the changed fields.
[[nodiscard]] std::optional<cases::Case> changed(const cases::Case& subject, std::span<const FieldChange> changes);

}  // namespace dmlconform::expectations
