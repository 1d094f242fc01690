// What an operator adds to its catalogue entry in code: the relations between its fields, and what it costs.
//
// A file in engine/operators/rules/ defines FILE_rules(), which returns a row for each operator that it knows, and says
// where each rule comes from. An operator that needs no code has no row.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/feature_level.h"
#include "engine/core/hresult.h"
#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::operators {

/// Why a descriptor is not one that CreateOperator has to accept.
struct Rejection {
    core::HResult code = core::HResult::invalid_argument;
    /// Names the rule, for reports and coverage: "tensor.dataType", "SLICE1.windowInBounds".
    std::string rule;
    /// Which values break it.
    std::string message;
    /// The lowest higher feature level at which the descriptor is legal, if there is one.
    std::optional<core::FeatureLevel> legal_from;
};

/// Nothing: accepted.
using Verdict = std::optional<Rejection>;

/// A rejection by a rule of all operators.
[[nodiscard]] Verdict rejected_by(std::string_view rule, std::string message);

/// A rejection by one of the operator's own rules.
[[nodiscard]] Rejection broken_rule(const Descriptor& descriptor, std::string_view rule, std::string message);

/// What an implementation must move and compute at least: the roofline's two sides.
struct Cost {
    /// Each input byte that decides the output read once, each output byte written once.
    double bytes = 0;
    /// Additions, multiplications, comparisons, and each function as one. Moving data is none.
    double operations = 0;
};

/// The bytes of a tensor's elements, those that a stride of 0 repeats counted once.
[[nodiscard]] double element_bytes(const core::TensorDesc& desc);

/// The bytes of all tensors of a descriptor.
[[nodiscard]] double element_bytes(const Descriptor& descriptor);

/// What code adds to a catalogue entry. Everything is optional.
struct OperatorRules {
    /// "SLICE1".
    std::string_view name;
    /// Called for descriptors whose single fields and tensors are already known to be legal. Null: nothing further.
    Verdict (*validate)(const Descriptor& descriptor, core::FeatureLevel level) = nullptr;
    /// Every rule that `validate` may name, without the operator's name in front: what a corpus has to cover.
    std::span<const std::string_view> names = {};
    /// The sizes that the first output must have, of a descriptor that is otherwise legal; wide, because they may be
    /// more than any tensor has. Null: any sizes that `validate` accepts.
    std::vector<std::uint64_t> (*output_sizes)(const Descriptor& descriptor) = nullptr;
    /// Of a valid descriptor. Null: every tensor once, and one operation for each element of the first output.
    Cost (*cost)(const Descriptor& descriptor) = nullptr;
};

using RulesRows = std::vector<OperatorRules>;

/// The rules that may reject a descriptor of this operator, by their full names: those of all operators as far as this
/// one can break them, and its own.
[[nodiscard]] std::vector<std::string> rule_names(const OperatorSchema& schema);

/// What a valid descriptor costs at least.
[[nodiscard]] Cost minimum_cost(const Descriptor& descriptor);

/// What the sizes of the first output must be. Nothing where its operator has no rule about that, where the descriptor
/// breaks another rule, or where no tensor has such sizes.
[[nodiscard]] std::optional<core::Dimensions> output_sizes(const Descriptor& descriptor, core::FeatureLevel level);

/// Decides as DirectML documents it whether CreateOperator accepts the descriptor on a device of this level.
[[nodiscard]] Verdict validate(const Descriptor& descriptor, core::FeatureLevel level);

/// What `validate` says, for a sentence about an engine that says otherwise: "it is legal by the catalogue", or "by the
/// catalogue it is illegal: SLICE1.windowStride".
[[nodiscard]] std::string catalogue_opinion(const Descriptor& descriptor, core::FeatureLevel level);

/// The lowest level at which `validate` accepts; nothing when none does.
[[nodiscard]] std::optional<core::FeatureLevel> minimum_feature_level(const Descriptor& descriptor);

}  // namespace dmlconform::operators
