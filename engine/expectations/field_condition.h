// Conditions on one field of a descriptor, by the field's type.
#pragma once

#include <string>

#include "engine/expectations/condition.h"

namespace dmlconform::expectations {

/// `name` is that of a field, or "QuantizationTensors[0]" for one of an array. `field` is what some operator has under
/// that name.
[[nodiscard]] std::optional<Condition> read_field_condition(const cases::JsonValue& value, const std::string& name,
                                                            const operators::Field& field,
                                                            cases::ProblemSink& problems);

/// The number under that name, "Strides[1]" for an entry of an array; nothing if the operator does not have it, or
/// if it is not a number.
[[nodiscard]] std::optional<double> number_of(const operators::Descriptor& descriptor, const std::string& name);

/// The tensor of that name, "QuantizationTensors[0]" for one of an array; absent if the operator does not have it.
[[nodiscard]] struct TensorFact find_tensor(const operators::Descriptor& descriptor, std::string_view name);

}  // namespace dmlconform::expectations
