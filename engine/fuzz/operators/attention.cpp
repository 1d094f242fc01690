// MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: queries, keys and values in all forms, with matching masks and pasts.
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/layout.h"
#include "engine/fuzz/operator_fuzz.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

using MaskType = operators::MultiheadAttentionMaskType;

struct Shape {
    std::uint32_t batch = 1;
    std::uint32_t queries = 1;
    std::uint32_t keys = 1;
    std::uint32_t past = 0;
    std::uint32_t heads = 1;
    std::uint32_t key_heads = 1;
    std::uint32_t size = 1;
    std::uint32_t value_size = 1;
    MaskType mask_type = MaskType::none;

    [[nodiscard]] Dimensions mask_sizes() const {
        switch (mask_type) {
            case MaskType::key_sequence_length:
                return {1, batch};
            case MaskType::key_sequence_end_start:
                return {2, batch};
            case MaskType::key_query_sequence_length_start_end:
                return {3 * batch + 2};
            default:
                return {batch, heads, queries, past + keys};
        }
    }

    /// The sizes without leading ones.
    [[nodiscard]] Dimensions sizes_of(std::string_view field) const {
        const std::pair<std::string_view, Dimensions> all[] = {
            {"QueryTensor", {batch, queries, heads * size}},
            {"KeyTensor", {batch, keys, key_heads * size}},
            {"ValueTensor", {batch, keys, key_heads * value_size}},
            {"StackedQueryKeyTensor", {batch, queries, heads, 2, size}},
            {"StackedKeyValueTensor", {batch, keys, key_heads, 2, size}},
            {"StackedQueryKeyValueTensor", {batch, queries, heads, 3, size}},
            {"BiasTensor", {heads * size + key_heads * (size + value_size)}},
            {"MaskTensor", mask_sizes()},
            {"RelativePositionBiasTensor", {batch, heads, queries, past + keys}},
            {"PastKeyTensor", {batch, key_heads, past, size}},
            {"PastValueTensor", {batch, key_heads, past, value_size}},
            {"OutputTensor", {batch, queries, heads * value_size}},
            {"OutputPresentKeyTensor", {batch, key_heads, past + keys, size}},
            {"OutputPresentValueTensor", {batch, key_heads, past + keys, value_size}}};
        for (const auto& [name, sizes] : all) {
            if (name == field) {
                return sizes;
            }
        }
        return {};
    }
};

/// The tensors that queries, keys and values come from.
using Form = std::span<const std::string_view>;
constexpr std::array<std::string_view, 3> apart{"QueryTensor", "KeyTensor", "ValueTensor"};
constexpr std::array<std::string_view, 2> query_key{"StackedQueryKeyTensor", "ValueTensor"};
constexpr std::array<std::string_view, 2> key_value{"QueryTensor", "StackedKeyValueTensor"};
constexpr std::array<std::string_view, 1> stacked{"StackedQueryKeyValueTensor"};

Shape random_shape(Random& random, std::size_t form, bool groups) {
    Shape shape{random.pick(1, 3),        random.pick(1, 5),
                random.pick(1, 6),        random.chance(1, 2) ? 0 : random.pick(1, 4),
                random.pick(1, 3),        1,
                random.pick(1, 5),        random.pick(1, 5),
                MaskType(random.below(5))};
    shape.key_heads = shape.heads;
    if (random.chance(1, 8)) {
        // Lengths around the number that kernels process at once.
        (random.chance(1, 2) ? shape.keys : shape.size) = random.pick(15, 33);
    }
    const bool keys_are_queries = form == 1 || form == 3;
    if (keys_are_queries) {
        shape.keys = shape.queries;
    } else if (groups && random.chance(1, 2)) {
        shape.heads *= random.pick(1, 3);
    }
    if (form == 2 || form == 3) {
        shape.value_size = shape.size;
    }
    return shape;
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    const std::array<Form, 4> forms{apart, query_key, key_value, stacked};
    const std::uint32_t form = random.below(4);
    const bool groups = schema.find_field("KeyValueHeadCount") != nullptr;
    const Shape shape = random_shape(random, form, groups);
    const core::DataType type = random_type(random, schema, "OutputTensor", level);
    const std::uint32_t rank = form == 0 ? random.pick(3, 5) : 3;
    Descriptor descriptor = blank_descriptor(schema);
    const auto add = [&](std::string_view field, core::DataType data_type) {
        Dimensions sizes = shape.sizes_of(field);
        if (sizes.size() == 3) {
            sizes.insert(sizes.begin(), rank - 3, 1);
        } else if (sizes.size() < 5 && random.chance(1, 4)) {
            sizes.insert(sizes.begin(), random.pick(0, 5 - static_cast<std::uint32_t>(sizes.size())), 1);
        }
        field_of(descriptor, field) =
            random_layout(random, data_type, std::move(sizes), schema.find_field(field)->kind);
    };
    for (const std::string_view field : forms[form]) {
        add(field, type);
    }
    add("OutputTensor", type);
    if (shape.mask_type != MaskType::none) {
        add("MaskTensor", core::DataType::int32);
    }
    if (shape.past != 0) {
        add("PastKeyTensor", type);
        add("PastValueTensor", type);
    }
    for (const char* field :
         {"BiasTensor", "RelativePositionBiasTensor", "OutputPresentKeyTensor", "OutputPresentValueTensor"}) {
        if (random.chance(1, 3)) {
            add(field, type);
        }
    }
    field_of(descriptor, "Scale") = static_cast<float>(random.pick(1, 16)) / 16.0F;
    field_of(descriptor, "MaskFilterValue") = random.chance(1, 2) ? -10000.0F : -1.0F;
    field_of(descriptor, "MaskType") = static_cast<std::uint32_t>(shape.mask_type);
    field_of(descriptor, groups ? "QueryHeadCount" : "HeadCount") = shape.heads;
    if (groups) {
        field_of(descriptor, "KeyValueHeadCount") = shape.key_heads;
    }
    return descriptor;
}

ElementKind element_kind(const Descriptor& /*descriptor*/, std::string_view input) {
    return input == "MaskTensor" ? ElementKind::index : ElementKind::number;
}

/// Sizes depend on each other too much for a repair. Illegal results are skipped.
void repair(Descriptor& /*descriptor*/) {}

}  // namespace

std::span<const OperatorFuzz> attention_fuzz() {
    static constexpr std::array<OperatorFuzz, 2> all{
        {{"MULTIHEAD_ATTENTION", make, element_kind, repair}, {"MULTIHEAD_ATTENTION1", make, element_kind, repair}}};
    return all;
}

}  // namespace dmlconform::fuzz
