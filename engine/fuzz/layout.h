// Sizes and memory layouts of random tensors.
#pragma once

#include "engine/core/tensor_desc.h"
#include "engine/fuzz/random.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::fuzz {

/// The maximum number of elements of a tensor.
inline constexpr std::uint64_t most_elements = 4096;

/// Random sizes for this number of dimensions: mostly small, sometimes one near a power of two, where kernels change
/// their algorithm.
[[nodiscard]] core::Dimensions random_sizes(Random& random, std::size_t rank);

/// Draws a layout: packed, permuted, with gaps, with surplus memory and, for inputs, with repeated elements.
[[nodiscard]] core::TensorDesc random_layout(Random& random, core::DataType type, core::Dimensions sizes,
                                             operators::FieldKind kind);

/// A data type and a number of dimensions that a tensor may have at that level. The operator must exist at the level.
[[nodiscard]] core::DataType random_type(Random& random, const operators::OperatorSchema& schema,
                                         std::string_view field, core::FeatureLevel level);
[[nodiscard]] std::uint32_t random_rank(Random& random, const operators::OperatorSchema& schema, std::string_view field,
                                        core::FeatureLevel level);

}  // namespace dmlconform::fuzz
