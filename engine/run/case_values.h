// The values of one case: inputs and expected outputs. Each is computed once, when it is first needed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/compare/criteria.h"
#include "engine/core/precision.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/reference.h"
#include "engine/run/reference_source.h"

namespace dmlconform::run {

/// Thrown if a data file of the case was removed or changed since the case was read.
class DataUnavailable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The tolerance and bounds for an engine's output.
struct Accepted {
    compare::Criteria tolerance;
    /// The bounds that the tolerance needs; null if it needs none.
    const core::ElementSlack* bounds = nullptr;
    /// Wider bounds that replace them for an engine that promises less than FP32.
    std::optional<core::ElementSlack> wider{};

    [[nodiscard]] const core::ElementSlack* slack() const { return wider ? &*wider : bounds; }
};

/// What a case may need of the reference.
[[nodiscard]] ReferenceWish reference_wish(const cases::Case& subject);
/// True if the case needs the ranges of some output in any case.
[[nodiscard]] bool needs_slack(const cases::Case& subject);

class CaseValues {
public:
    /// If `answered`, an engine's outputs are expected if the case has no expected values; otherwise the reference's.
    /// The case must outlive this object.
    CaseValues(const cases::Case& subject, bool answered);

    /// Puts inputs into temporary files, so that a graph's values lie in such files as well. Only before the first use.
    void use_files() { in_files_ = true; }
    /// Lets a variant of the operator compute the reference: see engine/cpu/variants.h. Only before the first use.
    void use_variant(std::string variant) { variant_ = std::move(variant); }

    /// One for each of Descriptor::inputs(); null for absent ones. Throws DataUnavailable.
    [[nodiscard]] std::span<const core::Tensor* const> inputs();

    /// Sets the outputs of the engine that the others are compared with, one for each of Descriptor::outputs().
    void set_answer(std::shared_ptr<const std::vector<core::Tensor>> outputs) { answer_ = std::move(outputs); }
    [[nodiscard]] bool has_answer() const { return answer_ != nullptr; }

    /// True if expected values for the output are available: from the case, from the engine that the others are
    /// compared with, or from the reference.
    [[nodiscard]] bool knows(std::size_t output) const;
    /// The expected values. The output must have some. Throws DataUnavailable.
    [[nodiscard]] const core::Tensor& expected(std::size_t output);
    [[nodiscard]] core::Tolerance tolerance(std::size_t output) const;
    /// The bounds that the tolerance needs; null if it needs none.
    [[nodiscard]] const core::ElementSlack* slack(std::size_t output);
    /// For a graph that is judged by Monte Carlo runs: the values in between that may legally differ by whole steps.
    [[nodiscard]] const std::vector<std::string>& undecided();
    /// The tolerance and bounds for an engine that promises that precision.
    [[nodiscard]] Accepted accepted(std::size_t output, core::Precision precision);
    /// The same if the expected values have errors of FP32 as well: what two implementations may differ by is accepted,
    /// too. Empty if they have none.
    [[nodiscard]] std::optional<Accepted> accepted_around_fp32(std::size_t output);
    /// Why passing within that tolerance proves nothing; empty if it does prove something. See compare/power.h.
    [[nodiscard]] const std::string& lack_of_power(std::size_t output, const Accepted& accepted);
    /// The reference's outputs. The operator must have a reference.
    [[nodiscard]] const cpu::Reference& reference();
    /// The reference's outputs with slack that allows FLOAT16 partial sums.
    [[nodiscard]] const cpu::Reference& half_reference();
    /// The reference's outputs if they are needed for the case anyway and the operator has element slack; otherwise
    /// null.
    [[nodiscard]] const cpu::Reference* reference_at_hand(std::size_t output);

private:
    const cases::Case& case_;
    const operators::Descriptor& descriptor_;
    bool answered_;
    bool prepared_ = false;
    bool in_files_ = false;
    std::string variant_{};
    std::vector<core::Tensor> inputs_;
    std::vector<const core::Tensor*> input_pointers_;
    std::shared_ptr<const std::vector<core::Tensor>> answer_;
    std::optional<cpu::Reference> reference_;
    std::optional<cpu::Reference> half_reference_;
    /// Why the reference has no outputs: see ReferenceLost.
    std::optional<std::string> lost_;
    std::vector<std::optional<core::Tensor>> expected_;
    /// lack_of_power for the tolerance of FP32 engines, and for the last other tolerance.
    std::vector<std::optional<std::string>> lacks_;
    std::string other_lack_;
};

}  // namespace dmlconform::run
