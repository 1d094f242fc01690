// Groups operators by struct. Structs are equal if their fields have the same names, definitions and order.
#include "engine/cases/operator_groups.h"

#include <fmt/format.h>

#include <map>

#include "engine/cases/field_schemas.h"

namespace dmlconform::cases {

std::vector<std::string> OperatorGroup::names() const {
    std::vector<std::string> list;
    for (const operators::OperatorSchema* schema : operators) {
        list.emplace_back(schema->short_name());
    }
    for (const operators::OperatorSchema* schema : operators) {
        list.push_back(schema->name);
    }
    return list;
}

std::string OperatorGroup::id() const {
    return fmt::format("{}", operators.front()->number);
}

std::vector<OperatorGroup> operator_groups(const std::set<std::string>& names) {
    std::vector<OperatorGroup> groups;
    std::map<std::string, std::size_t> indices;
    for (const std::string& name : operators::operator_names()) {
        if (!names.contains(name)) {
            continue;
        }
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        std::string fields;
        for (const operators::Field& field : schema.fields) {
            fields += fmt::format("{}:{} ", field.name, definition_of(schema, field));
        }
        const auto [index, is_new] = indices.emplace(std::move(fields), groups.size());
        if (is_new) {
            groups.emplace_back();
        }
        groups[index->second].operators.push_back(&schema);
    }
    return groups;
}

}  // namespace dmlconform::cases
