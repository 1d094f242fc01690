// What the fuzzer knows about an operator that its catalogue entry does not say: one file for each in operators/.
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
    /// A descriptor that is legal at that level, at which the operator exists.
    operators::Descriptor (*make)(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level);
    /// What the elements of an input are.
    ElementKind (*element_kind)(const operators::Descriptor& descriptor, std::string_view input);
    /// After a change of inputs or attributes, makes legal again what follows from them: windows, counts along an
    /// axis, the sizes of outputs. The result may still be illegal.
    void (*repair)(operators::Descriptor& descriptor);
};

extern const OperatorFuzz slice1_fuzz;
extern const OperatorFuzz top_k_fuzz;
extern const OperatorFuzz top_k1_fuzz;
extern const OperatorFuzz mean_variance_normalization1_fuzz;
extern const OperatorFuzz quantized_linear_convolution_fuzz;
extern const OperatorFuzz random_generator_fuzz;

/// Of the operators that move elements.
[[nodiscard]] std::span<const OperatorFuzz> movement_fuzz();
/// Of attention.
[[nodiscard]] std::span<const OperatorFuzz> attention_fuzz();
/// Of recurrent networks.
[[nodiscard]] std::span<const OperatorFuzz> recurrent_fuzz();
/// Of poolings and local response normalisation.
[[nodiscard]] std::span<const OperatorFuzz> window_fuzz();
/// Of the operators with regions of interest.
[[nodiscard]] std::span<const OperatorFuzz> regions_fuzz();
/// Of resampling and its gradients.
[[nodiscard]] std::span<const OperatorFuzz> resampling_fuzz();
/// Of matrix products and convolutions.
[[nodiscard]] std::span<const OperatorFuzz> product_fuzz();

/// Of the operators that reduce, but for TOP_K and TOP_K1.
[[nodiscard]] std::span<const OperatorFuzz> reduction_fuzz();

/// Of softmaxes, hardmaxes and normalisations.
[[nodiscard]] std::span<const OperatorFuzz> normalisation_fuzz();

/// For operators without a file of their own: descriptors that obey the catalogue's constraints.
extern const OperatorFuzz generic_fuzz;

/// The operator's own, or the generic one.
[[nodiscard]] const OperatorFuzz& find_fuzz(const operators::OperatorSchema& schema);

}  // namespace dmlconform::fuzz
