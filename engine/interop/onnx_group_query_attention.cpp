// GroupQueryAttention and RotaryEmbedding of ONNX Runtime (com.microsoft), of which its language models consist.
#include <algorithm>
#include <cmath>

#include "engine/interop/onnx_attention_steps.h"

namespace dmlconform::interop::expansion {
namespace group_query_attention {
namespace {

enum Input {
    query,
    key,
    value,
    past_key,
    past_value,
    last_positions,
    count_of_keys,
    cosines,
    sines,
    positions,
    additional_bias,
    sinks
};

/// Queries, keys and values before heads are split: [batches, positions, heads * numbers].
struct Flat {
    std::string names[3];
    /// Of a head.
    std::int64_t numbers = 0;
};

core::Result<Flat> flat_inputs(Expansion& to, const Heads& heads) {
    const Sizes q = sizes_of(to, query);
    const Sizes k = sizes_of(to, key);
    const Sizes v = sizes_of(to, value);
    if (!k.empty()) {
        if (k.size() != 3 || v != k || q[2] % heads.query_heads != 0 || k[2] % heads.key_heads != 0 ||
            q[2] / heads.query_heads != k[2] / heads.key_heads || k[1] != q[1]) {
            return core::fail("queries, keys and values do not fit each other");
        }
        return Flat{{to.input(query), to.input(key), to.input(value)}, q[2] / heads.query_heads};
    }
    const std::int64_t all_heads = heads.query_heads + 2 * heads.key_heads;
    if (q[2] % all_heads != 0) {
        return core::fail("heads do not divide the last dimension");
    }
    Flat flat{{}, q[2] / all_heads};
    std::int64_t first = 0;
    const std::int64_t counts[] = {heads.query_heads, heads.key_heads, heads.key_heads};
    for (int i = 0; i < 3; ++i) {
        const std::int64_t end = first + counts[i] * flat.numbers;
        flat.names[i] = to.slice(to.input(query), 2, first, end);
        first = end;
    }
    return flat;
}

/// Sequences are as long as their tensors are, as far as their lengths are known.
bool may_be_whole(const Expansion& to, const Heads& heads) {
    const OnnxTensor* last = to.known(last_positions);
    const OnnxTensor* count = to.known(count_of_keys);
    if (count != nullptr && count->has_elements() && count->integer(0) != heads.keys) {
        return false;
    }
    if (last == nullptr || !last->has_elements()) {
        return true;
    }
    for (std::size_t b = 0; b < last->count(); ++b) {
        if (last->integer(b) != heads.keys - 1) {
            return false;
        }
    }
    return true;
}

/// Rotations by the positions of the queries, which follow those of the past.
core::Result<Rotation> rotation_of(Expansion& to, const Heads& heads, std::int64_t past, std::int64_t numbers) {
    const Sizes table = sizes_of(to, cosines);
    if (table.size() != 2 || sizes_of(to, sines) != table || table[1] * 2 > numbers || table[0] < heads.keys) {
        return core::fail("cosines and sines do not fit the heads");
    }
    const bool is_given = !to.input(positions).empty();
    const auto angles = [&](int input) {
        return is_given ? to.reshape(to.add("Gather", {to.input(input), to.input(positions)}),
                                     {heads.batches, heads.queries, 1, table[1]})
                        : to.reshape(to.slice(to.input(input), 0, past, past + heads.queries),
                                     {1, heads.queries, 1, table[1]});
    };
    return Rotation{angles(cosines), angles(sines), to.integer_of("rotary_interleaved", 0) != 0, table[1] * 2};
}

core::Result<Heads> heads_of(const Expansion& to) {
    Heads heads;
    const Sizes q = sizes_of(to, query);
    heads.query_heads = to.integer_of("num_heads", 0);
    heads.key_heads = to.integer_of("kv_num_heads", 0);
    if (q.size() != 3 || heads.query_heads < 1 || heads.query_heads > most_heads || heads.key_heads < 1 ||
        heads.query_heads % heads.key_heads != 0) {
        return core::fail("GroupQueryAttention without queries or heads that fit each other");
    }
    const OnnxTensor* past = to.known(past_key);
    if (to.integer_of("smooth_softmax", 0) != 0 || !to.input(sinks).empty() || !to.output(3).empty() ||
        (past != nullptr && past->type != to.known(query)->type)) {
        return core::fail("GroupQueryAttention with sinks, a quantised past, or scores as an output is not mapped");
    }
    const auto past_positions = positions_of_past(to, past_key, past_value);
    if (!past_positions) {
        return tl::unexpected(past_positions.error());
    }
    heads.batches = q[0];
    heads.queries = q[1];
    heads.keys = q[1] + *past_positions;
    return heads;
}

Nodes grouped(Expansion& to) {
    auto heads = heads_of(to);
    if (!heads) {
        return tl::unexpected(heads.error());
    }
    const auto flat = flat_inputs(to, *heads);
    if (!flat) {
        return tl::unexpected(flat.error());
    }
    if (const auto few = few_positions(*heads); !few) {
        return tl::unexpected(few.error());
    }
    if (!may_be_whole(to, *heads)) {
        return core::fail("sequences that are shorter than their tensors are not mapped");
    }
    const std::int64_t past = heads->keys - heads->queries;
    std::string* const names[] = {&heads->query, &heads->key, &heads->value};
    const std::int64_t counts[] = {heads->query_heads, heads->key_heads, heads->key_heads};
    for (int i = query; i <= value; ++i) {
        *names[i] = to.reshape(flat->names[i], {heads->batches, heads->queries, counts[i], flat->numbers});
    }
    if (to.integer_of("do_rotary", 0) != 0) {
        const auto rotation = rotation_of(to, *heads, past, flat->numbers);
        if (!rotation) {
            return tl::unexpected(rotation.error());
        }
        heads->query = rotate(to, heads->query, *rotation, flat->numbers);
        heads->key = rotate(to, heads->key, *rotation, flat->numbers);
    }
    for (std::string* name : names) {
        *name = swap_heads(to, *name);
    }
    heads->key = after_past(to, past_key, heads->key, to.output(1));
    heads->value = after_past(to, past_value, heads->value, to.output(2));
    // The window has the query's own position, as of ONNX Runtime 1.30.
    const std::int64_t window = to.integer_of("local_window_size", -1);
    const std::string bias = sum_of_biases(to, to.input(additional_bias),
                                           bias_of_window(to, *heads, past, {window > 0 ? window - 1 : -1, 0}));
    const float scale = to.number_of("scale", 0);
    const float usual = 1 / std::sqrt(static_cast<float>(flat->numbers));
    join_heads(to, attend(to, *heads, {scale != 0 ? scale : usual, to.number_of("softcap", 0), bias}), *heads,
               to.output(0));
    return to.take();
}

/// Positions are those of each batch, or follow one that is given for all.
Nodes rotary_embedding(Expansion& to) {
    enum RotaryInput { data, first_positions, rotary_cosines, rotary_sines };
    const Sizes sizes = sizes_of(to, data);
    const Sizes table = sizes_of(to, rotary_cosines);
    const Sizes given = sizes_of(to, first_positions);
    if ((sizes.size() != 3 && sizes.size() != 4) || table.size() != 2 || sizes_of(to, rotary_sines) != table) {
        return core::fail("RotaryEmbedding without data or angles that fit each other");
    }
    if (to.number_of("scale", 1) != 1 || to.integer_of("is_packed_batching", 0) != 0) {
        return core::fail("RotaryEmbedding with a scale or with packed batches is not mapped");
    }
    const std::int64_t written = to.integer_of("rotary_embedding_dim", 0);
    const std::int64_t rotated = written == 0 ? 2 * table[1] : written;
    const std::int64_t count = sizes.size() == 4 ? sizes[1]
                               : written == 0    ? sizes[2] / std::max<std::int64_t>(rotated, 1)
                                                 : to.integer_of("num_heads", 0);
    const std::int64_t queries = sizes[sizes.size() == 4 ? 2 : 1];
    if (count < 1 || (sizes.size() == 3 && sizes[2] % count != 0) || table[1] * 2 != rotated) {
        return core::fail("heads do not divide the last dimension");
    }
    const Sizes positions_first = with_positions_first(sizes, count);
    std::string chosen = to.input(first_positions);
    const bool follow = given == Sizes{1} && queries > 1;
    if (follow) {
        Heads heads;
        heads.queries = queries;
        if (const auto few = few_positions(heads); !few) {
            return tl::unexpected(few.error());
        }
        chosen = to.add("Add", {chosen, positions_from_0(to, queries)});
    } else if (given != Sizes{sizes[0], queries} && given != Sizes{1}) {
        return core::fail("there is not a position for each element of a sequence");
    }
    const std::int64_t batches = given.size() == 2 ? sizes[0] : 1;
    const auto angles = [&](int input) {
        return to.reshape(to.add("Gather", {to.input(input), chosen}), {batches, queries, 1, table[1]});
    };
    return expand_rotation(
        to, positions_first,
        {angles(rotary_cosines), angles(rotary_sines), to.integer_of("interleaved", 0) != 0, rotated});
}

}  // namespace
}  // namespace group_query_attention

Nodes expand_group_query_attention(Expansion& to) {
    return group_query_attention::grouped(to);
}

Nodes expand_microsoft_rotary_embedding(Expansion& to) {
    return group_query_attention::rotary_embedding(to);
}

}  // namespace dmlconform::interop::expansion
