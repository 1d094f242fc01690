// Properties of a case that conditions need: its descriptor, the rule that it breaks, the values of its inputs.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/tensor.h"
#include "engine/expectations/field_changes.h"

namespace dmlconform::expectations {

/// Where the elements of outputs come from. Each function takes the index of an output and returns its elements in
/// row-major order, or nothing if they are not known. A missing function knows nothing.
struct OutputElements {
    using Source = std::function<std::optional<std::vector<double>>(std::size_t)>;
    /// What is expected. Results of FLOAT16 have not been rounded to FLOAT16, if possible.
    Source expected{};
    /// What the engine has computed.
    Source actual{};
    /// For each element of an output, whether what the engine has computed is accepted of the case with some changes.
    std::function<std::optional<std::vector<bool>>(std::size_t, const OtherCase&)> accepted_with{};
};

/// Not thread-safe. The case must outlive it. Expensive facts are computed on first use.
class CaseFacts {
public:
    explicit CaseFacts(const cases::Case& subject, OutputElements elements = {})
        : subject_(subject), elements_(std::move(elements)) {}

    [[nodiscard]] const operators::Descriptor& descriptor() const { return *subject_.descriptor; }

    [[nodiscard]] bool has_to_be_rejected() const { return subject_.expect_error.has_value(); }

    /// The rule by which the descriptor is illegal at every feature level; empty for a legal one.
    [[nodiscard]] const std::string& broken_rule();

    /// The packed elements of an input. Null if the input is absent, if the case must be rejected, or if data files are
    /// missing.
    [[nodiscard]] const core::Tensor* input(std::size_t index);

    /// The elements of an output: see OutputElements.
    [[nodiscard]] const std::optional<std::vector<double>>& expected(std::size_t output);
    [[nodiscard]] const std::optional<std::vector<double>>& actual(std::size_t output);
    [[nodiscard]] std::optional<std::vector<bool>> accepted_with(std::size_t output, const OtherCase& other) const {
        return elements_.accepted_with ? elements_.accepted_with(output, other) : std::nullopt;
    }

private:
    using Kept = std::vector<std::optional<std::optional<std::vector<double>>>>;
    static const std::optional<std::vector<double>>& kept(Kept& all, const OutputElements::Source& source,
                                                          std::size_t output);

    const cases::Case& subject_;
    OutputElements elements_;
    Kept expected_;
    Kept actual_;
    std::optional<std::string> broken_rule_;
    std::vector<std::optional<core::Tensor>> inputs_;
};

}  // namespace dmlconform::expectations
