// The values of one case: its inputs, and what its outputs are compared with. Each is made once, when it is needed.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"
#include "engine/cpu/reference.h"

namespace dmlconform::run {

/// A data file of the case has gone or changed since the case was read.
class DataUnavailable : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class CaseValues {
public:
    /// `answered`: where the case expects no values, an engine's answer is what is expected, and not the reference's.
    /// The case must outlive this.
    CaseValues(const cases::Case& subject, bool answered);

    /// In the order of Descriptor::inputs(); null for absent ones. Throws DataUnavailable.
    [[nodiscard]] std::span<const core::Tensor* const> inputs();

    /// The answer of the engine that says what is expected; in the order of Descriptor::outputs().
    void set_answer(std::shared_ptr<const std::vector<core::Tensor>> outputs) { answer_ = std::move(outputs); }
    [[nodiscard]] bool has_answer() const { return answer_ != nullptr; }

    /// Whether somebody says what the output should be: the case, the engine that was asked, or the reference.
    [[nodiscard]] bool knows(std::size_t output) const;
    /// For outputs that are known. Throws DataUnavailable.
    [[nodiscard]] const core::Tensor& expected(std::size_t output);
    [[nodiscard]] core::Tolerance tolerance(std::size_t output) const;
    /// The bounds that the tolerance needs; null if it needs none.
    [[nodiscard]] const core::ElementSlack* slack(std::size_t output);
    /// What the reference computes, of an operator that has one.
    [[nodiscard]] const cpu::Reference& reference();

private:
    const cases::Case& case_;
    const operators::Descriptor& descriptor_;
    bool answered_;
    bool prepared_ = false;
    std::vector<core::Tensor> inputs_;
    std::vector<const core::Tensor*> input_pointers_;
    std::shared_ptr<const std::vector<core::Tensor>> answer_;
    std::optional<cpu::Reference> reference_;
    std::vector<std::optional<core::Tensor>> expected_;
};

}  // namespace dmlconform::run
