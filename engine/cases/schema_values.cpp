// Schemas of values. A JSON Schema keyword applies to one type and accepts values of all others: "pattern" constrains
// only strings, "minimum" only numbers. So a list of types can replace alternatives.
#include "engine/cases/schema_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dmlconform::cases {
namespace {

constexpr const char* placeholder_pattern = R"(^\$\{.+\}$)";

/// Accepts a value of that type, or a placeholder.
Schema value_of(const char* type, Nullable nullable, const char* pattern = placeholder_pattern) {
    Schema types{type, "string"};
    if (nullable == Nullable::yes) {
        types.push_back("null");
    }
    return {{"type", std::move(types)}, {"pattern", pattern}};
}

}  // namespace

Schema reference(std::string_view name) {
    return {{"$ref", fmt::format("#/$defs/{}", name)}};
}

Schema integer_value(std::int64_t least, std::uint64_t most, Nullable nullable) {
    Schema schema = value_of("integer", nullable);
    schema["minimum"] = least;
    schema["maximum"] = most;
    return schema;
}

Schema number_value(Nullable nullable) {
    return value_of("number", nullable, R"(^([+-]?inf|nan|0x[0-9a-fA-F]+|\$\{.+\})$)");
}

Schema bound_value() {
    Schema schema = value_of("number", Nullable::no);
    schema["minimum"] = 0;
    return schema;
}

Schema array_value(Schema items, Nullable nullable) {
    Schema schema = value_of("array", nullable);
    schema["items"] = std::move(items);
    return schema;
}

Schema object_value(const Schema& schema, Nullable nullable) {
    Schema result = value_of("object", nullable);
    result.update(schema);
    return result;
}

Schema members(Schema properties, const std::vector<std::string>& required) {
    Schema schema{{"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) {
        schema["required"] = required;
    }
    return schema;
}

Schema name_value(std::string_view prefix, const std::vector<std::string>& names, Schema others) {
    // Only short names are listed, so that editors suggest those.
    const std::string others_pattern =
        prefix.empty() ? placeholder_pattern : fmt::format(R"(^({}({})|\$\{{.+\}})$)", prefix, fmt::join(names, "|"));
    Schema alternatives = Schema::array({{{"enum", names}}, {{"type", "string"}, {"pattern", others_pattern}}});
    if (!others.is_null()) {
        alternatives.push_back(std::move(others));
    }
    return {{"anyOf", std::move(alternatives)}};
}

Schema when(Schema condition, Schema consequence, Schema otherwise) {
    Schema schema{{"if", std::move(condition)}, {"then", std::move(consequence)}};
    if (!otherwise.is_null()) {
        schema["else"] = std::move(otherwise);
    }
    return schema;
}

Schema described(std::string_view description, const Schema& schema) {
    Schema result{{"description", description}};
    result.update(schema);
    return result;
}

}  // namespace dmlconform::cases
