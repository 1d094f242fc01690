// MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: queries, keys and values in all forms, with matching masks and pasts.
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/layout.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;
using MaskType = operators::MultiheadAttentionMaskType;

/// The tensors that queries, keys and values come from.
using Form = std::span<const std::string_view>;
constexpr std::array<std::string_view, 3> apart{"QueryTensor", "KeyTensor", "ValueTensor"};
constexpr std::array<std::string_view, 2> query_key{"StackedQueryKeyTensor", "ValueTensor"};
constexpr std::array<std::string_view, 2> key_value{"QueryTensor", "StackedKeyValueTensor"};
constexpr std::array<std::string_view, 1> stacked{"StackedQueryKeyValueTensor"};
constexpr std::array<Form, 4> forms{apart, query_key, key_value, stacked};

/// Tensors that may be absent, with their least number of dimensions.
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 4> least_dimensions{{{"BiasTensor", 1},
                                                                                      {"RelativePositionBiasTensor", 4},
                                                                                      {"OutputPresentKeyTensor", 4},
                                                                                      {"OutputPresentValueTensor", 4}}};

/// Draws the sizes that determine all others: of the tensors that contain queries, keys and values, and of the past.
void draw_sources(Random& random, Descriptor& descriptor, std::uint32_t heads, std::uint32_t key_heads) {
    const std::uint32_t batch = random.pick(1, 3);
    const std::uint32_t queries = random.pick(1, 5);
    std::uint32_t keys = random.pick(1, 6);
    std::uint32_t size = random.pick(1, 5);
    if (random.chance(1, 8)) {
        // Lengths around the number that kernels process at once.
        (random.chance(1, 2) ? keys : size) = random.pick(15, 33);
    }
    // What is stacked has the same number of positions, or the same size.
    keys = tensor_of(descriptor, "StackedQueryKeyTensor") != nullptr ? queries : keys;
    const Dimensions ones(sizes_of(descriptor, "OutputTensor").size() - 3, 1);
    const auto row = [&](std::uint32_t positions, std::uint32_t elements) {
        Dimensions sizes = ones;
        sizes.insert(sizes.end(), {batch, positions, elements});
        return sizes;
    };
    resize(descriptor, "QueryTensor", row(queries, heads * size));
    resize(descriptor, "KeyTensor", row(keys, key_heads * size));
    resize(descriptor, "ValueTensor", row(keys, key_heads * random.pick(1, 5)));
    resize(descriptor, "StackedQueryKeyTensor", {batch, queries, heads, 2, size});
    resize(descriptor, "StackedKeyValueTensor", {batch, keys, key_heads, 2, size});
    resize(descriptor, "StackedQueryKeyValueTensor", {batch, queries, heads, 3, size});
    resize(descriptor, "PastKeyTensor", {batch, key_heads, random.pick(1, 4), size});
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    const std::uint32_t form = random.below(static_cast<std::uint32_t>(forms.size()));
    const bool groups = schema.find_field("KeyValueHeadCount") != nullptr;
    const core::DataType type = random_type(random, schema, "OutputTensor", level);
    const std::uint32_t rank = form == 0 ? random.pick(3, 5) : 3;
    const auto mask = static_cast<MaskType>(random.below(5));
    Descriptor descriptor = blank_descriptor(schema);
    const auto add = [&](std::string_view field, core::DataType data_type, std::uint32_t dimensions) {
        field_of(descriptor, field) = core::TensorDesc::packed(data_type, Dimensions(dimensions, 1));
    };
    for (const std::string_view field : forms[form]) {
        add(field, type, field.starts_with("Stacked") ? 5 : rank);
    }
    add("OutputTensor", type, rank);
    if (mask != MaskType::none) {
        add("MaskTensor", core::DataType::int32, random.pick(1, 5));
    }
    if (random.chance(1, 2)) {
        add("PastKeyTensor", type, 4);
        add("PastValueTensor", type, random.pick(4, 5));
    }
    for (const auto& [field, least] : least_dimensions) {
        if (random.chance(1, 3)) {
            add(field, type, random.chance(1, 4) ? random.pick(least, 5) : least);
        }
    }
    field_of(descriptor, "Scale") = static_cast<float>(random.pick(1, 16)) / 16.0F;
    field_of(descriptor, "MaskFilterValue") = random.chance(1, 2) ? -10000.0F : -1.0F;
    field_of(descriptor, "MaskType") = static_cast<std::uint32_t>(mask);
    const std::uint32_t key_heads = random.pick(1, 3);
    const bool keys_are_queries = form == 1 || form == 3;
    const std::uint32_t heads =
        groups && !keys_are_queries && random.chance(1, 2) ? key_heads * random.pick(1, 3) : key_heads;
    field_of(descriptor, groups ? "QueryHeadCount" : "HeadCount") = heads;
    if (groups) {
        field_of(descriptor, "KeyValueHeadCount") = key_heads;
    }
    draw_sources(random, descriptor, heads, key_heads);
    set_required_sizes(descriptor, level);
    lay_out_all(random, descriptor);
    return descriptor;
}

void repair(Descriptor& descriptor) {
    set_required_sizes(descriptor, core::highest_feature_level);
}

}  // namespace

const OperatorFuzz attention_fuzz{make, kind_by_catalogue, repair};

}  // namespace dmlconform::fuzz
