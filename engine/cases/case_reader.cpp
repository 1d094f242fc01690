// Reads a case, key by key.
#include "engine/cases/case_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "engine/cases/case_parts.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/cases/graph_reader.h"
#include "engine/cases/tensor_desc_reader.h"
#include "engine/cases/tolerance_reader.h"
#include "engine/core/utf8.h"
#include "engine/cpu/reference.h"
#include "engine/operators/graph.h"
#include "engine/operators/rules.h"

namespace dmlconform::cases {
namespace {

constexpr std::string_view a_case = "a case";

const std::array<std::string, 16> known_keys{
    "name",      "description",     "operator", "desc",    "graph", "inputs",      "expected",  "expectError",
    "tolerance", "minFeatureLevel", "tags",     "inPlace", "sweep", "skipInvalid", "precision", "expectedPrecision"};

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

/// Reads initialisers for the tensors in `slots` from the object under `key`, whose keys are tensor names.
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
    const std::string* name = read_string(object, "expectError", false, a_case, problems);
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

/// "node `relu`": the first node that reads an input of a graph.
std::string reader_of(const operators::Graph& graph, std::string_view input) {
    const auto reads = [&](operators::ValueIndex value) {
        return value != operators::no_value && graph.values[value].name == input;
    };
    const auto node = std::ranges::find_if(
        graph.nodes, [&](const operators::GraphNode& each) { return std::ranges::any_of(each.inputs, reads); });
    return fmt::format("node `{}`", node->name);
}

void require_inputs(const JsonValue& object, const Case& result, ProblemSink& problems) {
    const operators::Graph* graph = result.descriptor->graph.get();
    const JsonValue* inputs = object.find("inputs");
    if (inputs != nullptr && inputs->object() == nullptr) {
        return;  // reported already
    }
    const std::size_t offset = inputs == nullptr ? object.offset : inputs->offset;
    for (const operators::TensorSlot& slot : result.descriptor->inputs()) {
        if (slot.desc == nullptr || (inputs != nullptr && inputs->find(slot.name) != nullptr)) {
            continue;
        }
        const std::string example = fmt::format(R"(for example "{}": {{ "start": 1, "step": 1 }})", slot.name);
        if (graph == nullptr) {
            problems.add(offset, fmt::format("\"inputs\" is missing data for {}", slot.name), example);
            continue;
        }
        const std::string reader = reader_of(*graph, slot.name);
        const std::string meant = similar_value(*graph, slot.name);
        problems.add(
            meant.empty() ? offset : offset_in_graph(*object.find("graph"), reader),
            fmt::format("{} reads `{}`, which no node writes, and \"inputs\" has no data for it", reader, slot.name),
            meant.empty() ? example : meant);
    }
}

/// The first operator of the case that the reference does not compute; empty if there is none.
std::string without_reference(const operators::Descriptor& descriptor) {
    if (descriptor.graph != nullptr) {
        for (const operators::GraphNode& node : descriptor.graph->nodes) {
            if (!cpu::has_reference(*node.descriptor)) {
                return fmt::format("{} of node `{}`", node.descriptor->schema->short_name(), node.name);
            }
        }
    }
    return std::string(descriptor.schema->short_name());
}

/// Reports missing expected values of operators that the reference does not compute.
void require_expected(const JsonValue& object, const Case& result, ProblemSink& problems) {
    const operators::Descriptor& descriptor = *result.descriptor;
    const JsonValue* expected = object.find("expected");
    if (cpu::has_reference(descriptor) || (expected != nullptr && expected->object() == nullptr)) {
        return;
    }
    for (const operators::TensorSlot& slot : descriptor.outputs()) {
        const bool written = expected != nullptr && expected->find(slot.name) != nullptr;
        if (slot.desc != nullptr && !written) {
            problems.add(expected == nullptr ? object.offset : expected->offset,
                         fmt::format("\"expected\" is missing values for {}: there is no reference for {} yet",
                                     slot.name, without_reference(descriptor)),
                         fmt::format(R"(for example "{}": [1, 2, 3], from an independent computation; )"
                                     "`run --against ENGINE` compares with what another engine computes",
                                     slot.name));
        }
    }
}

void read_feature_level(const JsonValue& object, Case& result, ProblemSink& problems) {
    if (const std::string* text = read_string(object, "minFeatureLevel", false, a_case, problems)) {
        const auto level = core::parse_feature_level(*text);
        if (!level) {
            problems.add(object.find("minFeatureLevel")->offset,
                         fmt::format("\"{}\" is not a feature level", core::shortened(*text)), "for example \"4.1\"");
        }
        result.min_feature_level = level.value_or(core::FeatureLevel{});
        return;
    }
    // A descriptor that is illegal at every level runs on every engine, which must reject it.
    const auto lowest = result.expect_error ? std::nullopt : operators::minimum_feature_level(*result.descriptor);
    result.min_feature_level = lowest.value_or(result.descriptor->schema->introduced);
}

/// True if illegal expansions of a sweep are skipped.
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

std::shared_ptr<const operators::Descriptor> read_operator_case(const JsonValue& object, ProblemSink& problems) {
    const operators::OperatorSchema* schema = read_operator(object, a_case, problems);
    const JsonValue* desc = object.find("desc");
    if (desc == nullptr) {
        problems.add(object.offset, "a case needs \"desc\"");
    }
    if (schema == nullptr || desc == nullptr) {
        return nullptr;
    }
    auto descriptor = read_descriptor(*desc, *schema, problems);
    if (!descriptor) {
        return nullptr;
    }
    read_in_place(object, *descriptor, problems);
    return operators::sealed(std::move(*descriptor));
}

/// Reads a case that has "graph" instead of an operator.
std::shared_ptr<const operators::Descriptor> read_graph_case(const JsonValue& object, ProblemSink& problems) {
    for (const std::string_view key : {"operator", "desc", "inPlace"}) {
        if (const JsonValue* value = object.find(key)) {
            problems.add(value->offset, fmt::format("\"{}\" and \"graph\" exclude each other", key),
                         "the nodes of a graph have their own");
        }
    }
    return read_graph(*object.find("graph"), problems);
}

/// The offset in the file that the message about an illegal descriptor points at.
std::size_t offset_of(const JsonValue& object, const operators::Rejection& rejection) {
    const JsonValue* graph = object.find("graph");
    return graph == nullptr ? object.find("desc")->offset : offset_in_graph(*graph, rejection.message);
}

/// Decides whether to continue with the case. An illegal descriptor that is not expected is a problem, or an expansion
/// to skip: an engine's result for it could not be judged.
bool check_legality(const JsonValue& object, const Case& result, CaseContext& context, ProblemSink& problems) {
    const bool skip = read_skip_invalid(object, context, problems);
    if (result.expect_error || (context.was_right && !skip)) {
        return true;
    }
    const operators::Verdict verdict = operators::validate(*result.descriptor, core::highest_feature_level);
    if (!verdict) {
        return true;
    }
    const std::size_t offset = offset_of(object, *verdict);
    const std::string_view what = result.descriptor->graph == nullptr ? "descriptor" : "graph";
    const std::string expecting =
        fmt::format("\"expectError\": \"{}\" says that engines have to reject it", core::to_string(verdict->code));
    if (context.suffix.empty()) {
        problems.add(offset, fmt::format("the {} is illegal: {} [{}]", what, verdict->message, verdict->rule),
                     expecting);
    } else if (skip) {
        ++context.skipped;
    } else {
        problems.add(offset,
                     fmt::format("the expansion {} gives an illegal {}: {} [{}]", context.suffix, what,
                                 verdict->message, verdict->rule),
                     "\"skipInvalid\": true leaves such expansions out; " + expecting);
    }
    return false;
}

void read_precision(const JsonValue& object, Case& result, ProblemSink& problems) {
    const std::string* name = read_string(object, "precision", false, a_case, problems);
    if (name == nullptr) {
        return;
    }
    result.precision = core::parse_precision(*name);
    const std::size_t position = object.find("precision")->offset;
    if (!result.precision) {
        problems.add(position, fmt::format("\"{}\" is not a precision", core::shortened(*name)),
                     fmt::format("one of {}", fmt::join(core::precision_names, ", ")));
    } else if (object.find("expectError") != nullptr) {
        problems.add(position, "\"precision\" and \"expectError\" exclude each other");
    }
}

void read_expected_precision(const JsonValue& object, Case& result, ProblemSink& problems) {
    const std::string* name = read_string(object, "expectedPrecision", false, a_case, problems);
    if (name == nullptr) {
        return;
    }
    const std::size_t position = object.find("expectedPrecision")->offset;
    result.expected_in_fp32 = *name == "fp32";
    if (!result.expected_in_fp32) {
        problems.add(position, "\"expectedPrecision\" can only be \"fp32\"",
                     "without it, the expected values are as exact as their type allows");
    } else if (object.find("expected") == nullptr) {
        problems.add(position, "\"expectedPrecision\" without \"expected\" says nothing");
    }
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
    result.id = fmt::format("{}/{}{}", context.file_stem, read_name(object, a_case, problems), context.suffix);
    result.file = problems.file();
    result.line = problems.position(object.offset).line;
    if (const std::string* description = read_string(object, "description", false, a_case, problems)) {
        result.description = *description;
    }
    result.tags = read_tags(object, problems);
    read_expected_error(object, result, problems);
    result.descriptor =
        object.find("graph") == nullptr ? read_operator_case(object, problems) : read_graph_case(object, problems);
    if (result.descriptor == nullptr) {
        return std::nullopt;
    }
    const bool needs_inputs = object.find("expectError") == nullptr;
    const bool is_graph = result.descriptor->graph != nullptr;
    // An input of a graph may be a misspelt value, for which rules of graphs would blame other nodes.
    if (is_graph && needs_inputs) {
        require_inputs(object, result, problems);
        if (problems.count() != before) {
            return std::nullopt;
        }
    }
    if (!check_legality(object, result, context, problems)) {
        return std::nullopt;
    }
    result.inputs = read_tensors(object, "inputs", result.descriptor->inputs(), context.folder, problems);
    result.expected = read_tensors(object, "expected", result.descriptor->outputs(), context.folder, problems);
    result.tolerances = read_tolerances(object.find("tolerance"), *result.descriptor, problems);
    read_precision(object, result, problems);
    read_expected_precision(object, result, problems);
    read_feature_level(object, result, problems);
    if (needs_inputs && !is_graph) {
        require_inputs(object, result, problems);
    }
    if (needs_inputs && !context.without_expected) {
        require_expected(object, result, problems);
    }
    if (problems.count() == before) {
        return result;
    }
    if (!context.was_right) {
        return std::nullopt;
    }
    // Only data files can have changed, because the case's text was read before.
    result.problem = problems.take({}).front().message;
    return result;
}

}  // namespace dmlconform::cases
