// What the attentions of ONNX and of ONNX Runtime have in common: heads, positions that are hidden, and a softmax
// between two products.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {

using Sizes = std::vector<std::int64_t>;

/// The sizes of an input; empty if it is absent.
[[nodiscard]] Sizes sizes_of(const Expansion& to, int index);

/// Queries, keys and values: names of tensors of [batches, heads, positions, numbers].
struct Heads {
    std::string query;
    std::string key;
    std::string value;
    std::int64_t batches = 1;
    std::int64_t query_heads = 1;
    /// Those of the keys and of the values. They divide those of the queries.
    std::int64_t key_heads = 1;
    std::int64_t queries = 1;
    /// With those of the past.
    std::int64_t keys = 1;
    /// The index of an input that has the type of the scores.
    int typed = 0;
};

inline constexpr std::int64_t most_heads = 0xffff;
/// Fails if there are too many: expansions have a constant with an element for each position.
[[nodiscard]] core::Result<void> few_positions(const Heads& heads);

/// A list of the positions 0, 1, 2 …
std::string positions_from_0(Expansion& to, std::int64_t count);

/// From [batches, positions, heads * numbers] to [batches, heads, positions, numbers], and back.
std::string split_heads(Expansion& to, const std::string& data, const Sizes& sizes, std::int64_t heads);
std::string join_heads(Expansion& to, const std::string& data, const Heads& heads, const std::string& output);

/// Exchanges the second and the third of four dimensions: heads and positions.
std::string swap_heads(Expansion& to, const std::string& data, std::string output = "");

/// How many positions there are before: those of the inputs `key` and `value`, which have four dimensions. 0 if both
/// are absent.
[[nodiscard]] core::Result<std::int64_t> positions_of_past(const Expansion& to, int key, int value);

/// Keys or values after those of the past, if there are any: the input `past` of [batches, heads, positions, numbers].
/// `output` may be empty.
std::string after_past(Expansion& to, int past, const std::string& data, const std::string& output);

/// How many keys before and after a query's own position it sees; all if negative.
struct Window {
    std::int64_t before = -1;
    std::int64_t after = -1;
};

/// A number for each query, from `first` on: [queries, 1].
std::string rows_from(Expansion& to, const Heads& heads, std::int64_t first);
/// -infinity for each pair of a query and a key that the window hides, and 0 for the others. The first query has the
/// position `offset`. Empty if nothing is hidden.
std::string bias_of_window(Expansion& to, const Heads& heads, std::int64_t offset, const Window& window);
/// 0 where `seen`, a tensor of BOOL, is true, and -infinity elsewhere.
std::string bias_where(Expansion& to, const Heads& heads, const std::string& seen);
/// The sum of two biases, each of which may be empty.
std::string sum_of_biases(Expansion& to, const std::string& a, const std::string& b);

/// How scores become weights.
struct Weighting {
    float scale = 1;
    /// Scores are limited by a hyperbolic tangent of this size; 0 if they are not.
    float softcap = 0;
    /// Added to the scores; may be empty.
    std::string bias;
    /// The bias may be -infinity for all keys of a query. Its result is 0.
    bool may_hide_all = false;
    /// Which scores are an output as well: 0 before the softcap, 1 behind it, 2 with the bias, 3 the weights.
    int scores_mode = 0;
    std::string scores_output = {};
};

/// [batches, heads of the queries, queries, numbers of a value].
std::string attend(Expansion& to, const Heads& heads, const Weighting& weighting);

/// How numbers of a head are rotated in pairs, by angles that follow from the position.
struct Rotation {
    /// Tensors that broadcast to [batches, positions, heads, rotated / 2].
    std::string cosines;
    std::string sines;
    /// True if a pair is two neighbours; otherwise it has one number of each half.
    bool is_interleaved = false;
    /// How many numbers of a head are rotated: the first ones.
    std::int64_t rotated = 0;
};

/// The data have the sizes [batches, positions, heads, `numbers`].
std::string rotate(Expansion& to, const std::string& data, const Rotation& rotation, std::int64_t numbers,
                   std::string output = "");
/// [batches, positions, heads, numbers] of data of [batches, heads, positions, numbers], or with all heads in the last
/// of three dimensions, which they must divide.
[[nodiscard]] Sizes with_positions_first(const Sizes& sizes, std::int64_t heads);
/// Rotates the node's first input, which has such sizes, into its first output.
[[nodiscard]] Nodes expand_rotation(Expansion& to, const Sizes& positions_first, const Rotation& rotation);

}  // namespace dmlconform::interop::expansion
