// MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1.
#include "engine/cpu/definitions/activation.h"

namespace dmlconform::cpu::definitions::attention_definitions {
namespace {

/// The part of a stacked tensor that has queries, keys or values; a tensor of its own is not stacked.
struct Source {
    std::string_view field;
    std::int64_t part = 0;
    std::int64_t parts = 1;
};

/// The number of heads, which MULTIHEAD_ATTENTION has once, for queries, keys and values.
std::int64_t heads_of(const Call& call, std::string_view field) {
    return call.uint(call.has_field(field) ? field : "HeadCount");
}

/// Queries, keys or values as {batch, head, position, size}. Tensors are {batch, position, head * size}, or, stacked,
/// {batch, position, head, part, size}.
template <class Real>
Array<Real> rows_of(const Call& call, std::span<const Source> sources, std::int64_t heads) {
    for (const Source& source : sources) {
        if (!call.has(source.field)) {
            continue;
        }
        const auto given = call.input<Real>(source.field);
        const std::size_t first = source.parts == 1 ? given.sizes.size() - 3 : 0;
        const std::int64_t batch = given.sizes[first];
        const std::int64_t positions = given.sizes[first + 1];
        const std::int64_t size = given.sizes.product() / (batch * positions * heads * source.parts);
        Array<Real> rows(Index{batch, heads, positions, size});
        for_each_index(rows.sizes, [&](const Index& at) {
            const std::int64_t row = ((at[0] * positions + at[2]) * heads + at[1]) * source.parts + source.part;
            rows[at] = given.elements[static_cast<std::size_t>(row * size + at[3])];
        });
        return rows;
    }
    return {};
}

/// The rows of the past, then the rows with the bias, which begins at `start`, added.
template <class Real>
Array<Real> present(const Call& call, std::string_view past_field, const Array<Real>& rows, std::int64_t start) {
    const auto bias = call.input<Real>("BiasTensor");
    const bool has_past = !past_field.empty() && call.has(past_field);
    const auto past = has_past ? call.input<Real>(past_field) : Array<Real>();
    const std::int64_t past_count = has_past ? past.sizes[past.sizes.size() - 2] : 0;
    Array<Real> all(rows.sizes.with(2, past_count + rows.sizes[2]));
    for_each_index(all.sizes, [&](const Index& at) {
        if (at[2] < past_count) {
            const std::int64_t row = (at[0] * all.sizes[1] + at[1]) * past_count + at[2];
            all[at] = past.elements[static_cast<std::size_t>(row * all.sizes[3] + at[3])];
            return;
        }
        const auto number = static_cast<std::size_t>(start + at[1] * all.sizes[3] + at[3]);
        const Real& row = rows[at.with(2, at[2] - past_count)];
        all[at] = call.has("BiasTensor") ? row + bias.elements[number] : row;
    });
    return all;
}

/// What the mask adds to the score of a query and a key: 0, or MaskFilterValue where it hides the key. Measured on
/// DirectML 1.15.4: keys are counted from the past on; starts and ends count through all batches; and a truth value
/// other than 0 and 1 is a number. `at` is {batch, head, query, key}, and `sizes` has their numbers.
template <class Real>
Real mask(const Call& call, const Array<Real>& numbers, const Index& at, const Index& sizes) {
    using Type = operators::MultiheadAttentionMaskType;
    const Real filter = call.number("MaskFilterValue");
    const auto number = [&](std::int64_t i) { return numbers.elements[static_cast<std::size_t>(i)]; };
    const std::int64_t batch = at[0];
    const Real key(static_cast<double>(at[3]));
    bool is_visible = true;
    switch (enumerator<Type>(call.descriptor, "MaskType")) {
        case Type::none:
            return 0;
        case Type::boolean: {
            const Real truth = number(((batch * sizes[1] + at[1]) * sizes[2] + at[2]) * sizes[3] + at[3]);
            return truth == Real(1) ? Real(0) : (Real(1) - truth) * filter;
        }
        case Type::key_sequence_length:
            is_visible = key < number(batch);
            break;
        case Type::key_sequence_end_start:
            is_visible = key < number(batch) && key >= number(sizes[0] + batch);
            break;
        case Type::key_query_sequence_length_start_end: {
            const Real query_position(static_cast<double>(batch * sizes[2] + at[2]));
            const Real key_position(static_cast<double>(batch * sizes[3] + at[3]));
            const Real key_start = number(2 * sizes[0] + 1 + batch);
            is_visible = query_position >= number(sizes[0] + batch) && query_position < number(sizes[0] + batch + 1) &&
                         key_position >= key_start && key_position < key_start + number(batch);
        }
    }
    return is_visible ? Real(0) : filter;
}

/// softmax(Q K^T * Scale + position bias + mask), as {batch, head, query, key}.
template <class Real>
Array<Real> weights_of(const Call& call, const Array<Real>& queries, const Array<Real>& keys) {
    const auto position_bias = call.input<Real>("RelativePositionBiasTensor");
    const auto masks = call.input<Real>("MaskTensor");
    Array<Real> scores(queries.sizes.with(3, keys.sizes[2]));
    for_each_index(scores.sizes, [&](const Index& at) {
        // Groups of adjacent heads of queries share a head of keys and values.
        const std::int64_t key_head = at[1] * keys.sizes[1] / queries.sizes[1];
        Real sum = 0;
        for (std::int64_t i = 0; i < queries.sizes[3]; ++i) {
            sum += queries[at.with(3, i)] * keys[{at[0], key_head, at[3], i}];
        }
        scores[at] = sum * Real(call.number("Scale"));
        if (call.has("RelativePositionBiasTensor")) {
            scores[at] += position_bias.elements[scores.number_of(at)];
        }
        scores[at] += mask(call, masks, at, scores.sizes);
    });
    return softmax(scores, Index{3});
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_multihead_attention_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_multihead_attention1_operator_desc
// softmax(Q K^T * Scale + position bias + mask) V for each head, and the keys and values that a later call needs.
constexpr auto multihead_attention = []<class Real>(Call& call) {
    constexpr std::array<Source, 3> of_queries{
        {{"QueryTensor"}, {"StackedQueryKeyTensor", 0, 2}, {"StackedQueryKeyValueTensor", 0, 3}}};
    constexpr std::array<Source, 4> of_keys{{{"KeyTensor"},
                                             {"StackedQueryKeyTensor", 1, 2},
                                             {"StackedKeyValueTensor", 0, 2},
                                             {"StackedQueryKeyValueTensor", 1, 3}}};
    constexpr std::array<Source, 3> of_values{
        {{"ValueTensor"}, {"StackedKeyValueTensor", 1, 2}, {"StackedQueryKeyValueTensor", 2, 3}}};
    const std::int64_t key_heads = heads_of(call, "KeyValueHeadCount");
    const Array<Real> q = rows_of<Real>(call, of_queries, heads_of(call, "QueryHeadCount"));
    const Array<Real> k = rows_of<Real>(call, of_keys, key_heads);
    const Array<Real> v = rows_of<Real>(call, of_values, key_heads);
    const std::int64_t of_all_queries = q.sizes[1] * q.sizes[3];
    const Array<Real> queries = present(call, "", q, 0);
    const Array<Real> keys = present(call, "PastKeyTensor", k, of_all_queries);
    const Array<Real> values = present(call, "PastValueTensor", v, of_all_queries + k.sizes[1] * k.sizes[3]);
    const Array<Real> weights = weights_of(call, queries, keys);
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(queries.sizes.with(3, values.sizes[3]), [&](const Index& at) {
        const std::int64_t row = (at[0] * queries.sizes[2] + at[2]) * queries.sizes[1] + at[1];
        Real& sum = output.elements[static_cast<std::size_t>(row * values.sizes[3] + at[3])];
        for (std::int64_t key = 0; key < values.sizes[2]; ++key) {
            sum += weights[at.with(3, key)] * values[{at[0], at[1] * values.sizes[1] / queries.sizes[1], key, at[3]}];
        }
    });
    if (call.has("OutputPresentKeyTensor")) {
        call.output<Real>("OutputPresentKeyTensor").elements = keys.elements;
    }
    if (call.has("OutputPresentValueTensor")) {
        call.output<Real>("OutputPresentValueTensor").elements = values.elements;
    }
};

}  // namespace

Definitions definitions() {
    return {define("MULTIHEAD_ATTENTION", multihead_attention), define("MULTIHEAD_ATTENTION1", multihead_attention)};
}

}  // namespace dmlconform::cpu::definitions::attention_definitions
