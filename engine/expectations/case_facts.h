// Properties of a case that conditions need: its descriptor, the rule that it breaks, the values of its inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/tensor.h"

namespace dmlconform::expectations {

/// Not thread-safe. The case must outlive it. Expensive facts are computed on first use.
class CaseFacts {
public:
    explicit CaseFacts(const cases::Case& subject) : subject_(subject) {}

    [[nodiscard]] const operators::Descriptor& descriptor() const { return *subject_.descriptor; }

    [[nodiscard]] bool has_to_be_rejected() const { return subject_.expect_error.has_value(); }

    /// The rule by which the descriptor is illegal at every feature level; empty for a legal one.
    [[nodiscard]] const std::string& broken_rule();

    /// The packed elements of an input. Null if the input is absent, if the case must be rejected, or if data files are
    /// missing.
    [[nodiscard]] const core::Tensor* input(std::size_t index);

private:
    const cases::Case& subject_;
    std::optional<std::string> broken_rule_;
    std::vector<std::optional<core::Tensor>> inputs_;
};

}  // namespace dmlconform::expectations
