// Conditions on single elements of an element-wise operator's inputs: which elements of its outputs may differ.
//
//     { "scaled InputTensor": { "below": 0 } }    { "ATensor/BTensor": { "integer": true } }    { "ATensor^BTensor": 1
//     }
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/expectations/case_facts.h"
#include "engine/expectations/number_condition.h"

namespace dmlconform::expectations {

/// All that is said has to hold of the elements at the same place.
class ElementCondition {
public:
    /// Reports what is wrong and returns nothing then.
    [[nodiscard]] static std::optional<ElementCondition> read(
        const cases::JsonValue& value, std::span<const operators::OperatorSchema* const> operators,
        cases::ProblemSink& problems);

    /// For each element of an output of so many elements, in row-major order, whether it is meant. Empty where an input
    /// is absent, or has neither as many elements nor one.
    [[nodiscard]] std::vector<bool> mask(CaseFacts& facts, std::uint64_t elements) const;

private:
    /// The element of an input, after ScaleBias if that is wanted; divided by that of another, or raised to its power.
    struct Operand {
        std::string tensor;
        bool scaled = false;
        /// Empty: alone.
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
