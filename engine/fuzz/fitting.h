// What families share to adapt generic descriptors to their operators' rules.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {

/// Null if the tensor is absent, or if the operator has no such field.
[[nodiscard]] core::TensorDesc* tensor_of(operators::Descriptor& descriptor, std::string_view field);
/// The sizes of a tensor, which must be present.
[[nodiscard]] core::Dimensions sizes_of(operators::Descriptor& descriptor, std::string_view field);

/// Sets the sizes of a tensor if it is present and has others. Then it is packed.
void resize(operators::Descriptor& descriptor, std::string_view field, const core::Dimensions& sizes);
/// Sets the sizes of a tensor if it is present, with a random layout.
void lay_out(Random& random, operators::Descriptor& descriptor, std::string_view field, const core::Dimensions& sizes);
/// Gives all tensors a random layout.
void lay_out_all(Random& random, operators::Descriptor& descriptor);

/// Sets the sizes that follow from other tensors and from attributes: see operators::required_sizes.
void set_required_sizes(operators::Descriptor& descriptor, core::FeatureLevel level);

/// Some of the dimensions in any order, sometimes none.
[[nodiscard]] std::vector<std::uint32_t> random_axes(Random& random, std::size_t rank);

/// Any activation that may be fused into the operator, with attributes of up to that many eighths above their minimum.
[[nodiscard]] operators::OperatorDesc random_activation(Random& random, const operators::OperatorSchema& host,
                                                        core::FeatureLevel level, std::uint32_t most_eighths = 32);

/// The kind of an input's elements by the catalogue: bits if the operator moves elements, indices for inputs that are
/// called so, otherwise numbers.
[[nodiscard]] ElementKind kind_by_catalogue(const operators::Descriptor& descriptor, std::string_view input);

/// Adapts a generic descriptor to one operator's rules.
struct Fitting {
    std::string_view name;
    void (*fit)(Random& random, operators::Descriptor& descriptor);
};

/// A generic descriptor, adapted if the operator has an entry. All counts are set.
[[nodiscard]] operators::Descriptor make_fitting(std::span<const Fitting> fittings, Random& random,
                                                 const operators::OperatorSchema& schema, core::FeatureLevel level);

}  // namespace dmlconform::fuzz
