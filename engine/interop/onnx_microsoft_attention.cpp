// Attention of ONNX Runtime (com.microsoft) in several forms, as its docs/ContribOperators.md describes them.
#include <cmath>

#include "engine/interop/onnx_attention_steps.h"

namespace dmlconform::interop::expansion {
namespace microsoft_attention {
namespace {

float scale_of(const Expansion& to, std::int64_t numbers) {
    const float scale = to.number_of("scale", 0);
    return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(numbers));
}

/// A mask of [batches, keys] or [batches, queries, keys] with 1 for what is seen, or each batch's number of keys.
core::Result<std::string> bias_of_mask(Expansion& to, int index, const Heads& heads) {
    const Sizes sizes = sizes_of(to, index);
    std::string seen;
    if (to.input(index).empty()) {
        return std::string();
    }
    if (sizes == Sizes{heads.batches}) {
        const std::string counts = to.add("Cast", {to.input(index)}, "", {integer("to", onnx_int64)});
        seen = to.add("Less", {positions_from_0(to, heads.keys), to.reshape(counts, {heads.batches, 1, 1, 1})});
    } else if (sizes == Sizes{heads.batches, heads.keys}) {
        seen = to.reshape(to.input(index), {heads.batches, 1, 1, heads.keys});
    } else if (sizes == Sizes{heads.batches, heads.queries, heads.keys}) {
        seen = to.reshape(to.input(index), {heads.batches, 1, heads.queries, heads.keys});
    } else {
        return core::fail(
            "a mask of other sizes than [batches], [batches, keys] or [batches, queries, keys] is not mapped");
    }
    const std::string numbers = to.add("CastLike", {seen, to.input(heads.typed)});
    const std::string filter = to.number_like(heads.typed, to.number_of("mask_filter_value", -10000));
    return to.add("Mul", {to.add("Sub", {to.number_like(heads.typed, 1), numbers}), filter});
}

/// The bias of a mask, of the additional input, and of keys behind each query if it does not see these.
core::Result<std::string> bias_of(Expansion& to, int mask, int additional, const Heads& heads, const Window& window) {
    if (const auto few = few_positions(heads); !few) {
        return tl::unexpected(few.error());
    }
    const auto masked = bias_of_mask(to, mask, heads);
    if (!masked) {
        return masked;
    }
    const std::string given = additional < 0 ? "" : to.input(additional);
    return sum_of_biases(to, sum_of_biases(to, given, *masked),
                         bias_of_window(to, heads, heads.keys - heads.queries, window));
}

Window causal_if(const Expansion& to, std::string_view attribute) {
    return {-1, to.integer_of(attribute, 0) != 0 ? 0 : -1};
}

/// Keys and values of the past in one tensor of [2, batches, heads, positions, numbers], and the present ones likewise.
/// Returns the number of positions of the past.
std::int64_t add_joint_past(Expansion& to, int index, Heads& heads) {
    const Sizes past = sizes_of(to, index);
    const bool has_past = past.size() == 5 && past[3] > 0;
    std::string* const names[] = {&heads.key, &heads.value};
    for (std::int64_t i = 0; has_past && i < 2; ++i) {
        const std::string part =
            to.reshape(to.slice(to.input(index), 0, i, i + 1), {past[1], past[2], past[3], past[4]});
        *names[i] = to.add("Concat", {part, *names[i]}, "", {integer("axis", 2)});
    }
    const std::int64_t positions = has_past ? past[3] : 0;
    if (!to.output(1).empty()) {
        const Sizes sizes{1, heads.batches, heads.key_heads, positions + heads.keys, -1};
        to.add("Concat", {to.reshape(heads.key, sizes), to.reshape(heads.value, sizes)}, to.output(1),
               {integer("axis", 0)});
    }
    return positions;
}

/// Indices of the inputs of Attention and of QAttention.
struct Inputs {
    int mask = 0;
    int past = 0;
    /// What is added to the scores; negative if there is no such input.
    int additional = -1;
    /// One that has the type of the scores.
    int typed = 0;
};

/// Attention over one projection to queries, keys and values, side by side.
Nodes attend_to_projection(Expansion& to, const std::string& projected, std::int64_t hidden_size,
                           const Inputs& inputs) {
    const Sizes data = sizes_of(to, 0);
    Heads heads;
    heads.typed = inputs.typed;
    heads.batches = data[0];
    heads.queries = heads.keys = data[1];
    heads.query_heads = heads.key_heads = to.integer_of("num_heads", 0);
    std::string* const names[] = {&heads.query, &heads.key, &heads.value};
    for (std::int64_t i = 0; i < 3; ++i) {
        const std::string part = to.slice(projected, 2, i * hidden_size, (i + 1) * hidden_size);
        *names[i] = split_heads(to, part, data, heads.query_heads);
    }
    heads.keys += add_joint_past(to, inputs.past, heads);
    const auto bias = bias_of(to, inputs.mask, inputs.additional, heads, causal_if(to, "unidirectional"));
    if (!bias) {
        return tl::unexpected(bias.error());
    }
    const std::string result = attend(to, heads, {scale_of(to, hidden_size / heads.query_heads), 0, *bias});
    join_heads(to, result, heads, to.output(0));
    return to.take();
}

/// The size of queries, keys and values in a matrix of weights for all of them.
core::Result<std::int64_t> hidden_size_of(const Expansion& to, int past) {
    const Sizes data = sizes_of(to, 0);
    const Sizes weights = sizes_of(to, 1);
    const std::int64_t heads = to.integer_of("num_heads", 0);
    if (data.size() != 3 || weights.size() != 2 || heads < 1 || heads > most_heads || weights[1] % (3 * heads) != 0) {
        return core::fail("Attention without data, weights or heads that fit each other");
    }
    if (to.integer_of("do_rotary", 0) != 0 || to.integer_of("past_present_share_buffer", 0) != 0 ||
        to.attribute("qkv_hidden_sizes") != nullptr) {
        return core::fail("Attention with rotations, a shared buffer, or hidden sizes of its own is not mapped");
    }
    const Sizes earlier = sizes_of(to, past);
    if (!earlier.empty() && (earlier.size() != 5 || earlier[0] != 2)) {
        return core::fail("the past is not two tensors of four dimensions");
    }
    return weights[1] / 3;
}

/// One of the tensors that lie side by side in the fourth of five dimensions, as heads.
std::string packed_part(Expansion& to, int index, std::int64_t part, const Sizes& sizes) {
    const std::string one =
        to.reshape(to.slice(to.input(index), 3, part, part + 1), {sizes[0], sizes[1], sizes[2], -1});
    return swap_heads(to, one);
}

enum MultiHeadInput { query, key, value, bias, key_mask, additional_bias, past_key, past_value };

/// A part of MultiHeadAttention's bias is added to queries, keys or values before heads are split.
std::string split_with_bias(Expansion& to, int index, std::int64_t first, const Sizes& sizes, std::int64_t heads) {
    std::string data = to.input(index);
    if (!to.input(bias).empty()) {
        data = to.add("Add", {data, to.slice(to.input(bias), 0, first, first + sizes[2])});
    }
    return split_heads(to, data, sizes, heads);
}

/// Keys and values are tensors of their own, with heads in the last dimension or already split; or in the tensor of the
/// keys, or of the queries.
core::Result<Heads> multi_heads_of(Expansion& to) {
    const Sizes q = sizes_of(to, query);
    const Sizes k = sizes_of(to, key);
    const Sizes v = sizes_of(to, value);
    Heads heads;
    heads.query_heads = heads.key_heads = to.integer_of("num_heads", 0);
    const std::int64_t count = heads.query_heads;
    if (count < 1 || count > most_heads || q.size() < 3) {
        return core::fail("MultiHeadAttention without heads or queries");
    }
    heads.batches = q[0];
    heads.queries = heads.keys = q[1];
    if (q.size() == 5 && q[2] == count && q[3] == 3 && k.empty() && to.input(bias).empty()) {
        heads.query = packed_part(to, query, 0, q);
        heads.key = packed_part(to, query, 1, q);
        heads.value = packed_part(to, query, 2, q);
        return heads;
    }
    if (q.size() != 3 || q[2] % count != 0 || k.size() < 3) {
        return core::fail("queries of three dimensions, with all heads in the last one, are mapped");
    }
    heads.query = split_with_bias(to, query, 0, q, count);
    if (k.size() == 3 && v.size() == 3 && k[2] % count == 0 && v[2] % count == 0) {
        heads.keys = k[1];
        heads.key = split_with_bias(to, key, q[2], k, count);
        heads.value = split_with_bias(to, value, q[2] + k[2], v, count);
    } else if (k.size() == 4 && v.size() == 4 && to.input(bias).empty() && k[1] == count) {
        heads.keys = k[2];
        heads.key = to.input(key);
        heads.value = to.input(value);
    } else if (k.size() == 5 && k[2] == count && k[3] == 2 && v.empty() && to.input(bias).empty()) {
        heads.keys = k[1];
        heads.key = packed_part(to, key, 0, k);
        heads.value = packed_part(to, key, 1, k);
    } else {
        return core::fail("keys and values of these dimensions are not mapped");
    }
    return heads;
}

Nodes attention(Expansion& to) {
    enum Input { data, weights, sums, mask, past, additional, past_length };
    const auto hidden_size = hidden_size_of(to, past);
    if (!hidden_size) {
        return tl::unexpected(hidden_size.error());
    }
    if (!to.input(past_length).empty()) {
        return core::fail("Attention with a shared buffer is not mapped");
    }
    std::string projected = to.add("MatMul", {to.input(data), to.input(weights)});
    if (!to.input(sums).empty()) {
        projected = to.add("Add", {projected, to.input(sums)});
    }
    return attend_to_projection(to, projected, *hidden_size, {mask, past, additional, data});
}

Nodes quantised_attention(Expansion& to) {
    enum Input { data, weights, sums, data_scale, weight_scale, mask, data_zero, weight_zero, past };
    const auto hidden_size = hidden_size_of(to, past);
    if (!hidden_size) {
        return tl::unexpected(hidden_size.error());
    }
    const std::string products =
        to.add("MatMulInteger", {to.input(data), to.input(weights), to.input(data_zero), to.input(weight_zero)});
    const std::string scale = to.add("Mul", {to.input(data_scale), to.input(weight_scale)});
    const std::string scaled = to.add("Mul", {to.add("Cast", {products}, "", {integer("to", onnx_float)}), scale});
    const std::string projected = to.add("Add", {scaled, to.input(sums)});
    return attend_to_projection(to, projected, *hidden_size, {mask, past, -1, sums});
}

Nodes multi_head_attention(Expansion& to) {
    auto heads = multi_heads_of(to);
    if (!heads) {
        return tl::unexpected(heads.error());
    }
    constexpr int past_length = past_value + 1;
    constexpr int indirection = past_length + 1;
    if (!to.input(past_length).empty() || !to.input(indirection).empty() || !to.output(3).empty()) {
        return core::fail("MultiHeadAttention with a shared buffer, beams, or scores as an output is not mapped");
    }
    const auto past = positions_of_past(to, past_key, past_value);
    if (!past) {
        return tl::unexpected(past.error());
    }
    heads->keys += *past;
    heads->key = after_past(to, past_key, heads->key, to.output(1));
    heads->value = after_past(to, past_value, heads->value, to.output(2));
    const auto scores = bias_of(to, key_mask, additional_bias, *heads, causal_if(to, "unidirectional"));
    if (!scores) {
        return tl::unexpected(scores.error());
    }
    const Sizes q = sizes_of(to, query);
    const float scale = scale_of(to, q.size() == 5 ? q[4] : q[2] / heads->query_heads);
    join_heads(to, attend(to, *heads, {scale, 0, *scores}), *heads, to.output(0));
    return to.take();
}

}  // namespace
}  // namespace microsoft_attention

Nodes expand_microsoft_attention(Expansion& to) {
    return microsoft_attention::attention(to);
}

Nodes expand_quantised_attention(Expansion& to) {
    return microsoft_attention::quantised_attention(to);
}

Nodes expand_multi_head_attention(Expansion& to) {
    return microsoft_attention::multi_head_attention(to);
}

}  // namespace dmlconform::interop::expansion
