// Plans how queries, keys and values are assembled.
#include "engine/d3d12/attention/attention_heads.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/planning/words.h"
#include "shaders/attention/attention_heads_parameters.hlsli"

namespace dmlconform::d3d12 {
namespace {

using operators::Descriptor;

/// Arrays of the iteration, in the order of the shader's rows.
enum Array : std::size_t { source_array, past_array, bias_array, present_array, position_array, array_count };

/// A tensor that contains an operand's heads, and their index among those that are stacked in it.
struct Source {
    std::string_view field;
    std::int64_t stacked = -1;
};

/// The fields of an operand, of its past and of its present. Queries have neither past nor present.
struct Fields {
    std::vector<Source> sources;
    std::string_view past;
    std::string_view present;
};

/// In the order of AttentionOperand.
const std::array<Fields, 3> fields_of_operands{
    {{{{"QueryTensor"}, {"StackedQueryKeyTensor", 0}, {"StackedQueryKeyValueTensor", 0}}, {}, {}},
     {{{"KeyTensor"}, {"StackedQueryKeyTensor", 1}, {"StackedKeyValueTensor", 0}, {"StackedQueryKeyValueTensor", 1}},
      "PastKeyTensor",
      "OutputPresentKeyTensor"},
     {{{"ValueTensor"}, {"StackedKeyValueTensor", 1}, {"StackedQueryKeyValueTensor", 2}},
      "PastValueTensor",
      "OutputPresentValueTensor"}}};

/// The sizes of an operand, and the offset of its bias.
struct Sizes {
    std::uint64_t heads = 1;
    std::uint64_t positions = 1;
    std::uint64_t size = 1;
    std::uint64_t bias_start = 0;
};

Sizes sizes_of(const AttentionShape& shape, AttentionOperand operand) {
    const std::uint64_t bias_of_queries = shape.heads * shape.size;
    switch (operand) {
        case AttentionOperand::queries:
            return {shape.heads, shape.queries, shape.size, 0};
        case AttentionOperand::keys:
            return {shape.key_heads, shape.all_keys(), shape.size, bias_of_queries};
        default:
            return {shape.key_heads, shape.all_keys(), shape.value_size,
                    bias_of_queries + shape.key_heads * shape.size};
    }
}

BufferRef output_of(const Descriptor& descriptor, std::string_view field) {
    const auto slots = descriptor.outputs();
    const auto slot = std::ranges::find(slots, field, &operators::TensorSlot::name);
    return output(static_cast<std::size_t>(slot - slots.begin()));
}

/// The tensors of an operand; null if they are absent.
struct CopiedTensors {
    Heads source;
    const core::TensorDesc* bias = nullptr;
    const core::TensorDesc* past = nullptr;
    const core::TensorDesc* present = nullptr;
};

Heads stacked_heads(BufferRef buffer, const core::TensorDesc& desc, std::int64_t stacked) {
    const core::Strides strides = last_strides(desc, 5);
    return {.buffer = buffer,
            .start = stacked * strides[3],
            .batch = strides[0],
            .head = strides[2],
            .position = strides[1],
            .element = strides[4]};
}

const Source& source_of(const Descriptor& descriptor, AttentionOperand operand) {
    const auto& sources = fields_of_operands[static_cast<std::size_t>(operand)].sources;
    return *std::ranges::find_if(
        sources, [&](const Source& candidate) { return descriptor.tensor(candidate.field) != nullptr; });
}

CopiedTensors copied_tensors(const Descriptor& descriptor, AttentionOperand operand, std::uint64_t size) {
    const Fields& fields = fields_of_operands[static_cast<std::size_t>(operand)];
    const auto tensor = [&](std::string_view field) { return field.empty() ? nullptr : descriptor.tensor(field); };
    const Source& source = source_of(descriptor, operand);
    const BufferRef buffer = input_of(descriptor, source.field);
    const core::TensorDesc& desc = *tensor(source.field);
    return {
        .source = source.stacked < 0 ? heads_in_rows(buffer, desc, size) : stacked_heads(buffer, desc, source.stacked),
        .bias = tensor("BiasTensor"),
        .past = tensor(fields.past),
        .present = tensor(fields.present)};
}

StridedDimensions<array_count> dimensions_of(const AttentionShape& shape, const Sizes& sizes,
                                             const CopiedTensors& tensors) {
    const core::Strides none(4);
    const Heads& source = tensors.source;
    const std::int64_t bias_stride = tensors.bias != nullptr ? last_strides(*tensors.bias, 1)[0] : 0;
    const core::Dimensions counts{word(shape.batch), word(sizes.heads), word(sizes.positions), word(sizes.size)};
    return merge_dimensions<array_count>(
        counts, {core::Strides{source.batch, source.head, source.position, source.element},
                 tensors.past != nullptr ? last_strides(*tensors.past, 4) : none,
                 core::Strides{0, bias_stride * static_cast<std::int64_t>(sizes.size), 0, bias_stride},
                 tensors.present != nullptr ? last_strides(*tensors.present, 4) : none, core::Strides{0, 0, 1, 0}});
}

AttentionHeadsParameters parameters_of(const AttentionShape& shape, const Sizes& sizes, const CopiedTensors& tensors,
                                       core::DataType type) {
    const auto dimensions = dimensions_of(shape, sizes, tensors);
    AttentionHeadsParameters parameters{};
    parameters.element_count = word(count_of(dimensions));
    parameters.dimension_count = word(dimensions.size());
    parameters.packing = packing_of(type);
    if (tensors.past != nullptr) {
        parameters.past_count = word(shape.past);
    }
    parameters.source_start =
        word(tensors.source.start - std::int64_t{parameters.past_count} * tensors.source.position);
    if (tensors.bias != nullptr) {
        parameters.has_bias = 1;
        parameters.bias_start = word(sizes.bias_start) * word(last_strides(*tensors.bias, 1)[0]);
    }
    parameters.has_present = tensors.present != nullptr ? 1 : 0;
    put_rows(strided_rows(dimensions, array_count), parameters.dimensions);
    return parameters;
}

}  // namespace

/// The output is {batch, query, head * value size}.
AttentionShape::AttentionShape(const Descriptor& descriptor) {
    const auto size_from_end = [&](std::string_view field, std::size_t from_end) -> std::uint64_t {
        const core::Dimensions& sizes = descriptor.sizes(field);
        return sizes[sizes.size() - from_end];
    };
    const bool has_groups = descriptor.has_field("KeyValueHeadCount");
    heads = descriptor.uint(has_groups ? "QueryHeadCount" : "HeadCount");
    key_heads = has_groups ? descriptor.uint("KeyValueHeadCount") : heads;
    batch = size_from_end("OutputTensor", 3);
    queries = size_from_end("OutputTensor", 2);
    value_size = size_from_end("OutputTensor", 1) / heads;
    const Source& query = source_of(descriptor, AttentionOperand::queries);
    size = size_from_end(query.field, 1) / (query.stacked < 0 ? heads : 1);
    const Source& key = source_of(descriptor, AttentionOperand::keys);
    keys = size_from_end(key.field, key.stacked < 0 ? 2 : 4);
    if (descriptor.tensor("PastKeyTensor") != nullptr) {
        past = size_from_end("PastKeyTensor", 2);
    }
}

core::Strides last_strides(const core::TensorDesc& desc, std::size_t count) {
    const core::Strides strides = core::signed_strides(desc);
    return {strides.end() - static_cast<std::ptrdiff_t>(count), strides.end()};
}

Heads heads_in_rows(BufferRef buffer, const core::TensorDesc& desc, std::uint64_t size) {
    const core::Strides strides = last_strides(desc, 3);
    return {.buffer = buffer,
            .batch = strides[0],
            .head = strides[2] * static_cast<std::int64_t>(size),
            .position = strides[1],
            .element = strides[2]};
}

Heads packed_heads(BufferRef buffer, std::uint64_t heads, std::uint64_t positions, std::uint64_t size) {
    return {.buffer = buffer,
            .batch = static_cast<std::int64_t>(heads * positions * size),
            .head = static_cast<std::int64_t>(positions * size),
            .position = static_cast<std::int64_t>(size),
            .element = 1};
}

Heads gather(DispatchPlan& plan, const Descriptor& descriptor, AttentionOperand operand) {
    const AttentionShape shape(descriptor);
    const Sizes sizes = sizes_of(shape, operand);
    const Fields& fields = fields_of_operands[static_cast<std::size_t>(operand)];
    const CopiedTensors tensors = copied_tensors(descriptor, operand, sizes.size);
    const core::DataType type = descriptor.tensor("OutputTensor")->data_type;
    if (type == core::DataType::float32 && tensors.source.start == 0 && tensors.bias == nullptr &&
        tensors.past == nullptr && tensors.present == nullptr) {
        return tensors.source;
    }
    const AttentionHeadsParameters parameters = parameters_of(shape, sizes, tensors, type);
    const Heads result = packed_heads(temporary(plan.temporaries.size()), sizes.heads, sizes.positions, sizes.size);
    plan.temporaries.push_back(parameters.element_count * word_bytes);
    plan.dispatches.push_back(
        {{"attention_heads", {}},
         {tensors.source.buffer, tensors.past != nullptr ? input_of(descriptor, fields.past) : BufferRef{},
          input_of(descriptor, "BiasTensor"), result.buffer,
          tensors.present != nullptr ? output_of(descriptor, fields.present) : BufferRef{}},
         parameters_from(parameters),
         groups_of(parameters.element_count, group_size)});
    return result;
}

double gathered_elements(const AttentionShape& shape, AttentionOperand operand) {
    const Sizes sizes = sizes_of(shape, operand);
    return static_cast<double>(shape.batch) * static_cast<double>(sizes.heads) * static_cast<double>(sizes.positions) *
           static_cast<double>(sizes.size);
}

BufferRef input_of(const Descriptor& descriptor, std::string_view field) {
    const auto slots = descriptor.inputs();
    const auto slot = std::ranges::find(slots, field, &operators::TensorSlot::name);
    return slot != slots.end() && slot->desc != nullptr ? input(static_cast<std::size_t>(slot - slots.begin()))
                                                        : BufferRef{};
}

}  // namespace dmlconform::d3d12
