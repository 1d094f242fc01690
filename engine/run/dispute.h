// Whether a case may be wrong and not the engines: they all compute the same, and the case expects something else.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/engine.h"
#include "engine/run/case_values.h"

namespace dmlconform::run {

/// Hears what each engine computed for one case, and how that compares with the case.
class Dispute {
public:
    explicit Dispute(CaseValues& values) : values_(values) {}

    /// `differs`: beyond the tolerance, from values that the case itself expects. An engine that is tried again is
    /// heard again.
    void hear(std::size_t engine, bool differs, std::span<const core::Tensor> outputs);

    /// What speaks for the engines: those that differ all compute the same, or the only one computes what the reference
    /// does. Empty if nothing does.
    [[nodiscard]] std::string verdict(const operators::OperatorSchema& schema,
                                      std::span<const std::unique_ptr<Engine>> engines);

private:
    /// Whether the outputs are those of the first engine that differed, within the tolerances.
    [[nodiscard]] bool agree(std::span<const core::Tensor> outputs);

    CaseValues& values_;
    /// Of the first engine that differed.
    std::vector<core::Tensor> outputs_;
    std::set<std::size_t> agreeing_;
    std::set<std::size_t> dissenting_;
};

/// In a buffer of its own, without the guard that outputs have behind their end.
[[nodiscard]] core::Tensor copy_of(const core::Tensor& tensor);

}  // namespace dmlconform::run
