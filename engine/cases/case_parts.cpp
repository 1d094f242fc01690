// Reads the members that cases and graph nodes have in common.
#include "engine/cases/case_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/cases/descriptor_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/core/utf8.h"
#include "engine/operators/in_place.h"

namespace dmlconform::cases {

const std::string* read_string(const JsonValue& object, std::string_view key, bool required, std::string_view what,
                               ProblemSink& problems) {
    const JsonValue* value = object.find(key);
    if (value == nullptr) {
        if (required) {
            problems.add(object.offset, fmt::format("{} needs \"{}\"", what, key));
        }
        return nullptr;
    }
    if (value->string() == nullptr) {
        problems.add(value->offset, fmt::format("\"{}\" must be a string; this is {}", key, value->kind_name()));
    }
    return value->string();
}

std::string read_name(const JsonValue& object, std::string_view what, ProblemSink& problems) {
    const std::string* name = read_string(object, "name", true, what, problems);
    if (name == nullptr) {
        return {};
    }
    constexpr std::size_t longest = 500;
    const bool legal = !name->empty() && name->size() <= longest && std::all_of(name->begin(), name->end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_.-/").find(c) != std::string_view::npos;
    });
    if (!legal) {
        problems.add(object.find("name")->offset,
                     fmt::format("\"{}\" is not a name for {}", core::shortened(*name), what),
                     fmt::format("letters, digits and `_ . - /`, at most {} of them", longest));
    }
    return *name;
}

const operators::OperatorSchema* read_operator(const JsonValue& object, std::string_view what, ProblemSink& problems) {
    const std::string* name = read_string(object, "operator", true, what, problems);
    if (name == nullptr) {
        return nullptr;
    }
    const operators::OperatorSchema* schema = operators::find_operator(*name);
    if (schema == nullptr) {
        std::string hint = operator_suggestion(*name);
        problems.add(object.find("operator")->offset,
                     fmt::format("the catalogue has no operator \"{}\"", core::shortened(*name)),
                     hint.empty() ? "`dmlconform describe` lists them" : std::move(hint));
    }
    return schema;
}

void read_in_place(const JsonValue& object, operators::Descriptor& descriptor, ProblemSink& problems) {
    const JsonValue* value = object.find("inPlace");
    if (value == nullptr) {
        return;
    }
    if (value->object() == nullptr) {
        problems.add(value->offset, fmt::format("\"inPlace\" must be an object; this is {}", value->kind_name()),
                     R"(for example { "OutputTensor": "InputTensor" })");
        return;
    }
    operators::InPlaceNames names;
    for (const JsonMember& member : *value->object()) {
        const JsonValue& input = member.value;
        if (input.string() == nullptr) {
            problems.add(input.offset,
                         fmt::format("\"inPlace\" names an input for each output; this is {}", input.kind_name()));
            return;
        }
        names.emplace(core::shortened(member.key), core::shortened(*input.string()));
    }
    if (const auto problem = operators::in_place_problem(descriptor, names)) {
        problems.add(value->offset, *problem,
                     "`dmlconform describe` says which outputs of an operator may be computed in place");
        return;
    }
    descriptor.in_place = operators::in_place_slots(descriptor, names);
}

}  // namespace dmlconform::cases
