// Creates and changes descriptors field by field.
#pragma once

#include <string_view>

#include "engine/operators/descriptor.h"

namespace dmlconform::fuzz {

/// A descriptor of the operator with all fields absent.
[[nodiscard]] operators::Descriptor blank_descriptor(const operators::OperatorSchema& schema);

/// The operator must have the field.
[[nodiscard]] operators::FieldValue& field_of(operators::Descriptor& descriptor, std::string_view field);

/// Sets every count to the length of its arrays; 0 if these are absent.
void set_counts(operators::Descriptor& descriptor);

/// References to all tensors that are present, inputs and outputs, in the order of the fields.
struct TensorField {
    const operators::Field* field = nullptr;
    core::TensorDesc* desc = nullptr;
};
[[nodiscard]] std::vector<TensorField> tensors_of(operators::Descriptor& descriptor);

/// Sets a tensor's sizes, and makes it packed with the smallest total size.
void set_sizes(core::TensorDesc& desc, core::Dimensions sizes);

}  // namespace dmlconform::fuzz
