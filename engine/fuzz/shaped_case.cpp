// Changes sizes and attributes of an example case.
#include "engine/fuzz/shaped_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/cases/case_writer.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/core/ascii_case.h"
#include "engine/core/hash.h"
#include "engine/core/shown_text.h"
#include "engine/core/utf8.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/example_case.h"
#include "engine/fuzz/following_sizes.h"
#include "engine/fuzz/neutral_descriptor.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/neutral.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using nlohmann::ordered_json;
using operators::Descriptor;

/// The wanted number of dimensions of the first tensor: its own, or the maximum over the given tensors.
std::optional<std::size_t> wished_rank(const GivenSizes& given) {
    std::optional<std::size_t> rank;
    for (const auto& [name, sizes] : given) {
        if (name.empty()) {
            return sizes.size();
        }
        rank = std::max(rank.value_or(0), sizes.size());
    }
    return rank;
}

core::Result<Descriptor> plain_descriptor(const operators::OperatorSchema& schema, const Shape& shape) {
    ExampleWish wish;
    wish.type = shape.type;
    wish.rank = wished_rank(shape.sizes);
    const auto example = example_case(schema, wish);
    if (!example) {
        return core::fail(fmt::format("no legal descriptor of {}{}{} was found", schema.short_name(),
                                      wish.rank ? fmt::format(" with {} dimensions", *wish.rank) : "",
                                      wish.type ? fmt::format(" of type {}", core::name(*wish.type)) : ""),
                          fmt::format("`dmlconform describe {}` shows what its tensors may be", schema.short_name()));
    }
    Descriptor descriptor = *example->descriptor;
    descriptor.in_place = {};
    make_neutral(descriptor);
    return descriptor;
}

/// Parses JSON; anything else is a string.
core::Result<ordered_json> attribute_value(const std::string& name, const std::string& text) {
    // Same limit as for case files. Functions that write values are recursive.
    constexpr int most_levels = 64;
    if (core::find_invalid_utf8(text)) {
        return core::fail(fmt::format("--attr {}: the value is not UTF-8", name));
    }
    int levels = 0;
    const auto count = [&](int above, ordered_json::parse_event_t /*event*/, const ordered_json& /*value*/) {
        levels = std::max(levels, above + 1);
        return true;
    };
    auto parsed = ordered_json::parse(text, count, false);
    if (levels > most_levels) {
        return core::fail(fmt::format("--attr {}: more than {} levels of nesting", name, most_levels));
    }
    return parsed.is_discarded() ? ordered_json(text) : std::move(parsed);
}

/// An activation that is given by name alone, "RELU" or "ACTIVATION_RELU", with neutral parameters. Empty if the name
/// is unknown.
std::optional<operators::OperatorDesc> named_activation(const std::string& name) {
    const operators::OperatorSchema* schema = operators::find_operator(name);
    schema = schema == nullptr ? operators::find_operator("ACTIVATION_" + name) : schema;
    if (schema == nullptr) {
        return std::nullopt;
    }
    Descriptor activation = blank_descriptor(*schema);
    for (std::size_t i = 0; i < activation.values.size(); ++i) {
        if (auto value = schema->fields[i].is_tensor() ? std::nullopt
                                                       : operators::neutral_value(activation, schema->fields[i])) {
            activation.values[i] = std::move(*value);
        }
    }
    return std::make_shared<const Descriptor>(std::move(activation));
}

/// A single number sets each entry of an array: "Strides=2".
void fill_array(const operators::Field& field, const ordered_json& now, ordered_json& value) {
    using operators::FieldType;
    const bool is_array = field.type == FieldType::uint_array || field.type == FieldType::int_array ||
                          field.type == FieldType::float_array;
    if (is_array && value.is_number() && now.is_array()) {
        value = std::vector<ordered_json>(now.size(), value);
    }
}

/// The descriptor with these attributes, which are read as in a case file.
core::Result<Descriptor> with_attributes(Descriptor descriptor, const Shape& shape) {
    const operators::OperatorSchema& schema = *descriptor.schema;
    const auto is_activation = [&](const std::string& name, const std::string& value) {
        const operators::Field* field = schema.find_field(name);
        auto activation = field != nullptr && field->type == operators::FieldType::operator_desc
                              ? named_activation(value)
                              : std::nullopt;
        if (activation) {
            field_of(descriptor, name) = std::move(*activation);
        }
        return activation.has_value();
    };
    std::set<std::string> written;
    for (const auto& [name, value] : shape.attributes) {
        if (is_activation(name, value)) {
            written.insert(name);
        }
    }
    ordered_json desc = cases::desc_to_json(descriptor);
    for (const auto& [name, value] : shape.attributes) {
        const operators::Field* field = schema.find_field(name);
        if (field == nullptr || field->is_tensor()) {
            return core::fail(fmt::format("{} has no attribute \"{}\"", schema.short_name(), name),
                              fmt::format("`dmlconform describe {}` lists them", schema.short_name()));
        }
        if (written.contains(name)) {
            continue;
        }
        auto read = attribute_value(name, value);
        if (!read) {
            return tl::unexpected(read.error());
        }
        fill_array(*field, desc[name], *read);
        desc[name] = std::move(*read);
    }
    const std::string text = desc.dump();
    const auto document = cases::parse_json(text);
    cases::ProblemSink problems("--attr", text);
    auto read = document ? cases::read_descriptor(*document, schema, problems) : std::nullopt;
    if (!read) {
        const auto found = problems.take(document ? *document : cases::JsonValue{});
        return found.empty() ? core::fail("the attributes cannot be read")
                             : core::fail(found.front().message, found.front().hint);
    }
    return std::move(*read);
}

/// How tensors without given sizes are treated.
struct Rest {
    /// Inputs follow the first tensor if its sizes are given: see follow_first_tensor.
    bool follows = true;
    /// Inputs that had the first tensor's sizes keep having them.
    bool alike = true;
    bool optional_inputs = true;
};

bool first_is_given(const Descriptor& descriptor, const GivenSizes& given) {
    const auto inputs = descriptor.inputs();
    const auto first = std::ranges::find_if(inputs, [](const auto& slot) { return slot.desc != nullptr; });
    return first != inputs.end() &&
           std::ranges::any_of(given, [&](const auto& one) { return one.first == first->name; });
}

/// Sets the given sizes, then repairs what depends on them.
Descriptor resized(Descriptor descriptor, const GivenSizes& given, const Rest& rest) {
    if (!rest.optional_inputs) {
        remove_optional_inputs(descriptor, given);
    }
    const core::TensorDesc* first = first_tensor(descriptor);
    const core::Dimensions before = first == nullptr ? core::Dimensions{} : first->sizes;
    put_sizes(descriptor, given);
    first = first_tensor(descriptor);
    for (const TensorField& tensor : tensors_of(descriptor)) {
        if (rest.alike && !given.empty() && tensor.desc->sizes == before) {
            set_sizes(*tensor.desc, first->sizes);
        }
    }
    if (rest.follows && first_is_given(descriptor, given)) {
        follow_first_tensor(descriptor);
    }
    // Sets the given sizes again: an inconsistency must lead to an error, not to changed sizes.
    put_sizes(descriptor, given);
    find_fuzz(*descriptor.schema).repair(descriptor);
    set_neutral_sizes(descriptor, std::any_of(given.begin(), given.end(), [](const auto& entry) {
                          return entry.first == "WeightTensor" || entry.first == "RecurrenceTensor";
                      }));
    put_sizes(descriptor, given);
    set_counts(descriptor);
    return descriptor;
}

/// The plain descriptor with these sizes, made neutral again: some values are only legal with larger tensors.
Descriptor neutral_with_sizes(const Descriptor& plain, const GivenSizes& given, const Rest& rest) {
    Descriptor descriptor = resized(plain, given, rest);
    if (operators::validate(descriptor, core::highest_feature_level)) {
        return plain;
    }
    make_neutral(descriptor);
    return descriptor;
}

/// "BTensor [5,2], OutputTensor [1,2]": tensors that the user did not give, which the message may refer to.
std::string made_up_tensors(const Descriptor& descriptor, const GivenSizes& given) {
    std::vector<std::string> made_up;
    const auto add = [&](const std::vector<operators::TensorSlot>& slots) {
        for (const operators::TensorSlot& slot : slots) {
            const bool is_given = std::ranges::any_of(given, [&](const auto& one) { return one.first == slot.name; });
            if (slot.desc != nullptr && !is_given) {
                made_up.push_back(fmt::format("{} [{}]", slot.name, fmt::join(slot.desc->sizes, ",")));
            }
        }
    };
    add(descriptor.inputs());
    add(descriptor.outputs());
    return fmt::format("{}", fmt::join(made_up, ", "));
}

/// Random data of the kind that the operator expects.
ordered_json input_json(ElementKind kind, core::DataType type, const Descriptor& descriptor) {
    const bool is_float =
        type == core::DataType::float16 || type == core::DataType::float32 || type == core::DataType::float64;
    const bool is_signed = is_float || std::string_view(core::name(type)).starts_with("INT");
    switch (kind) {
        case ElementKind::index: {
            // Valid for any dimension that has more than one element.
            std::uint32_t smallest = 2;
            if (const core::TensorDesc* first = first_tensor(descriptor)) {
                smallest = *std::min_element(first->sizes.begin(), first->sizes.end());
            }
            return {{"random", "integer"}, {"min", 0}, {"max", std::min(smallest, 2u) - 1}, {"seed", 1}};
        }
        case ElementKind::scale:
            return {{"value", 0.5}};
        case ElementKind::divisor:
            return {{"value", 64}};
        default:
            return is_float ? ordered_json{{"random", "uniform"}, {"min", -1}, {"max", 1}, {"seed", 1}}
                            : ordered_json{{"random", "integer"}, {"min", is_signed ? -5 : 0}, {"max", 5}, {"seed", 1}};
    }
}

/// "float32-1x1x64x32-1x1x32x16-TransB-TRANSPOSE": data type, sizes and strides of the inputs, and given attributes.
/// Different problems have different names, so that their times are never compared.
std::string name_of(const Descriptor& descriptor, const Shape& shape) {
    const core::TensorDesc* first = first_tensor(descriptor);
    std::string name(first == nullptr ? "shape" : core::lower_case(core::name(first->data_type)));
    const auto inputs = descriptor.inputs();
    for (const operators::TensorSlot& slot : inputs.empty() ? descriptor.outputs() : inputs) {
        name += slot.desc == nullptr ? "-none" : fmt::format("-{}", fmt::join(slot.desc->sizes, "x"));
        if (slot.desc != nullptr && slot.desc->strides) {
            name += fmt::format("_s{}", fmt::join(*slot.desc->strides, "x"));
        }
    }
    while (name.ends_with("-none")) {
        name.resize(name.size() - std::string_view("-none").size());
    }
    for (const operators::TensorSlot& slot : inputs.empty() ? inputs : descriptor.outputs()) {
        if (slot.desc != nullptr && slot.desc->strides) {
            name += fmt::format("-{}_s{}", slot.name, fmt::join(*slot.desc->strides, "x"));
        }
    }
    for (const auto& [attribute, value] : shape.attributes) {
        name += fmt::format("-{}-{}", attribute, value);
    }
    // Names may contain letters, digits and a few punctuation marks.
    for (char& c : name) {
        const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                             c == '.' || c == '-';
        c = allowed ? c : '_';
    }
    constexpr std::size_t most = 400;
    if (name.size() > most) {
        name = fmt::format("{}-{:016x}", core::shortened(name, most), core::fnv1a(name));
    }
    return name;
}

/// The descriptor, with another data type of an output if that makes it legal: the one that the lowest feature level
/// has. REDUCE has another one for ARGMAX, for example. Unchanged if there is none.
Descriptor with_legal_output(const Descriptor& descriptor) {
    if (!operators::validate(descriptor, core::highest_feature_level)) {
        return descriptor;
    }
    Descriptor best = descriptor;
    std::optional<core::FeatureLevel> lowest;
    Descriptor changed = descriptor;
    for (const TensorField& tensor : tensors_of(changed)) {
        const operators::TensorSupport* support =
            changed.schema->support_at(tensor.field->name, core::highest_feature_level);
        if (tensor.field->kind != operators::FieldKind::output || support == nullptr) {
            continue;
        }
        const core::TensorDesc before = *tensor.desc;
        for (const core::DataType type : support->data_types) {
            tensor.desc->data_type = type;
            set_sizes(*tensor.desc, before.sizes);
            const auto level = operators::minimum_feature_level(changed);
            if (level && (!lowest || *level < *lowest)) {
                best = changed;
                lowest = level;
            }
        }
        *tensor.desc = before;
    }
    return best;
}

/// What is tried, in order. `named`: some tensors are given by name, so that others are not wanted.
std::vector<Rest> attempts(bool named) {
    std::vector<Rest> list;
    for (const bool optional_inputs : {!named, named}) {
        for (const bool follows : {true, false}) {
            for (const bool alike : {true, false}) {
                list.push_back({follows, alike, optional_inputs});
            }
        }
    }
    return list;
}

}  // namespace

core::Result<std::string> shaped_case_file(const operators::OperatorSchema& schema, const Shape& shape) {
    const auto plain = plain_descriptor(schema, shape);
    if (!plain) {
        return tl::unexpected(plain.error());
    }
    auto sizes = with_full_names(*plain, shape.sizes);
    if (!sizes) {
        return tl::unexpected(sizes.error());
    }
    GivenStrides strides = broadcast(schema, *sizes);
    strides.insert(strides.end(), shape.strides.begin(), shape.strides.end());
    const bool named =
        std::any_of(shape.sizes.begin(), shape.sizes.end(), [](const auto& given) { return !given.first.empty(); });
    // Attributes are set again at the end: the repair changes inconsistent ones, which must lead to an error.
    std::optional<Descriptor> legal;
    operators::Verdict verdict;
    std::string made_up;
    for (const Rest& rest : attempts(named)) {
        const auto given = with_attributes(neutral_with_sizes(*plain, *sizes, rest), shape);
        if (!given) {
            return tl::unexpected(given.error());
        }
        auto again = with_attributes(resized(*given, *sizes, rest), shape);
        if (!again) {
            return tl::unexpected(again.error());
        }
        again = with_legal_output(*again);
        if (const auto put = put_strides(*again, strides); !put) {
            return tl::unexpected(put.error());
        }
        const auto found = operators::validate(*again, core::highest_feature_level);
        if (!found) {
            legal = *again;
            break;
        }
        // Reports the first verdict: it is for the descriptor without optional fields.
        if (!verdict) {
            verdict = found;
            made_up = made_up_tensors(*again, *sizes);
        }
    }
    if (!legal) {
        return core::fail(
            fmt::format("these make an illegal {}: {} [{}]", schema.short_name(), verdict->message, verdict->rule),
            fmt::format(
                "{}--sizes NAME=N,N,... gives any tensor's sizes, and --attr any attribute; `dmlconform describe "
                "{}` shows both",
                made_up.empty() ? "" : fmt::format("not given, and so made up: {}. ", made_up), schema.short_name()));
    }
    ordered_json entry{
        {"name", name_of(*legal, shape)}, {"operator", schema.name}, {"desc", cases::desc_to_json(*legal)}};
    for (const operators::TensorSlot& slot : legal->inputs()) {
        if (slot.desc != nullptr) {
            const ElementKind kind = find_fuzz(schema).element_kind(*legal, slot.name);
            entry["inputs"][slot.name] = input_json(kind, slot.desc->data_type, *legal);
        }
    }
    return cases::case_file_text("", {&entry, 1});
}

}  // namespace dmlconform::fuzz
