// Generates cases from random descriptors.
#include "engine/fuzz/case_generator.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/hash.h"
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/extremes.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/mutation.h"
#include "engine/operators/in_place.h"
#include "engine/operators/rules.h"

namespace dmlconform::fuzz {
namespace {

using operators::Descriptor;

/// The catalogue's constraints do not rule out all illegal descriptors. After this many in a row, hardly any is legal.
constexpr int most_attempts = 50;

std::optional<Descriptor> legal_descriptor(Random& random, const operators::OperatorSchema& schema,
                                           core::FeatureLevel level) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
        Descriptor descriptor = find_fuzz(schema).make(random, schema, level);
        if (!operators::validate(descriptor, level)) {
            return descriptor;
        }
    }
    return std::nullopt;
}

/// True if every tensor is small enough to be computed. A mutated descriptor can be legal and need gigabytes.
bool is_small(const Descriptor& descriptor) {
    constexpr std::uint64_t most_bytes = 64 * most_elements * 8;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc != nullptr &&
                (slot.desc->total_bytes > most_bytes ||
                 core::element_count(slot.desc->sizes).value_or(~std::uint64_t{0}) > 4 * most_elements)) {
                return false;
            }
        }
    }
    return true;
}

/// True if indices that were drawn for one descriptor are valid for the other: there are no indices, or all sizes and
/// the attributes that refer to dimensions are equal. Results for invalid indices are unspecified.
bool indices_fit(const Descriptor& made, const Descriptor& changed) {
    const auto& slots = made.inputs();
    const auto is_index = [&](const operators::TensorSlot& slot) {
        return slot.desc != nullptr && find_fuzz(*made.schema).element_kind(made, slot.name) == ElementKind::index;
    };
    if (std::none_of(slots.begin(), slots.end(), is_index)) {
        return true;
    }
    const auto same_sizes = [](const operators::TensorSlot& a, const operators::TensorSlot& b) {
        return (a.desc == nullptr) == (b.desc == nullptr) && (a.desc == nullptr || a.desc->sizes == b.desc->sizes);
    };
    const auto same_numbers = [](const operators::FieldValue& a, const operators::FieldValue& b) {
        const auto* number = std::get_if<std::uint32_t>(&a);
        const auto* other = std::get_if<std::uint32_t>(&b);
        return (number == nullptr) == (other == nullptr) && (number == nullptr || *number == *other);
    };
    return std::ranges::equal(made.inputs(), changed.inputs(), same_sizes) &&
           std::ranges::equal(made.outputs(), changed.outputs(), same_sizes) &&
           std::ranges::equal(made.values, changed.values, same_numbers);
}

/// True if the operator computes with elements of this kind. Others have extreme values sometimes anyway, or cannot
/// have them.
bool can_be_extreme(ElementKind kind) {
    return kind != ElementKind::bits && kind != ElementKind::ordered && kind != ElementKind::index;
}

/// `extremes` is null for a case without extreme numbers.
void fill_inputs(Random& random, Random* extremes, cases::Case& subject) {
    const Descriptor& descriptor = *subject.descriptor;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            subject.inputs.emplace_back();
            continue;
        }
        const ElementKind kind = find_fuzz(*descriptor.schema).element_kind(descriptor, slot.name);
        std::vector<std::byte> elements = random_elements(random, *slot.desc, kind);
        if (extremes != nullptr && can_be_extreme(kind) && extremes->chance(1, 2)) {
            set_extreme_elements(*extremes, slot.desc->data_type, elements);
        }
        subject.inputs.emplace_back(cases::given_elements(std::move(elements)));
    }
}

/// Sometimes lets outputs share the memory of inputs, if that is allowed.
void share_memory(Random& random, cases::Case& subject) {
    const Descriptor& descriptor = *subject.descriptor;
    operators::InPlaceNames names;
    for (const auto& [output, inputs] : descriptor.schema->in_place) {
        operators::InPlaceNames more = names;
        more.emplace(output, random.one_of(inputs));
        if (random.chance(1, 3) && !operators::in_place_problem(descriptor, more)) {
            names = std::move(more);
        }
    }
    if (!names.empty()) {
        auto sharing = std::make_shared<Descriptor>(descriptor);
        sharing->in_place = operators::in_place_slots(descriptor, names);
        subject.descriptor = std::move(sharing);
    }
}

}  // namespace

std::optional<cases::Case> generate(const operators::OperatorSchema& schema, const GeneratorSettings& settings,
                                    std::uint64_t number) {
    if (schema.introduced > settings.level) {
        return std::nullopt;
    }
    // Each operator has its own random stream.
    const std::uint64_t stream = settings.seed ^ core::fnv1a(schema.short_name());
    Random random(cases::random_bits(stream, number));
    // Extreme numbers have a separate stream, so that they do not affect the rest of the case.
    Random extremes(cases::random_bits(~stream, number));
    const bool is_extreme = extremes.chance(settings.extreme_percent, 100);
    auto descriptor = legal_descriptor(random, schema, settings.level);
    if (!descriptor) {
        return std::nullopt;
    }
    cases::Case subject;
    subject.id = fmt::format("fuzz/{}/{}-{}", schema.short_name(), settings.seed, number);
    subject.min_feature_level = schema.introduced;
    if (random.chance(settings.perturbed_percent, 100)) {
        Descriptor perturbed = *descriptor;
        const std::string slip = mutate(random, perturbed);
        const operators::Verdict verdict = operators::validate(perturbed, settings.level);
        if (verdict) {
            subject.expect_error = verdict->code;
            subject.description = fmt::format("{}: {} [{}]", slip, verdict->message, verdict->rule);
        }
        if (verdict || (is_small(perturbed) && indices_fit(*descriptor, perturbed))) {
            descriptor = std::move(perturbed);
        }
    }
    if (is_extreme && !subject.expect_error && extremes.chance(1, 2)) {
        set_extreme_attributes(extremes, *descriptor, settings.level);
    }
    subject.descriptor = operators::sealed(std::move(*descriptor));
    const auto outputs = subject.descriptor->outputs();
    subject.expected.resize(outputs.size());
    subject.tolerances.resize(outputs.size());
    if (subject.expect_error || !settings.with_inputs) {
        subject.inputs.resize(subject.descriptor->inputs().size());
    }
    if (!subject.expect_error) {
        subject.min_feature_level = *operators::minimum_feature_level(*subject.descriptor);
        if (settings.with_inputs) {
            fill_inputs(random, is_extreme ? &extremes : nullptr, subject);
        }
        share_memory(random, subject);
    }
    return subject;
}

}  // namespace dmlconform::fuzz
