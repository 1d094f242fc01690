// Making and changing descriptors field by field.
#pragma once

#include <string_view>

#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// A descriptor of that operator with all fields absent.
[[nodiscard]] operators::Descriptor blank_descriptor(const operators::OperatorSchema& schema);

/// The operator must have the field.
[[nodiscard]] operators::FieldValue& field_of(operators::Descriptor& descriptor, std::string_view field);

/// Sets every count to the length of the arrays that it counts, and counts of nothing to 0.
void set_counts(operators::Descriptor& descriptor);

/// All tensors that are there, by reference, inputs and outputs in the order of the fields.
struct TensorField {
    const operators::Field* field = nullptr;
    core::TensorDesc* desc = nullptr;
};
[[nodiscard]] std::vector<TensorField> tensors_of(operators::Descriptor& descriptor);

/// Gives a tensor other sizes, packed, in the smallest memory.
void set_sizes(core::TensorDesc& desc, core::Dimensions sizes);

}  // namespace dmlconform::fuzz
