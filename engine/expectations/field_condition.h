// Conditions on one field of a descriptor, by the field's type.
#pragma once

#include <optional>
#include <string>

#include "engine/expectations/condition.h"

namespace dmlconform::expectations {

/// `name` is that of a field, or "QuantizationTensors[0]" for an element of an array. `field` is the field of that name
/// in one of the operators.
[[nodiscard]] std::optional<Condition> read_field_condition(const cases::JsonValue& value, const std::string& name,
                                                            const operators::Field& field,
                                                            cases::ProblemSink& problems);

/// What is wrong with the name of a field or of an array's entry; empty if nothing is. `field` is the field of that
/// name in one of the operators.
[[nodiscard]] std::string problem_of_name(const std::string& name, const operators::Field& field);

/// The same for names that must refer to a single tensor or number instead of an array.
[[nodiscard]] std::string problem_of_single(const std::string& name, const operators::Field& field);

/// The number with that name, "Strides[1]" for an entry of an array. Empty if the operator lacks it, or if it is not a
/// number.
[[nodiscard]] std::optional<double> number_of(const operators::Descriptor& descriptor, const std::string& name);

/// The tensor with that name, "QuantizationTensors[0]" for an element of an array. Absent if the operator lacks it.
[[nodiscard]] struct TensorFact find_tensor(const operators::Descriptor& descriptor, std::string_view name);

}  // namespace dmlconform::expectations
