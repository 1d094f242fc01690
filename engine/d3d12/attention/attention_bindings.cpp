// MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1: assembles queries, keys and values, multiplies queries by keys, adds
// position bias and mask to these scores, applies a softmax, and multiplies the weights by values.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/attention/attention_heads.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/planning/words.h"
#include "engine/d3d12/product/product.h"
#include "engine/d3d12/reduction/reduction.h"
#include "engine/operators/enumerators.h"
#include "shaders/attention/attention_scores_parameters.hlsli"

namespace dmlconform::d3d12::attention_bindings {
namespace {

using operators::Descriptor;
using MaskType = operators::MultiheadAttentionMaskType;

using Parameters = AttentionScoresParameters;

/// Arrays of the iteration, in the order of the shader's rows.
enum Array : std::size_t { position_bias_array, mask_array, query_array, key_array, array_count };

// ---- Products ----

/// Pairs each query head with the key/value head that its group shares.
Product product_of(const AttentionShape& shape, const Heads& a, const Heads& b, const Heads& target) {
    const std::uint64_t shared = shape.heads / shape.key_heads;
    const auto neighbours = static_cast<std::int64_t>(shared);
    Product product;
    product.products =
        merged<product_arrays>({{shared, {a.head, 0, 0, target.head}},
                                {shape.key_heads, {a.head * neighbours, b.head, 0, target.head * neighbours}},
                                {shape.batch, {a.batch, b.batch, 0, target.batch}}});
    product.buffers[product_a] = a.buffer;
    product.buffers[product_b] = b.buffer;
    product.buffers[product_output] = target.buffer;
    ProductParameters& parameters = product.parameters;
    parameters.row_count = word(shape.queries);
    parameters.a_row = word(a.position);
    parameters.output_row = word(target.position);
    parameters.output_column = word(target.element);
    parameters.alpha = 1;
    return product;
}

/// Rows are queries, columns are keys.
Product product_of_scores(const Descriptor& descriptor, const AttentionShape& shape, const Heads& queries,
                          const Heads& keys, const Heads& scores) {
    Product product = product_of(shape, queries, keys, scores);
    product.depth = shape.size;
    ProductParameters& parameters = product.parameters;
    parameters.column_count = word(shape.all_keys());
    parameters.a_depth = word(queries.element);
    parameters.b_column = word(keys.position);
    parameters.b_depth = word(keys.element);
    parameters.alpha = descriptor.number("Scale");
    return product;
}

/// Rows are queries, columns are elements of values.
Product product_of_output(const Descriptor& descriptor, const AttentionShape& shape, const Heads& weights,
                          const Heads& values) {
    const core::TensorDesc& target = *descriptor.tensor("OutputTensor");
    Product product = product_of(shape, weights, values, heads_in_rows(output(0), target, shape.value_size));
    product.depth = shape.all_keys();
    ProductParameters& parameters = product.parameters;
    parameters.column_count = word(shape.value_size);
    parameters.a_depth = word(weights.element);
    parameters.b_column = word(values.element);
    parameters.b_depth = word(values.position);
    parameters.output_packing = packing_of(target.data_type);
    return product;
}

// ---- What is added to scores ----

/// The mask's strides for a score: batch, head, query, key.
core::Strides mask_strides(const core::TensorDesc& mask, MaskType type) {
    return type == MaskType::boolean ? last_strides(mask, 4) : core::Strides{last_strides(mask, 1)[0], 0, 0, 0};
}

/// See the member of the shader's constant buffer.
std::array<std::uint32_t, 4> mask_starts(const core::TensorDesc& mask, MaskType type, std::uint64_t batch) {
    const std::uint32_t stride = word(last_strides(mask, 1)[0]);
    const std::uint32_t batches = word(batch);
    switch (type) {
        case MaskType::key_sequence_end_start:
            return {0, word(last_strides(mask, 2)[0]), 0, 0};
        case MaskType::key_query_sequence_length_start_end:
            return {0, batches * stride, (batches + 1) * stride, (2 * batches + 1) * stride};
        default:
            return {};
    }
}

StridedDimensions<array_count> dimensions_of(const Descriptor& descriptor, const AttentionShape& shape) {
    const core::Strides none(4);
    const core::TensorDesc* bias = descriptor.tensor("RelativePositionBiasTensor");
    const core::TensorDesc* mask = descriptor.tensor("MaskTensor");
    const auto type = enumerator<MaskType>(descriptor, "MaskType");
    const auto queries = static_cast<std::int64_t>(shape.queries);
    const auto keys = static_cast<std::int64_t>(shape.all_keys());
    // Starts and ends count positions of all batches, lengths those of one batch.
    const bool counts_on = type == MaskType::key_query_sequence_length_start_end;
    return merge_dimensions<array_count>(
        core::Dimensions{word(shape.batch), word(shape.heads), word(shape.queries), word(keys)},
        {bias != nullptr ? last_strides(*bias, 4) : none, mask != nullptr ? mask_strides(*mask, type) : none,
         core::Strides{counts_on ? queries : 0, 0, 1, 0}, core::Strides{counts_on ? keys : 0, 0, 0, 1}});
}

void add_biases_and_masks(DispatchPlan& plan, const Descriptor& descriptor, const AttentionShape& shape,
                          const Heads& scores) {
    const core::TensorDesc* bias = descriptor.tensor("RelativePositionBiasTensor");
    const core::TensorDesc* mask = descriptor.tensor("MaskTensor");
    if (bias == nullptr && mask == nullptr) {
        return;
    }
    const auto dimensions = dimensions_of(descriptor, shape);
    Parameters parameters{};
    parameters.element_count = word(count_of(dimensions));
    parameters.dimension_count = word(dimensions.size());
    parameters.packing = packing_of(descriptor.tensor("OutputTensor")->data_type);
    parameters.has_position_bias = bias != nullptr ? 1 : 0;
    parameters.mask_type = descriptor.uint("MaskType");
    parameters.filter_value = descriptor.number("MaskFilterValue");
    if (mask != nullptr) {
        parameters.mask_starts.words = mask_starts(*mask, enumerator<MaskType>(descriptor, "MaskType"), shape.batch);
    }
    put_rows(strided_rows(dimensions, array_count), parameters.dimensions);
    plan.dispatches.push_back(
        {{"attention_scores", {}},
         {scores.buffer, input_of(descriptor, "RelativePositionBiasTensor"), input_of(descriptor, "MaskTensor")},
         parameters_from(parameters),
         groups_of(parameters.element_count, group_size)});
}

/// In place, over the scores of each query with all keys.
void add_softmax(DispatchPlan& plan, const AttentionShape& shape, const Heads& scores) {
    const core::TensorDesc desc = core::TensorDesc::packed(
        core::DataType::float32, {word(shape.batch * shape.heads * shape.queries), word(shape.all_keys())});
    Reduction reduction;
    reduction.combine = COMBINE_EXPONENTIALS;
    reduction.parameters.map = MAP_SAME;
    reduction.parameters.finish = FINISH_SOFTMAX;
    reduction.tensors[reduction_input] = {&desc, scores.buffer};
    reduction.tensors[reduction_output] = {&desc, scores.buffer};
    reduction.reduced = {false, true};
    ReductionPlanner(plan, std::move(reduction)).to_elements();
}

// ---- The operators ----

double score_elements(const AttentionShape& shape) {
    return static_cast<double>(shape.batch) * static_cast<double>(shape.heads) * static_cast<double>(shape.queries) *
           static_cast<double>(shape.all_keys());
}

DispatchPlan plan_attention(const Descriptor& descriptor) {
    const AttentionShape shape(descriptor);
    DispatchPlan plan;
    const Heads queries = gather(plan, descriptor, AttentionOperand::queries);
    const Heads keys = gather(plan, descriptor, AttentionOperand::keys);
    const Heads values = gather(plan, descriptor, AttentionOperand::values);
    const Heads scores = packed_heads(temporary(plan.temporaries.size()), shape.heads, shape.queries, shape.all_keys());
    plan.temporaries.push_back(shape.batch * shape.heads * shape.queries * shape.all_keys() * word_bytes);
    add_product(plan, product_of_scores(descriptor, shape, queries, keys, scores));
    add_biases_and_masks(plan, descriptor, shape, scores);
    add_softmax(plan, shape, scores);
    add_product(plan, product_of_output(descriptor, shape, scores, values));
    return plan;
}

/// Temporaries are addressed with 32 bits.
std::optional<std::string> too_large(const Descriptor& descriptor) {
    constexpr double most_bytes = 0x1p32;
    const AttentionShape shape(descriptor);
    const std::pair<std::string_view, double> temporaries[] = {
        {"queries", gathered_elements(shape, AttentionOperand::queries)},
        {"keys", gathered_elements(shape, AttentionOperand::keys)},
        {"values", gathered_elements(shape, AttentionOperand::values)},
        {"scores", score_elements(shape)}};
    for (const auto& [name, elements] : temporaries) {
        if (elements * word_bytes > most_bytes) {
            return fmt::format("the {} take {:.0f} bytes in FP32; shaders address {:.0f}", name, elements * word_bytes,
                               most_bytes);
        }
    }
    const Heads anywhere;
    const auto scores = unsupported_product(product_of_scores(descriptor, shape, anywhere, anywhere, anywhere));
    return scores ? scores : unsupported_product(product_of_output(descriptor, shape, anywhere, anywhere));
}

std::vector<ShaderVariant> variants() {
    return joined(
        {all_variants("attention_heads", {}), all_variants("attention_scores", {}),
         product_variants(PRODUCT_REAL, false),
         variants_of({.combine = COMBINE_EXPONENTIALS, .numbers = NUMBERS_REAL, .results = false, .elements = true})});
}

Binding binding(std::string_view name) {
    return {.name = name,
            .plan = plan_attention,
            .variants = variants,
            .unsupported = too_large,
            .has_large_temporaries = true};
}

}  // namespace

Bindings bindings() {
    return {binding("MULTIHEAD_ATTENTION"), binding("MULTIHEAD_ATTENTION1")};
}

}  // namespace dmlconform::d3d12::attention_bindings
