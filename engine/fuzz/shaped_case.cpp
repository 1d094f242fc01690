// A plain case with other sizes and attributes.
#include "engine/fuzz/shaped_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/cases/case_writer.h"
#include "engine/cases/descriptor_reader.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/example_case.h"
#include "engine/fuzz/operator_fuzz.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using nlohmann::ordered_json;
using operators::Descriptor;

core::Result<Descriptor> plain_descriptor(const operators::OperatorSchema& schema, const Shape& shape) {
    ExampleWish wish;
    wish.type = shape.type;
    wish.rank = shape.sizes.empty() ? std::nullopt : std::optional(shape.sizes.size());
    const auto example = example_case(schema, wish);
    if (!example) {
        return core::fail(fmt::format("no legal descriptor of {} was found{}{}", schema.short_name(),
                                      wish.rank ? fmt::format(" with {} dimensions", *wish.rank) : "",
                                      wish.type ? fmt::format(" of {}", core::name(*wish.type)) : ""),
                          fmt::format("`dmlconform describe {}` shows what its tensors may be", schema.short_name()));
    }
    Descriptor descriptor = *example->descriptor;
    descriptor.in_place = {};
    return descriptor;
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
        const auto parsed = ordered_json::parse(value, nullptr, false);
        desc[name] = parsed.is_discarded() ? ordered_json(value) : parsed;
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

/// Gives the first tensor the sizes, and so the inputs that were like it if `alike`; then makes legal what follows.
Descriptor resized(Descriptor descriptor, const core::Dimensions& sizes, bool alike) {
    const core::TensorDesc* first = first_tensor(descriptor);
    if (!sizes.empty() && first != nullptr) {
        const core::Dimensions before = first->sizes;
        for (const TensorField& tensor : tensors_of(descriptor)) {
            if (tensor.desc == first || (alike && tensor.desc->sizes == before)) {
                set_sizes(*tensor.desc, sizes);
            }
        }
    }
    find_fuzz(*descriptor.schema).repair(descriptor);
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
    // Attributes again at the end: the repair changes what does not fit, which is to be an error.
    std::optional<Descriptor> legal;
    operators::Verdict verdict;
    for (const bool alike : {true, false}) {
        const auto given = with_attributes(*plain, shape);
        if (!given) {
            return tl::unexpected(given.error());
        }
        const auto again = with_attributes(resized(*given, shape.sizes, alike), shape);
        if (!again) {
            return tl::unexpected(again.error());
        }
        verdict = operators::validate(*again, core::highest_feature_level);
        if (!verdict) {
            legal = *again;
            break;
        }
    }
    if (!legal) {
        return core::fail(
            fmt::format("these make an illegal {}: {} [{}]", schema.short_name(), verdict->message, verdict->rule),
            fmt::format("`dmlconform new {}` prints a case in which everything can be said", schema.short_name()));
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
