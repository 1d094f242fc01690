// Fields of operators' structs in JSON Schema: a definition for each type of field, and for each enumeration.
#pragma once

#include <string>

#include "engine/cases/schema_values.h"
#include "engine/operators/catalogue.h"

namespace dmlconform::cases {

/// The name of the definition for a field of that operator. It says what kind of field it is, for editors to show.
[[nodiscard]] std::string definition_of(const operators::OperatorSchema& schema, const operators::Field& field);

/// The field in its operator's struct: true where the definition is what "fields" has for its name, or else a
/// reference.
[[nodiscard]] Schema field_schema(const operators::OperatorSchema& schema, const operators::Field& field);

/// All of these definitions, by name. With them come "fields", which is what objects have to be as far as that depends
/// on their fields' names alone, and "parts", which is the same for an object whose rest the file's defaults have: it
/// has fields of some operator, and no others.
[[nodiscard]] Schema field_definitions();

}  // namespace dmlconform::cases
