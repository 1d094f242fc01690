// The steps of attentions, as ONNX's function body of Attention has them.
#include "engine/interop/onnx_attention_steps.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace dmlconform::interop::expansion {
namespace {

/// Each head as often as there are heads of queries for it, one after the other.
std::string repeated(Expansion& to, const std::string& data, const Heads& heads) {
    const std::int64_t times = heads.query_heads / heads.key_heads;
    if (times == 1) {
        return data;
    }
    const std::string apart = to.reshape(data, {heads.batches, heads.key_heads, 1, heads.keys, -1});
    const std::string wide = to.add("Expand", {apart, to.whole_numbers({1, 1, times, 1, 1})});
    return to.reshape(wide, {heads.batches, heads.query_heads, heads.keys, -1});
}

constexpr float hidden = -std::numeric_limits<float>::infinity();

}  // namespace

core::Result<void> few_positions(const Heads& heads) {
    constexpr std::int64_t most_positions = std::int64_t{1} << 17;
    if (heads.queries > most_positions || heads.keys > most_positions) {
        return core::fail("it has more positions than are mapped");
    }
    return {};
}

Sizes sizes_of(const Expansion& to, int index) {
    const OnnxTensor* tensor = to.known(index);
    return tensor == nullptr ? Sizes() : Sizes(tensor->sizes.begin(), tensor->sizes.end());
}

std::string positions_from_0(Expansion& to, std::int64_t count) {
    Sizes positions(static_cast<std::size_t>(count));
    std::iota(positions.begin(), positions.end(), 0);
    return to.whole_numbers(positions);
}

std::string split_heads(Expansion& to, const std::string& data, const Sizes& sizes, std::int64_t heads) {
    return swap_heads(to, to.reshape(data, {sizes[0], sizes[1], heads, -1}));
}

std::string join_heads(Expansion& to, const std::string& data, const Heads& heads, const std::string& output) {
    return to.reshape(swap_heads(to, data), {heads.batches, heads.queries, -1}, output);
}

std::string swap_heads(Expansion& to, const std::string& data, std::string output) {
    return to.add("Transpose", {data}, std::move(output), {integers("perm", {0, 2, 1, 3})});
}

core::Result<std::int64_t> positions_of_past(const Expansion& to, int key, int value) {
    const Sizes sizes = sizes_of(to, key);
    if (to.input(key).empty() != to.input(value).empty() || (!sizes.empty() && sizes.size() != 4)) {
        return core::fail("the keys of the past have four dimensions, and come with its values");
    }
    return sizes.empty() ? 0 : sizes[2];
}

std::string after_past(Expansion& to, int past, const std::string& data, const std::string& output) {
    const Sizes sizes = sizes_of(to, past);
    if (!to.input(past).empty() && sizes.size() == 4 && sizes[2] > 0) {
        return to.add("Concat", {to.input(past), data}, output, {integer("axis", 2)});
    }
    return output.empty() ? data : to.add("Identity", {data}, output);
}

std::string rows_from(Expansion& to, const Heads& heads, std::int64_t first) {
    Sizes rows(static_cast<std::size_t>(heads.queries));
    std::iota(rows.begin(), rows.end(), first);
    return to.whole_numbers({heads.queries, 1}, rows);
}

std::string bias_of_window(Expansion& to, const Heads& heads, std::int64_t offset, const Window& window) {
    // Larger windows have no end.
    const std::int64_t before = std::min(window.before, offset + heads.queries);
    const std::int64_t after = std::min(window.after, heads.keys);
    const std::string keys = positions_from_0(to, heads.keys);
    std::string seen;
    if (after >= 0 && offset + after + 1 < heads.keys) {
        seen = to.add("Less", {keys, rows_from(to, heads, offset + after + 1)});
    }
    if (before >= 0 && offset + heads.queries - 1 > before) {
        const std::string late = to.add("Not", {to.add("Less", {keys, rows_from(to, heads, offset - before)})});
        seen = seen.empty() ? late : to.add("And", {seen, late});
    }
    return seen.empty() ? "" : bias_where(to, heads, seen);
}

std::string bias_where(Expansion& to, const Heads& heads, const std::string& seen) {
    return to.add("Where", {seen, to.number_like(heads.typed, 0), to.number_like(heads.typed, hidden)});
}

std::string sum_of_biases(Expansion& to, const std::string& a, const std::string& b) {
    return a.empty() ? b : b.empty() ? a : to.add("Add", {a, b});
}

std::string attend(Expansion& to, const Heads& heads, const Weighting& weighting) {
    const auto report = [&](int mode, const std::string& scores) {
        if (weighting.scores_mode == mode && !weighting.scores_output.empty()) {
            to.add("Identity", {scores}, weighting.scores_output);
        }
    };
    const std::string keys =
        to.add("Transpose", {repeated(to, heads.key, heads)}, "", {integers("perm", {0, 1, 3, 2})});
    std::string scores = to.add("MatMul", {heads.query, keys});
    if (weighting.scale != 1) {
        scores = to.add("Mul", {scores, to.number_like(heads.typed, weighting.scale)});
    }
    report(0, scores);
    if (weighting.softcap != 0) {
        const std::string softcap = to.number_like(heads.typed, weighting.softcap);
        scores = to.add("Mul", {to.add("Tanh", {to.add("Div", {scores, softcap})}), softcap});
    }
    report(1, scores);
    scores = sum_of_biases(to, scores, weighting.bias);
    report(2, scores);
    std::string weights = to.add("Softmax", {scores}, "", {integer("axis", 3)});
    if (weighting.may_hide_all) {
        const std::string most =
            to.add("ReduceMax", {weighting.bias}, "", {integers("axes", {-1}), integer("keepdims", 1)});
        const std::string none_seen = to.add("Equal", {most, to.number_like(heads.typed, hidden)});
        weights = to.add("Where", {none_seen, to.number_like(heads.typed, 0), weights});
    }
    report(3, weights);
    return to.add("MatMul", {weights, repeated(to, heads.value, heads)});
}

std::string rotate(Expansion& to, const std::string& data, const Rotation& rotation, std::int64_t numbers,
                   std::string output) {
    const std::int64_t half = rotation.rotated / 2;
    const std::string first =
        rotation.is_interleaved ? to.slice(data, 3, 0, rotation.rotated, 2) : to.slice(data, 3, 0, half);
    const std::string second =
        rotation.is_interleaved ? to.slice(data, 3, 1, rotation.rotated, 2) : to.slice(data, 3, half, rotation.rotated);
    const std::string real =
        to.add("Sub", {to.add("Mul", {rotation.cosines, first}), to.add("Mul", {rotation.sines, second})});
    const std::string imaginary =
        to.add("Add", {to.add("Mul", {rotation.sines, first}), to.add("Mul", {rotation.cosines, second})});
    std::vector<std::string> parts{real, imaginary};
    if (rotation.is_interleaved) {
        const Sizes pairs{0, 0, 0, half, 1};
        const std::string joined =
            to.add("Concat", {to.reshape(real, pairs), to.reshape(imaginary, pairs)}, "", {integer("axis", 4)});
        parts = {to.reshape(joined, {0, 0, 0, rotation.rotated})};
    }
    if (rotation.rotated < numbers) {
        parts.push_back(to.slice(data, 3, rotation.rotated, numbers));
    }
    return to.add("Concat", parts, std::move(output), {integer("axis", 3)});
}

Sizes with_positions_first(const Sizes& sizes, std::int64_t heads) {
    return sizes.size() == 4 ? Sizes{sizes[0], sizes[2], heads, sizes[3]}
                             : Sizes{sizes[0], sizes[1], heads, sizes[2] / heads};
}

Nodes expand_rotation(Expansion& to, const Sizes& positions_first, const Rotation& rotation) {
    const std::int64_t numbers = positions_first[3];
    if (rotation.rotated < 2 || rotation.rotated % 2 != 0 || rotation.rotated > numbers) {
        return core::fail("a head is not rotated in pairs of its numbers");
    }
    if (sizes_of(to, 0).size() == 3) {
        const std::string rotated = rotate(to, to.reshape(to.input(0), positions_first), rotation, numbers);
        to.reshape(rotated, {positions_first[0], positions_first[1], -1}, to.output(0));
    } else {
        const std::string rotated = rotate(to, swap_heads(to, to.input(0)), rotation, numbers);
        swap_heads(to, rotated, to.output(0));
    }
    return to.take();
}

}  // namespace dmlconform::interop::expansion
