// Conditions that select the elements of outputs that may differ: on the elements of an element-wise operator's inputs
// with the same coordinates, and, for every operator, on what is expected and on what the engine has computed.
//
//     { "scaled InputTensor": { "below": 0 } }
//     { "ATensor/BTensor": { "integer": true } }
//     { "ATensor^BTensor": 1 }
//     { "ATensor+BTensor": { "above": 65504 } }
//     { "expected": { "nan": true } }
//     { "expected": { "above": 65504, "below": 65520 }, "actual/expected": { "infinite": true } }
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

    /// For each of `count` elements of an output, in row-major order, whether the condition holds. A test of what is
    /// not known yet is assumed to hold. Empty if an input is absent or has neither `count` elements nor one, and if
    /// inputs are read and the operator is not element-wise.
    [[nodiscard]] std::vector<bool> mask(CaseFacts& facts, std::size_t output, std::uint64_t elements) const;

    /// True if it is about inputs, and so about element-wise operators alone.
    [[nodiscard]] bool reads_inputs() const;

private:
    /// An element of an input, of what is expected or of what was computed; that of an input optionally after
    /// ScaleBias, and each optionally increased by, divided by, or raised to the power of another element.
    struct Operand {
        /// The input's name, "expected" or "actual".
        std::string tensor;
        bool scaled = false;
        /// Empty if there is no second operand.
        std::string second{};
        /// '+', '/' or '^' before the second operand.
        char sign = ' ';
        NumberCondition test;
    };
    /// Which elements of an output are asked for.
    struct Wanted {
        CaseFacts& facts;
        std::size_t output;
        std::uint64_t elements;
    };
    static std::optional<std::vector<double>> values_of(const std::string& tensor, const Wanted& wanted);
    static std::optional<std::vector<double>> values_of(const Operand& operand, const Wanted& wanted);
    static bool is_unknown(const Operand& operand, const Wanted& wanted);

    std::vector<Operand> operands_;
};

}  // namespace dmlconform::expectations
