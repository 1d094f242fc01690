// Detects cases that may be wrong: all engines agree with each other, but not with the case.
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

/// Collects what each engine computed for one case, and whether it differs from the case.
class Dispute {
public:
    explicit Dispute(CaseValues& values) : values_(values) {}

    /// Adds an engine's outputs. `differs`: an output is beyond the tolerance of values that the case itself expects. A
    /// retry of an engine replaces its entry.
    void hear(std::size_t engine, bool differs, std::span<const core::Tensor> outputs);

    /// The evidence for the engines: all that differ from the case compute the same, or the only one computes what the
    /// reference does. Empty if there is none.
    [[nodiscard]] std::string verdict(const operators::Descriptor& descriptor,
                                      std::span<const std::unique_ptr<Engine>> engines);

private:
    /// True if the outputs equal those of the first engine that differed, within the tolerances.
    [[nodiscard]] bool agree(std::span<const core::Tensor> outputs);

    CaseValues& values_;
    /// Outputs of the first engine that differed.
    std::vector<core::Tensor> outputs_;
    std::set<std::size_t> agreeing_;
    std::set<std::size_t> dissenting_;
};

/// Copies a tensor without the guard behind its end.
[[nodiscard]] core::Tensor copy_of(const core::Tensor& tensor);

}  // namespace dmlconform::run
