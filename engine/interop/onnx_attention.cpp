// ONNX's Attention and RotaryEmbedding, as their function bodies define them:
// https://onnx.ai/onnx/operators/onnx__Attention.html, https://onnx.ai/onnx/operators/onnx__RotaryEmbedding.html
#include <cmath>

#include "engine/interop/onnx_attention_steps.h"

namespace dmlconform::interop::expansion {
namespace onnx_attention {
namespace {

enum Input { query, key, value, mask, past_key, past_value, counts_of_keys };

/// Inputs of three dimensions have all heads in the last one.
core::Result<Heads> heads_of(Expansion& to) {
    const Sizes sizes[] = {sizes_of(to, query), sizes_of(to, key), sizes_of(to, value)};
    const std::size_t rank = sizes[0].size();
    if ((rank != 3 && rank != 4) || sizes[1].size() != rank || sizes[2].size() != rank) {
        return core::fail("query, key and value of three or of four dimensions are mapped");
    }
    Heads heads;
    heads.batches = sizes[0][0];
    heads.query_heads = rank == 4 ? sizes[0][1] : to.integer_of("q_num_heads", 0);
    heads.key_heads = rank == 4 ? sizes[1][1] : to.integer_of("kv_num_heads", 0);
    heads.queries = sizes[0][rank - 2];
    heads.keys = sizes[1][rank - 2];
    if (heads.query_heads < 1 || heads.query_heads > most_heads || heads.key_heads < 1 ||
        heads.query_heads % heads.key_heads != 0) {
        return core::fail("the heads of the keys do not divide those of the queries");
    }
    const std::int64_t of[] = {heads.query_heads, heads.key_heads, heads.key_heads};
    std::string* names[] = {&heads.query, &heads.key, &heads.value};
    for (int i = query; i <= value; ++i) {
        if (rank == 3 && sizes[i][2] % of[i] != 0) {
            return core::fail("the heads do not divide the last dimension");
        }
        *names[i] = rank == 4 ? to.input(i) : split_heads(to, to.input(i), sizes[i], of[i]);
    }
    return heads;
}

/// Hides the keys behind the end of each sequence, and with `is_causal` those behind a query, where the last query has
/// the position of the last key.
std::string bias_of_counts(Expansion& to, const Heads& heads, bool is_causal) {
    std::string ends = to.reshape(to.input(counts_of_keys), {heads.batches, 1, 1, 1});
    if (is_causal) {
        ends = to.add("Add", {ends, rows_from(to, heads, 1 - heads.queries)});
    }
    return bias_where(to, heads, to.add("Less", {positions_from_0(to, heads.keys), ends}));
}

core::Result<std::string> bias_of_mask(Expansion& to, const Heads& heads) {
    const OnnxTensor* given = to.known(mask);
    if (given == nullptr) {
        return std::string();
    }
    if (given->sizes.empty() || given->sizes.back() != heads.keys) {
        return core::fail("a mask of as many keys as there are is mapped");
    }
    return given->is_bool ? bias_where(to, heads, to.input(mask)) : to.input(mask);
}

core::Result<std::string> bias_of(Expansion& to, const Heads& heads, std::int64_t past) {
    if (const auto few = few_positions(heads); !few) {
        return tl::unexpected(few.error());
    }
    const bool is_causal = to.integer_of("is_causal", 0) != 0;
    const Window window{to.integer_of("left_window_size", -1), is_causal ? 0 : to.integer_of("right_window_size", -1)};
    auto bias = bias_of_mask(to, heads);
    if (!bias) {
        return bias;
    }
    if (to.input(counts_of_keys).empty()) {
        return sum_of_biases(to, *bias, bias_of_window(to, heads, past, window));
    }
    if (window.before >= 0 || window.after > 0) {
        return core::fail("windows of sequences that end at different positions are not mapped");
    }
    return sum_of_biases(to, *bias, bias_of_counts(to, heads, is_causal));
}

Nodes attention(Expansion& to) {
    auto heads = heads_of(to);
    if (!heads) {
        return tl::unexpected(heads.error());
    }
    const auto past = positions_of_past(to, past_key, past_value);
    if (!past) {
        return tl::unexpected(past.error());
    }
    heads->keys += *past;
    heads->key = after_past(to, past_key, heads->key, to.output(1));
    heads->value = after_past(to, past_value, heads->value, to.output(2));
    const auto bias = bias_of(to, *heads, *past);
    if (!bias) {
        return tl::unexpected(bias.error());
    }
    const Sizes sizes = sizes_of(to, query);
    const bool is_flat = sizes.size() == 3;
    const std::int64_t numbers = is_flat ? sizes[2] / heads->query_heads : sizes[3];
    const float scale = to.number_of("scale", 1 / std::sqrt(static_cast<float>(numbers)));
    if (!(scale >= 0)) {
        return core::fail("a negative scale is not mapped");
    }
    const std::string root = to.number_like(0, std::sqrt(scale));
    heads->query = to.add("Mul", {heads->query, root});
    heads->key = to.add("Mul", {heads->key, root});
    const bool may_hide_all = !to.input(mask).empty() || !to.input(counts_of_keys).empty();
    const std::string result = attend(to, *heads,
                                      {1, to.number_of("softcap", 0), *bias, may_hide_all,
                                       static_cast<int>(to.integer_of("qk_matmul_output_mode", 0)), to.output(3)});
    if (is_flat) {
        join_heads(to, result, *heads, to.output(0));
    } else {
        to.add("Identity", {result}, to.output(0));
    }
    return to.take();
}

Nodes rotary_embedding(Expansion& to) {
    const Sizes data = sizes_of(to, 0);
    const Sizes cosines = sizes_of(to, 1);
    const std::int64_t heads = data.size() == 4 ? data[1] : to.integer_of("num_heads", 0);
    if ((data.size() != 3 && data.size() != 4) || cosines.empty() || sizes_of(to, 2) != cosines || heads < 1 ||
        (data.size() == 3 && data[2] % heads != 0)) {
        return core::fail("RotaryEmbedding without data, angles or heads that fit each other");
    }
    const Sizes positions_first = with_positions_first(data, heads);
    const std::int64_t numbers = positions_first[3];
    const std::int64_t written = to.integer_of("rotary_embedding_dim", 0);
    const auto angles = [&](int input) {
        const std::string chosen =
            to.input(3).empty() ? to.input(input) : to.add("Gather", {to.input(input), to.input(3)});
        return to.reshape(chosen, {positions_first[0], positions_first[1], 1, -1});
    };
    return expand_rotation(
        to, positions_first,
        {angles(1), angles(2), to.integer_of("interleaved", 0) != 0, written == 0 ? numbers : written});
}

}  // namespace
}  // namespace onnx_attention

Nodes expand_attention(Expansion& to) {
    return onnx_attention::attention(to);
}

Nodes expand_rotary_embedding(Expansion& to) {
    return onnx_attention::rotary_embedding(to);
}

}  // namespace dmlconform::interop::expansion
