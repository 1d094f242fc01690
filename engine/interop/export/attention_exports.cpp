// Attention, written out: softmax(Q K^T * Scale + position bias + mask) V, for each head.
#include <array>
#include <span>

#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

using MaskType = operators::MultiheadAttentionMaskType;

/// A tensor that may contain the queries, keys or values, as part number `part` of `parts` stacked ones.
struct AttentionSource {
    const char* field;
    std::uint32_t part = 0;
    std::uint32_t parts = 1;
};

constexpr AttentionSource of_queries[] = {
    {"QueryTensor"}, {"StackedQueryKeyTensor", 0, 2}, {"StackedQueryKeyValueTensor", 0, 3}};
constexpr AttentionSource of_keys[] = {{"KeyTensor"},
                                       {"StackedQueryKeyTensor", 1, 2},
                                       {"StackedKeyValueTensor", 0, 2},
                                       {"StackedQueryKeyValueTensor", 1, 3}};
constexpr AttentionSource of_values[] = {
    {"ValueTensor"}, {"StackedKeyValueTensor", 1, 2}, {"StackedQueryKeyValueTensor", 2, 3}};

/// {batch, head, position, size}
Value heads_of(OperatorWriter& to, std::span<const AttentionSource> sources, std::uint32_t heads) {
    ModelWriter& w = to.w;
    for (const AttentionSource& source : sources) {
        if (!to.has(source.field)) {
            continue;
        }
        const Value x = to.precise(source.field);
        const std::size_t first = source.parts == 1 ? x.rank() - 3 : 0;
        const std::uint32_t batch = x.sizes[first];
        const std::uint32_t positions = x.sizes[first + 1];
        const auto size = static_cast<std::uint32_t>(x.count() / batch / positions / heads / source.parts);
        const Value apart = w.reshape(x, {batch, positions, heads, source.parts, size});
        const Value part = w.slice(apart, {source.part}, {std::int64_t{source.part} + 1}, {3});
        return w.transpose(w.reshape(part, {batch, positions, heads, size}), {0, 2, 1, 3});
    }
    to.fail("queries, keys or values are missing");
    return {};
}

/// With the bias of all heads from `first` on.
Value biased(OperatorWriter& to, const Value& x, std::int64_t first) {
    if (!to.has("BiasTensor")) {
        return x;
    }
    ModelWriter& w = to.w;
    const Value all = to.precise("BiasTensor");
    const Value flat = w.reshape(all, {static_cast<std::uint32_t>(all.count())});
    const std::int64_t count = std::int64_t{x.sizes[1]} * x.sizes[3];
    const Value own = w.slice(flat, {first}, {first + count}, {0});
    return w.add(x, w.reshape(own, {1, x.sizes[1], 1, x.sizes[3]}));
}

/// Heads of keys or values, each for as many heads of queries as share it.
Value shared(ModelWriter& w, const Value& x, std::uint32_t heads) {
    const core::Dimensions& s = x.sizes;
    if (s[1] == heads) {
        return x;
    }
    const std::uint32_t copies = heads / s[1];
    const Value each = w.expand(w.reshape(x, {s[0], s[1], 1, s[2], s[3]}), {s[0], s[1], copies, s[2], s[3]});
    return w.reshape(each, {s[0], heads, s[2], s[3]});
}

/// A part of a list of numbers, one for each batch.
Value numbers_of_batches(ModelWriter& w, const Value& flat, std::int64_t first, std::uint32_t batches) {
    return w.reshape(w.slice(flat, {first}, {first + std::int64_t{batches}}, {0}), {batches, 1, 1, 1});
}

Value at_least(ModelWriter& w, const Value& value, const Value& least) {
    return w.test("Not", {w.test("Less", {value, least})});
}

/// Whether a query may see a key, by lengths, starts and ends.
Value is_seen(OperatorWriter& to, const Value& scores) {
    ModelWriter& w = to.w;
    const Value mask = to.in("MaskTensor");
    const Value flat = w.cast(w.reshape(mask, {static_cast<std::uint32_t>(mask.count())}), onnx_int64);
    const std::uint32_t batches = scores.sizes[0];
    const std::uint32_t queries = scores.sizes[2];
    const std::uint32_t keys = scores.sizes[3];
    const Value key = w.integers({1, 1, 1, keys}, counted(keys));
    const Value length = numbers_of_batches(w, flat, 0, batches);
    const auto type = to.enumerator<MaskType>("MaskType");
    if (type == MaskType::key_sequence_length) {
        return w.test("Less", {key, length});
    }
    if (type == MaskType::key_sequence_end_start) {
        const Value start = numbers_of_batches(w, flat, batches, batches);
        return w.test("And", {w.test("Less", {key, length}), at_least(w, key, start)});
    }
    // Keys and queries are counted through all batches.
    Numbers query_first;
    Numbers key_first;
    for (std::uint32_t batch = 0; batch < batches; ++batch) {
        query_first.push_back(std::int64_t{batch} * queries);
        key_first.push_back(std::int64_t{batch} * keys);
    }
    const Value query_position =
        w.add(w.integers({1, 1, queries, 1}, counted(queries)), w.integers({batches, 1, 1, 1}, query_first));
    const Value key_position = w.add(key, w.integers({batches, 1, 1, 1}, key_first));
    const Value query_start = numbers_of_batches(w, flat, batches, batches);
    const Value query_end = numbers_of_batches(w, flat, std::int64_t{batches} + 1, batches);
    const Value key_start = numbers_of_batches(w, flat, 2 * std::int64_t{batches} + 1, batches);
    const Value by_query =
        w.test("And", {at_least(w, query_position, query_start), w.test("Less", {query_position, query_end})});
    const Value by_key =
        w.test("And", {at_least(w, key_position, key_start), w.test("Less", {key_position, w.add(key_start, length)})});
    return w.test("And", {by_query, by_key});
}

Value masked(OperatorWriter& to, const Value& scores) {
    ModelWriter& w = to.w;
    const auto type = to.enumerator<MaskType>("MaskType");
    if (type == MaskType::none || !to.has("MaskTensor")) {
        return scores;
    }
    if (type > MaskType::boolean) {
        to.fail("the type of the mask is unknown");
        return scores;
    }
    const Value filter = w.like(scores, double{to.number("MaskFilterValue")});
    const Value zero = w.like(scores, 0);
    if (type < MaskType::boolean) {
        return w.add(scores, w.where(is_seen(to, scores), zero, filter));
    }
    const Value truth = w.cast(w.reshape(to.in("MaskTensor"), scores.sizes), scores.type);
    const Value one = w.like(scores, 1);
    return w.add(scores, w.where(w.test("Equal", {truth, one}), zero, w.mul(w.sub(one, truth), filter)));
}

/// The past comes first.
Value with_past(OperatorWriter& to, const char* field, const Value& x) {
    if (!to.has(field)) {
        return x;
    }
    const Value past = to.precise(field);
    const core::Dimensions sizes{x.sizes[0], x.sizes[1], past.sizes[past.rank() - 2], x.sizes[3]};
    return to.w.concat({to.w.reshape(past, sizes), x}, 2);
}

void write_attention(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const bool is_grouped = to.desc.has_field("QueryHeadCount");
    if (is_grouped && to.has("PastSequenceLengthsTensor")) {
        to.fail("keys and values of the past are in place, with a length of each sequence");
        return;
    }
    const std::uint32_t heads = to.uint(is_grouped ? "QueryHeadCount" : "HeadCount");
    const std::uint32_t key_heads = is_grouped ? to.uint("KeyValueHeadCount") : heads;
    if (heads == 0 || key_heads == 0) {
        to.fail("there are no heads");
        return;
    }
    Value queries = heads_of(to, of_queries, heads);
    Value keys = heads_of(to, of_keys, key_heads);
    Value values = heads_of(to, of_values, key_heads);
    if (w.has_failed()) {
        return;
    }
    const std::int64_t of_all_queries = std::int64_t{heads} * queries.sizes[3];
    const std::int64_t of_all_keys = std::int64_t{key_heads} * keys.sizes[3];
    queries = biased(to, queries, 0);
    keys = with_past(to, "PastKeyTensor", biased(to, keys, of_all_queries));
    values = with_past(to, "PastValueTensor", biased(to, values, of_all_queries + of_all_keys));
    const Value products = w.matmul(queries, w.transpose(shared(w, keys, heads), {0, 1, 3, 2}));
    Value scores = w.mul(products, w.like(products, double{to.number("Scale")}));
    if (to.has("RelativePositionBiasTensor")) {
        scores = w.add(scores, w.reshape(to.precise("RelativePositionBiasTensor"), scores.sizes));
    }
    const Value shares = w.each("Softmax", {masked(to, scores)}, {attribute("axis", std::int64_t{-1})});
    const Value result = w.matmul(shares, shared(w, values, heads));
    to.out("OutputTensor", w.transpose(result, {0, 2, 1, 3}));
    if (to.wants("OutputPresentKeyTensor")) {
        to.out("OutputPresentKeyTensor", keys);
    }
    if (to.wants("OutputPresentValueTensor")) {
        to.out("OutputPresentValueTensor", values);
    }
}

constexpr std::array<OperatorExport, 2> attention_rows{{
    {"MULTIHEAD_ATTENTION", write_attention},
    {"MULTIHEAD_ATTENTION1", write_attention},
}};

}  // namespace

std::span<const OperatorExport> attention_exports() {
    return attention_rows;
}

}  // namespace dmlconform::interop::exporting
