// What conditions ask of a case: its descriptor, the rule that it breaks, the values of its inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/tensor.h"

namespace dmlconform::expectations {

/// For one thread at a time. The case must outlive it. What takes work is found out when it is asked for.
class CaseFacts {
public:
    explicit CaseFacts(const cases::Case& subject) : subject_(subject) {}

    [[nodiscard]] const operators::Descriptor& descriptor() const { return *subject_.descriptor; }

    [[nodiscard]] bool has_to_be_rejected() const { return subject_.expect_error.has_value(); }

    /// The rule by which the descriptor is illegal at every feature level; empty for a legal one.
    [[nodiscard]] const std::string& broken_rule();

    /// The elements of an input, packed; null for an absent one, and where there are none: of a case that has to be
    /// rejected, or whose data files have gone.
    [[nodiscard]] const core::Tensor* input(std::size_t index);

private:
    const cases::Case& subject_;
    std::optional<std::string> broken_rule_;
    std::vector<std::optional<core::Tensor>> inputs_;
};

}  // namespace dmlconform::expectations
