// The keys of a case, one after the other.
#include "engine/cases/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/cases/descriptor_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/cases/tolerance_reader.h"
#include "engine/core/utf8.h"
#include "engine/cpu/reference.h"
#include "engine/operators/in_place.h"
#include "engine/operators/rules.h"

namespace dmlconform::cases {
namespace {

const std::array<std::string, 13> known_keys{"name",    "description", "operator",    "desc",      "minFeatureLevel",
                                             "inputs",  "expected",    "expectError", "tolerance", "tags",
                                             "inPlace", "sweep",       "skipInvalid"};

const std::string* read_string(const JsonValue& object, std::string_view key, bool required, ProblemSink& problems) {
    const JsonValue* value = object.find(key);
    if (value == nullptr) {
        if (required) {
            problems.add(object.offset, fmt::format("a case needs \"{}\"", key));
        }
        return nullptr;
    }
    if (value->string() == nullptr) {
        problems.add(value->offset, fmt::format("\"{}\" must be a string; this is {}", key, value->kind_name()));
    }
    return value->string();
}

std::string read_name(const JsonValue& object, ProblemSink& problems) {
    const std::string* name = read_string(object, "name", true, problems);
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
                     fmt::format("\"{}\" is not a name for a case", core::shortened(*name)),
                     fmt::format("letters, digits and `_ . - /`, at most {} of them", longest));
    }
    return *name;
}

const operators::OperatorSchema* read_operator(const JsonValue& object, ProblemSink& problems) {
    const std::string* name = read_string(object, "operator", true, problems);
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

std::vector<std::string> read_tags(const JsonValue& object, ProblemSink& problems) {
    std::vector<std::string> tags;
    const JsonValue* value = object.find("tags");
    if (value == nullptr) {
        return tags;
    }
    if (value->array() == nullptr) {
        problems.add(value->offset,
                     fmt::format("\"tags\" must be an array of strings; this is {}", value->kind_name()));
        return tags;
    }
    for (const JsonValue& tag : *value->array()) {
        if (tag.string() == nullptr) {
            problems.add(tag.offset, fmt::format("a tag must be a string; this is {}", tag.kind_name()));
        } else {
            tags.push_back(*tag.string());
        }
    }
    return tags;
}

/// Initialisers for the tensors in `slots`, by name from the object under `key`.
std::vector<std::optional<Initialiser>> read_tensors(const JsonValue& object, std::string_view key,
                                                     const std::vector<operators::TensorSlot>& slots,
                                                     const DataFolder& folder, ProblemSink& problems) {
    std::vector<std::optional<Initialiser>> result(slots.size());
    const JsonValue* values = object.find(key);
    if (values == nullptr) {
        return result;
    }
    if (values->object() == nullptr) {
        problems.add(values->offset, fmt::format("\"{}\" must be an object; this is {}", key, values->kind_name()));
        return result;
    }
    std::vector<std::string> names;
    for (const operators::TensorSlot& slot : slots) {
        names.push_back(slot.name);
    }
    check_keys(*values, names, fmt::format("\"{}\"", key), problems);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const JsonValue* value = values->find(slots[i].name);
        if (value == nullptr) {
            continue;
        }
        if (slots[i].desc == nullptr) {
            problems.add(value->offset, fmt::format("{} is absent in \"desc\", so it takes no data", slots[i].name));
        } else {
            result[i] = read_initialiser(*value, *slots[i].desc, problems, folder);
        }
    }
    return result;
}

void read_expected_error(const JsonValue& object, Case& result, ProblemSink& problems) {
    const std::string* name = read_string(object, "expectError", false, problems);
    if (name == nullptr) {
        return;
    }
    result.expect_error = core::parse_hresult(*name);
    constexpr std::uint32_t failure = 0x80000000;
    if (!result.expect_error || (static_cast<std::uint32_t>(*result.expect_error) & failure) == 0) {
        problems.add(object.find("expectError")->offset, fmt::format("\"{}\" names no error", core::shortened(*name)),
                     "for example \"E_INVALIDARG\" or \"0x80070057\"");
    }
    for (const std::string_view key : {"inputs", "expected", "inPlace"}) {
        if (const JsonValue* value = object.find(key)) {
            problems.add(value->offset, fmt::format("\"{}\" and \"expectError\" exclude each other", key));
        }
    }
}

void require_inputs(const JsonValue& object, const Case& result, ProblemSink& problems) {
    const auto slots = result.descriptor->inputs();
    const JsonValue* inputs = object.find("inputs");
    if (inputs != nullptr && inputs->object() == nullptr) {
        return;  // reported already
    }
    for (const operators::TensorSlot& slot : slots) {
        const bool written = inputs != nullptr && inputs->find(slot.name) != nullptr;
        if (slot.desc != nullptr && !written) {
            problems.add(inputs == nullptr ? object.offset : inputs->offset,
                         fmt::format("\"inputs\" is missing data for {}", slot.name),
                         fmt::format(R"(for example "{}": {{ "start": 1, "step": 1 }})", slot.name));
        }
    }
}

/// Where there is no reference, somebody has to say what is right.
void require_expected(const JsonValue& object, const Case& result, ProblemSink& problems) {
    const operators::Descriptor& descriptor = *result.descriptor;
    const JsonValue* expected = object.find("expected");
    if (cpu::has_reference(*descriptor.schema) || (expected != nullptr && expected->object() == nullptr)) {
        return;
    }
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        const bool written = expected != nullptr && expected->find(slot.name) != nullptr;
        if (slot.desc != nullptr && !written) {
            problems.add(expected == nullptr ? object.offset : expected->offset,
                         fmt::format("\"expected\" is missing values for {}: there is no reference for {} yet",
                                     slot.name, descriptor.schema->short_name()),
                         fmt::format(R"(for example "{}": [1, 2, 3], from an independent computation; )"
                                     "`run --against ENGINE` compares with what another engine computes",
                                     slot.name));
        }
    }
}

void read_feature_level(const JsonValue& object, Case& result, ProblemSink& problems) {
    if (const std::string* text = read_string(object, "minFeatureLevel", false, problems)) {
        const auto level = core::parse_feature_level(*text);
        if (!level) {
            problems.add(object.find("minFeatureLevel")->offset,
                         fmt::format("\"{}\" is not a feature level", core::shortened(*text)), "for example \"4.1\"");
        }
        result.min_feature_level = level.value_or(core::FeatureLevel{});
        return;
    }
    // A descriptor that no level accepts is run on every engine: that is how its rejection is seen.
    const auto lowest = result.expect_error ? std::nullopt : operators::minimum_feature_level(*result.descriptor);
    result.min_feature_level = lowest.value_or(result.descriptor->schema->introduced);
}

/// Whether a sweep's illegal expansions are to be left out.
bool read_skip_invalid(const JsonValue& object, const CaseContext& context, ProblemSink& problems) {
    const JsonValue* skip = object.find("skipInvalid");
    if (skip == nullptr) {
        return false;
    }
    if (skip->boolean() == nullptr) {
        problems.add(skip->offset, fmt::format("\"skipInvalid\" must be true or false; this is {}", skip->kind_name()));
        return false;
    }
    if (context.suffix.empty()) {
        problems.add(skip->offset, "\"skipInvalid\" is for cases with a \"sweep\"");
    }
    return *skip->boolean();
}

/// Whether to go on reading the case. An unexpected illegal descriptor is an error, or an expansion to be left out: no
/// engine could be blamed for what it makes of it.
bool check_legality(const JsonValue& object, const Case& result, CaseContext& context, ProblemSink& problems) {
    const bool skip = read_skip_invalid(object, context, problems);
    if (result.expect_error) {
        return true;
    }
    const operators::Verdict verdict = operators::validate(*result.descriptor, core::highest_feature_level);
    if (!verdict) {
        return true;
    }
    const std::size_t place = object.find("desc")->offset;
    const std::string expecting =
        fmt::format("\"expectError\": \"{}\" says that engines have to reject it", core::to_string(verdict->code));
    if (context.suffix.empty()) {
        problems.add(place, fmt::format("the descriptor is illegal: {} [{}]", verdict->message, verdict->rule),
                     expecting);
    } else if (skip) {
        ++context.skipped;
    } else {
        problems.add(place,
                     fmt::format("the expansion {} gives an illegal descriptor: {} [{}]", context.suffix,
                                 verdict->message, verdict->rule),
                     "\"skipInvalid\": true leaves such expansions out; " + expecting);
    }
    return false;
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

}  // namespace

std::span<const std::string> case_keys() {
    return known_keys;
}

std::optional<Case> read_case(const JsonValue& object, CaseContext& context, ProblemSink& problems) {
    const std::size_t before = problems.count();
    if (object.object() == nullptr) {
        problems.add(object.offset, fmt::format("a case must be an object; this is {}", object.kind_name()));
        return std::nullopt;
    }
    check_keys(object, known_keys, "a case", problems);
    Case result;
    result.id = fmt::format("{}/{}{}", context.file_stem, read_name(object, problems), context.suffix);
    result.file = problems.file();
    result.line = problems.position(object.offset).line;
    if (const std::string* description = read_string(object, "description", false, problems)) {
        result.description = *description;
    }
    result.tags = read_tags(object, problems);
    read_expected_error(object, result, problems);
    const operators::OperatorSchema* schema = read_operator(object, problems);
    const JsonValue* desc = object.find("desc");
    if (desc == nullptr) {
        problems.add(object.offset, "a case needs \"desc\"");
    }
    if (schema == nullptr || desc == nullptr) {
        return std::nullopt;
    }
    auto descriptor = read_descriptor(*desc, *schema, problems);
    if (!descriptor) {
        return std::nullopt;
    }
    read_in_place(object, *descriptor, problems);
    result.descriptor = std::make_shared<const operators::Descriptor>(std::move(*descriptor));
    if (!check_legality(object, result, context, problems)) {
        return std::nullopt;
    }
    result.inputs = read_tensors(object, "inputs", result.descriptor->inputs(), context.folder, problems);
    result.expected = read_tensors(object, "expected", result.descriptor->outputs(), context.folder, problems);
    result.tolerances = read_tolerances(object.find("tolerance"), *result.descriptor, problems);
    read_feature_level(object, result, problems);
    if (object.find("expectError") == nullptr) {
        require_inputs(object, result, problems);
        if (!context.without_expected) {
            require_expected(object, result, problems);
        }
    }
    if (problems.count() == before) {
        return result;
    }
    if (!context.was_right) {
        return std::nullopt;
    }
    // Only what is outside the case file can have changed: data files.
    result.problem = problems.take({}).front().message;
    return result;
}

}  // namespace dmlconform::cases
