// Rules in code that add to an operator's catalogue entry: relations between its fields, and its cost.
//
// A file in engine/operators/rules/ defines FILE_rules(), which returns one OperatorRules for each operator that needs
// it. The file says where each rule comes from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/feature_level.h"
#include "engine/core/hresult.h"
#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// Why CreateOperator need not accept a descriptor.
struct Rejection {
    core::HResult code = core::HResult::invalid_argument;
    /// The rule's name, for reports and coverage: "tensor.dataType", "SLICE1.windowInBounds".
    std::string rule;
    /// The values that break the rule.
    std::string message;
    /// The lowest higher feature level at which the descriptor is legal; empty if there is none.
    std::optional<core::FeatureLevel> legal_from;
};

/// Empty if the descriptor is accepted.
using Verdict = std::optional<Rejection>;

/// A rejection by a rule of all operators.
[[nodiscard]] Verdict rejected_by(std::string_view rule, std::string message);

/// A rejection by one of the operator's own rules.
[[nodiscard]] Rejection broken_rule(const Descriptor& descriptor, std::string_view rule, std::string message);

/// The minimum work of an implementation, for the roofline model.
struct Cost {
    /// Bytes: each input byte that the output depends on is read once, each output byte is written once.
    double bytes = 0;
    /// Additions, multiplications, comparisons; each function call counts as one. Moving data does not count.
    double operations = 0;
};

/// The bytes of a tensor's elements. Elements that a stride of 0 repeats count once.
[[nodiscard]] double element_bytes(const core::TensorDesc& desc);

/// The same for `counts[d]` of the sizes in each dimension.
[[nodiscard]] double element_bytes(const core::TensorDesc& desc, const std::vector<double>& counts);

/// The bytes of all tensors of a descriptor.
[[nodiscard]] double element_bytes(const Descriptor& descriptor);

/// A rule with what `describe` says about it. In formulas, Tensor[d] is the tensor's size in dimension d, and a
/// negative d counts from the end.
struct ExplainedRule {
    /// "windowInBounds". In lists of all rules with the operator's prefix, if the rule is the operator's own.
    std::string name;
    /// What is true of a legal descriptor, as a whole sentence.
    std::string sentence;
    /// Sizes that follow from other fields: "OutputTensor[d] = InputTensor[d] * Repeats[d]".
    std::vector<std::string> formulas{};
};

using ExplainedRules = std::vector<ExplainedRule>;

/// The sizes that a tensor must have, if it is present. With formulas as numbers, for `describe`.
template <class Number>
struct SizesOfTensor {
    std::string_view field;
    std::vector<Number> sizes;
    /// True if sizes of 1 may precede them.
    bool may_have_more = false;
};

/// 64 bits wide, because the sizes may exceed those of any tensor.
using TensorSizes = SizesOfTensor<std::uint64_t>;

/// The code that belongs to a catalogue entry. Every member except the name is optional.
struct OperatorRules {
    /// The operator's short name: "SLICE1".
    std::string_view name;
    /// Checks relations between fields. Called only if each field and tensor is legal on its own. Null if
    /// there are none.
    Verdict (*validate)(const Descriptor& descriptor, core::FeatureLevel level) = nullptr;
    /// Every rule that `validate` may name. A corpus has to cover them.
    ExplainedRules rules{};
    /// The required sizes of the first output, for a descriptor that is otherwise legal. 64 bits wide, because they may
    /// exceed those of any tensor. Null: `validate` decides.
    std::vector<std::uint64_t> (*output_sizes)(const Descriptor& descriptor) = nullptr;
    /// The formulas of `output_sizes`, for people.
    std::vector<std::string> output_formulas{};
    /// The sizes of tensors that follow from other tensors and from attributes, for `validate` and for all that makes
    /// descriptors. Each field is legal by itself, and axes are within their tensors; empty if the descriptor breaks
    /// another rule. Null: they are those of the first output, if there is a rule about it.
    std::vector<TensorSizes> (*sizes)(const Descriptor& descriptor) = nullptr;
    /// Cost::operations of a valid descriptor. Null: one for each element of the first output.
    double (*operations)(const Descriptor& descriptor) = nullptr;
    /// See `bytes_read`. Null: all bytes of each input tensor.
    double (*bytes_read)(const Descriptor& descriptor, const TensorSlot& input) = nullptr;
};

using RulesRows = std::vector<OperatorRules>;

/// The rules that are the same for all operators.
[[nodiscard]] const ExplainedRules& rules_of_all_operators();

/// The rules that may reject a descriptor of this operator by their full names, sorted: its own, and the general ones
/// that apply to it.
[[nodiscard]] ExplainedRules explained_rules(const OperatorSchema& schema);

/// Full names of the rules that may reject a descriptor of this operator: its own, and the general ones that apply to
/// it.
[[nodiscard]] std::vector<std::string> rule_names(const OperatorSchema& schema);

/// What Cost::bytes has of one input tensor of a valid descriptor of an operator: the bytes that decide the outputs.
/// Which they are may depend on indices in another tensor; then as many as can decide them.
[[nodiscard]] double bytes_read(const Descriptor& descriptor, const TensorSlot& input);

/// For operators that only move data.
[[nodiscard]] double no_operations(const Descriptor& descriptor);

/// The minimum cost of a valid descriptor.
[[nodiscard]] Cost minimum_cost(const Descriptor& descriptor);

/// The required sizes of the first output. Empty if the operator has no rule about them, if the descriptor breaks
/// another rule, or if no tensor can have such sizes.
[[nodiscard]] std::optional<core::Dimensions> output_sizes(const Descriptor& descriptor, core::FeatureLevel level);

/// The sizes of all tensors that follow from other tensors and from attributes. Empty if the descriptor breaks another
/// rule, so that they cannot be known.
[[nodiscard]] std::vector<TensorSizes> required_sizes(const Descriptor& descriptor, core::FeatureLevel level);

/// The family that has the operator's rules, which is the name of a file in rules/: "window". Empty if it has none.
[[nodiscard]] std::string_view family_of(const OperatorSchema& schema);

/// A descriptor that does not change any more, and that keeps the verdict on it for each level: it is validated once,
/// whoever asks.
[[nodiscard]] std::shared_ptr<const Descriptor> sealed(Descriptor descriptor);

/// How many verdicts this program has worked out so far, for tests.
[[nodiscard]] std::uint64_t verdicts_worked_out();

/// Decides by DirectML's documentation whether CreateOperator accepts the descriptor on a device of this level.
[[nodiscard]] Verdict validate(const Descriptor& descriptor, core::FeatureLevel level);

/// The result of `validate` for a message about an engine that disagrees: "it is legal by the catalogue", or "by the
/// catalogue it is illegal: SLICE1.windowStride".
[[nodiscard]] std::string catalogue_opinion(const Descriptor& descriptor, core::FeatureLevel level);

/// The lowest level at which `validate` accepts the descriptor; empty if no level does.
[[nodiscard]] std::optional<core::FeatureLevel> minimum_feature_level(const Descriptor& descriptor);

}  // namespace dmlconform::operators
