// JSON Schema of fields of operator structs: definitions for each type of field and for each enumeration.
#pragma once

#include <string>

#include "engine/cases/schema_values.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::cases {

/// The name of the definition for a field of the operator. Editors show it as the kind of the field.
[[nodiscard]] std::string definition_of(const operators::OperatorSchema& schema, const operators::Field& field);

/// The schema of a field in its operator's struct: true if "fields" has the same definition for the name, otherwise a
/// reference.
[[nodiscard]] Schema field_schema(const operators::OperatorSchema& schema, const operators::Field& field);

/// All these definitions by name, and two more: "fields" constrains fields by their names alone. "parts" does so for an
/// object whose other members are in the file's defaults, and only accepts names of fields of some operator.
[[nodiscard]] Schema field_definitions();

}  // namespace dmlconform::cases
