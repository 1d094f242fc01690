// Sizes and memory layouts of random tensors.
#pragma once

#include "engine/core/tensor_desc.h"
#include "engine/fuzz/random.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::fuzz {

/// Elements that no tensor of a case exceeds.
inline constexpr std::uint64_t most_elements = 4096;

/// Sizes of that many dimensions: mostly small, now and then one around a power of two, where kernels change their way.
[[nodiscard]] core::Dimensions random_sizes(Random& random, std::size_t rank);

/// Lays a tensor out at random: packed, permuted, with gaps, more memory than it needs, and, for an input, with
/// dimensions whose elements are one.
[[nodiscard]] core::TensorDesc random_layout(Random& random, core::DataType type, core::Dimensions sizes,
                                             operators::FieldKind kind);

/// A data type and a number of dimensions that a tensor may have at that level. The operator must exist there.
[[nodiscard]] core::DataType random_type(Random& random, const operators::OperatorSchema& schema,
                                         std::string_view field, core::FeatureLevel level);
[[nodiscard]] std::uint32_t random_rank(Random& random, const operators::OperatorSchema& schema, std::string_view field,
                                        core::FeatureLevel level);

}  // namespace dmlconform::fuzz
