// A plain case with other sizes and attributes.
#include "engine/fuzz/shaped_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/cases/case_writer.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/core/utf8.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/example_case.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using nlohmann::ordered_json;
using operators::Descriptor;

/// How many dimensions the first tensor is to have: its own number, or that of the one with most.
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
    return descriptor;
}

/// What is written in JSON; anything else is a text.
core::Result<ordered_json> attribute_value(const std::string& name, const std::string& text) {
    // As of case files. Functions that write a value call themselves for each level.
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

/// The descriptor with these attributes, read as a case file's.
core::Result<Descriptor> with_attributes(const Descriptor& descriptor, const Shape& shape) {
    const operators::OperatorSchema& schema = *descriptor.schema;
    ordered_json desc = cases::desc_to_json(descriptor);
    for (const auto& [name, value] : shape.attributes) {
        const operators::Field* field = schema.find_field(name);
        if (field == nullptr || field->is_tensor()) {
            return core::fail(fmt::format("{} has no attribute \"{}\"", schema.short_name(), name),
                              fmt::format("`dmlconform describe {}` lists them", schema.short_name()));
        }
        auto read = attribute_value(name, value);
        if (!read) {
            return tl::unexpected(read.error());
        }
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

/// What becomes of the tensors whose sizes are not given.
struct Rest {
    /// Inputs that were like the first tensor stay like it.
    bool alike = true;
    bool optional_inputs = true;
};

/// Gives the tensors their sizes, then makes legal what follows from them.
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
    // Again what is given: what does not fit it is to be an error, and not to be changed.
    put_sizes(descriptor, given);
    find_fuzz(*descriptor.schema).repair(descriptor);
    put_sizes(descriptor, given);
    set_counts(descriptor);
    return descriptor;
}

/// Random data for what the operator takes it for.
ordered_json input_json(ElementKind kind, core::DataType type, const Descriptor& descriptor) {
    const bool is_float =
        type == core::DataType::float16 || type == core::DataType::float32 || type == core::DataType::float64;
    const bool is_signed = is_float || std::string_view(core::name(type)).starts_with("INT");
    switch (kind) {
        case ElementKind::index: {
            // Small enough for any dimension that has more than one element.
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

}  // namespace

core::Result<std::string> shaped_case_file(const operators::OperatorSchema& schema, const Shape& shape) {
    const auto plain = plain_descriptor(schema, shape);
    if (!plain) {
        return tl::unexpected(plain.error());
    }
    const auto sizes = with_full_names(*plain, shape.sizes);
    if (!sizes) {
        return tl::unexpected(sizes.error());
    }
    const bool named =
        std::any_of(shape.sizes.begin(), shape.sizes.end(), [](const auto& given) { return !given.first.empty(); });
    // Attributes again at the end: the repair changes what does not fit, which is to be an error.
    std::optional<Descriptor> legal;
    operators::Verdict verdict;
    for (const Rest& rest : {Rest{true, !named}, Rest{false, !named}, Rest{true, named}, Rest{false, named}}) {
        const auto given = with_attributes(*plain, shape);
        if (!given) {
            return tl::unexpected(given.error());
        }
        const auto again = with_attributes(resized(*given, *sizes, rest), shape);
        if (!again) {
            return tl::unexpected(again.error());
        }
        const auto found = operators::validate(*again, core::highest_feature_level);
        if (!found) {
            legal = *again;
            break;
        }
        // The first one's is told: it has what a user would leave out.
        verdict = verdict ? verdict : found;
    }
    if (!legal) {
        return core::fail(
            fmt::format("these make an illegal {}: {} [{}]", schema.short_name(), verdict->message, verdict->rule),
            fmt::format("--sizes NAME=N,N,... gives any tensor's sizes, and --attr any attribute; `dmlconform describe "
                        "{}` shows both",
                        schema.short_name()));
    }
    ordered_json entry{{"name", "shape"}, {"operator", schema.name}, {"desc", cases::desc_to_json(*legal)}};
    for (const operators::TensorSlot& slot : legal->inputs()) {
        if (slot.desc != nullptr) {
            const ElementKind kind = find_fuzz(schema).element_kind(*legal, slot.name);
            entry["inputs"][slot.name] = input_json(kind, slot.desc->data_type, *legal);
        }
    }
    return cases::case_file_text("", {&entry, 1});
}

}  // namespace dmlconform::fuzz
