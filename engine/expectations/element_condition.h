// Conditions on single elements of an element-wise operator's inputs, which select the elements of its outputs that may
// differ.
//
//     { "scaled InputTensor": { "below": 0 } }
//     { "ATensor/BTensor": { "integer": true } }
//     { "ATensor^BTensor": 1 }
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/expectations/case_facts.h"
#include "engine/expectations/number_condition.h"

namespace dmlconform::expectations {

/// True if one of the operators computes each element of its outputs from the elements with the same coordinates.
[[nodiscard]] bool has_element_wise(std::span<const operators::OperatorSchema* const> operators);

/// A condition whose parts must all hold for the elements with the same coordinates.
class ElementCondition {
public:
    /// Reports problems; the result is then empty.
    [[nodiscard]] static std::optional<ElementCondition> read(
        const cases::JsonValue& value, std::span<const operators::OperatorSchema* const> operators,
        cases::ProblemSink& problems);

    /// For each of `count` elements of an output, in row-major order, whether the condition holds. Empty if an input is
    /// absent or has neither `count` elements nor one, and for operators that are not element-wise.
    [[nodiscard]] std::vector<bool> mask(CaseFacts& facts, std::uint64_t elements) const;

private:
    /// An element of an input, optionally after ScaleBias, and optionally divided by, or raised to the power of,
    /// another input's element.
    struct Operand {
        std::string tensor;
        bool scaled = false;
        /// Empty if there is no second operand.
        std::string second{};
        bool is_power = false;
        NumberCondition test;
    };
    static std::optional<std::vector<double>> values_of(const std::string& tensor, CaseFacts& facts,
                                                        std::uint64_t elements);
    static std::optional<std::vector<double>> values_of(const Operand& operand, CaseFacts& facts,
                                                        std::uint64_t elements);

    std::vector<Operand> operands_;
};

}  // namespace dmlconform::expectations
