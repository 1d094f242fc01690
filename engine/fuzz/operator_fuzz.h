// What the fuzzer knows about operators beyond the catalogue: one file for each family in operators/.
#pragma once

#include <span>
#include <string_view>

#include "engine/fuzz/random.h"
#include "engine/fuzz/values.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

struct OperatorFuzz {
    /// "SLICE1"
    std::string_view name;
    /// Draws a descriptor that is legal at that level. The operator must exist at the level.
    operators::Descriptor (*make)(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level);
    /// The kind of an input's elements.
    ElementKind (*element_kind)(const operators::Descriptor& descriptor, std::string_view input);
    /// After a change of inputs or attributes, makes everything that depends on them legal again: windows, counts along
    /// an axis, the sizes of outputs. The result may still be illegal.
    void (*repair)(operators::Descriptor& descriptor);
};

extern const OperatorFuzz slice1_fuzz;
extern const OperatorFuzz top_k_fuzz;
extern const OperatorFuzz top_k1_fuzz;
extern const OperatorFuzz mean_variance_normalization1_fuzz;
extern const OperatorFuzz quantized_linear_convolution_fuzz;
extern const OperatorFuzz random_generator_fuzz;

/// Operators that move elements.
[[nodiscard]] std::span<const OperatorFuzz> movement_fuzz();
/// Attention.
[[nodiscard]] std::span<const OperatorFuzz> attention_fuzz();
/// Recurrent networks.
[[nodiscard]] std::span<const OperatorFuzz> recurrent_fuzz();
/// Poolings and local response normalisation.
[[nodiscard]] std::span<const OperatorFuzz> window_fuzz();
/// Operators with regions of interest.
[[nodiscard]] std::span<const OperatorFuzz> regions_fuzz();
/// Resampling and its gradients.
[[nodiscard]] std::span<const OperatorFuzz> resampling_fuzz();
/// Matrix products and convolutions.
[[nodiscard]] std::span<const OperatorFuzz> product_fuzz();

/// Reductions, except TOP_K and TOP_K1.
[[nodiscard]] std::span<const OperatorFuzz> reduction_fuzz();

/// Softmaxes, hardmaxes and normalisations.
[[nodiscard]] std::span<const OperatorFuzz> normalisation_fuzz();

/// For operators without an entry of their own: descriptors that meet the catalogue's constraints.
extern const OperatorFuzz generic_fuzz;

/// The operator's entry, or the generic one.
[[nodiscard]] const OperatorFuzz& find_fuzz(const operators::OperatorSchema& schema);

}  // namespace dmlconform::fuzz
