// Conditions that select the elements of outputs that may differ: on the elements of an element-wise operator's inputs
// with the same coordinates, and, for every operator, on what is expected and on what the engine has computed.
//
//     { "scaled InputTensor": { "below": 0 } }
//     { "ATensor/BTensor": { "integer": true } }
//     { "ATensor^BTensor": 1 }
//     { "ATensor+BTensor": { "above": 65504 } }
//     { "actual/scaled ATensor^BTensor": { "above": 0.99, "below": 1.01 } }
//     { "index": 0 }
//     { "output": "OutputIndicesTensor", "expected": 0 }
//     { "from": "InputTensor" }
//     { "within": ["ValueTensor+BiasTensor", "PastValueTensor", 0] }
//     { "acceptedWith": { "BiasTensor": null }, "timesTolerance": 4 }
//     { "computedAs": "clampedOffsets" }
//     { "expected": { "nan": true } }
//     { "expected": { "above": 65504, "below": 65520 }, "actual/expected": { "infinite": true } }
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/expectations/case_facts.h"
#include "engine/expectations/field_changes.h"
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

    /// True if it holds for an element of some output. Assumed for very large outputs, where evaluating it would take
    /// too long.
    [[nodiscard]] bool holds_somewhere(CaseFacts& facts) const;

    /// True if it is about inputs, and so about element-wise operators alone.
    [[nodiscard]] bool reads_inputs() const;

    /// True if it is about what the engine has computed, so that no element that it selects can be right by chance.
    [[nodiscard]] bool reads_actual() const;

    /// True if it asks what is accepted of a changed case, or of a variant.
    [[nodiscard]] bool accepts_another_case() const { return other_.is_other(); }

private:
    /// An element of an input, of what is expected or of what was computed; that of an input optionally after
    /// ScaleBias. Or its index in row-major order.
    struct Factor {
        /// The input's name, "expected", "actual" or "index". Empty if there is no factor.
        std::string name;
        bool scaled = false;
    };
    /// A factor, optionally raised to the power of another one.
    struct Term {
        Factor base;
        Factor exponent;
    };
    /// A term, optionally followed by a sign and another one.
    struct Operand {
        Term first;
        /// '+', '-' or '/' before the second term; ' ' if there is none.
        char sign = ' ';
        Term second;
        NumberCondition test;

        [[nodiscard]] std::vector<const Factor*> factors() const;
    };
    /// Which elements of an output are asked for.
    struct Wanted {
        CaseFacts& facts;
        std::size_t output;
        std::uint64_t elements;
    };
    class Reader;
    using Values = std::optional<std::vector<double>>;
    static Values values_of(const Factor& factor, const Wanted& wanted);
    static Values values_of(const Term& term, const Wanted& wanted);
    static Values values_of(const Operand& operand, const Wanted& wanted);
    static std::vector<double> elements_of(const core::Tensor& tensor);
    /// Leaves those in the mask that are equal to some element of the source.
    void keep_those_of_source(const Wanted& wanted, std::vector<bool>& mask) const;
    /// The least and the largest element of an input, without NaN. Of an absent one, the least is greater.
    struct Range {
        double low = std::numeric_limits<double>::infinity();
        double high = -std::numeric_limits<double>::infinity();
    };
    static Range range_of(CaseFacts& facts, const std::string& name);
    /// Leaves those in the mask that lie between the least and the largest elements of some inputs, and numbers.
    void keep_those_within(const Wanted& wanted, std::vector<bool>& mask) const;
    /// Leaves those in the mask that are accepted of the changed case. False if nobody knows of such a case.
    bool keep_those_accepted(const Wanted& wanted, std::vector<bool>& mask) const;
    static bool is_unknown(const Operand& operand, const Wanted& wanted);

    std::vector<Operand> operands_;
    /// The outputs that it is about. Empty: every output.
    std::vector<std::string> outputs_;
    /// The input that has every element which the engine has computed. May be empty.
    std::string source_;
    /// The inputs, sums of two inputs, and numbers between whose elements lies what the engine has computed. May be
    /// empty.
    std::vector<std::string> within_;
    std::vector<double> within_numbers_;
    /// The case of which the engine has computed what is accepted. May be no other case.
    OtherCase other_;
};

}  // namespace dmlconform::expectations
