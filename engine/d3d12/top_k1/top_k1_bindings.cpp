// TOP_K1 and TOP_K: for small K, winners are selected without sorting the other elements; for large K, tiles are sorted
// in groupshared memory. Longer sequences need further passes that select again or merge. In very long ones, only
// chunks that can contain winners are considered.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/top_k1/long_sequence.h"
#include "engine/d3d12/top_k1/top_k_fields.h"
#include "shaders/top_k1/top_k1_merge_parameters.hlsli"
#include "shaders/top_k1/top_k1_parameters.hlsli"

namespace dmlconform::d3d12::top_k1_bindings {
namespace {

using Parameters = TopK1Parameters;

constexpr std::uint64_t tile = TOP_K1_TILE;
constexpr std::uint64_t most_sequences_per_tile = TOP_K1_TILE_SEQUENCES;
constexpr std::uint64_t entries_per_thread = tile / group_size;

/// For at most this many winners, selection repeats until one tile is left. For more, sorted runs are merged.
constexpr std::uint64_t longest_selected = 1024;

/// For small K: the number of entries for which groupshared memory has room, per thread.
constexpr std::uint64_t picked_per_thread(std::uint64_t per_thread) {
    return per_thread == TOP_K1_MOST_PER_THREAD ? TOP_K1_ROOM_FOR_MOST : TOP_K1_ROOM;
}
constexpr std::uint64_t fewest_threads_per_sequence = 8;

/// For small K: how a sequence, or a part of it, is divided among threads.
struct Shares {
    std::uint64_t threads = 0;
    std::uint64_t per_thread = 0;

    [[nodiscard]] std::uint64_t entries() const { return threads * per_thread; }
};

/// For selection from chunks: the number of elements for a group that finds the best keys of chunks, which is also the
/// maximum size of a chunk, and how the selection within chunks is divided.
constexpr std::uint64_t shortest_chunk = 1024;
constexpr std::uint64_t longest_chunk = std::uint64_t{TOP_K1_PARTS} << TOP_K1_LOG_PART;
constexpr Shares shares_in_chunks{.threads = group_size, .per_thread = 16};
constexpr std::uint64_t most_chunks = shares_in_chunks.threads / 2;

/// For sorting all entries of one or two words: the available group sizes. The smaller one is for sequences that fit
/// it.
constexpr std::uint64_t sorted_per_thread = TOP_K1_SORTED_PER_THREAD;
constexpr std::uint64_t small_sorting_group = 64;
constexpr std::uint64_t sorting_group = 256;

ShaderVariant few_in_chunks() {
    return {"top_k1_few",
            {{"FROM_TENSOR", 1},
             {"TO_TENSOR", 0},
             {"PER_THREAD", static_cast<std::uint32_t>(shares_in_chunks.per_thread)},
             {"WORDS", 0},
             {"CHUNKS", 1}}};
}

/// Adds one dispatch after another. Entries alternate between two temporaries.
class Planner {
public:
    explicit Planner(const TopKFields& op)
        : k_(op.k),
          length_(op.input.sizes[op.axis]),
          key_words_(core::bytes_of(op.input.data_type) == 8 ? 2 : 1),
          entry_bytes_((key_words_ + 1) * sizeof(std::uint32_t)),
          tile_(key_words_ == 1 ? sorted_per_thread * sorting_group : tile) {
        core::Dimensions sequences = op.input.sizes;
        sequences[op.axis] = 1;
        const std::array<core::Strides, 3> strides{core::signed_strides(op.input), core::signed_strides(op.values),
                                                   core::signed_strides(op.indices)};
        const auto dimensions = merge_dimensions<3>(sequences, strides);
        const auto step = [&](std::size_t tensor) { return static_cast<std::uint32_t>(strides[tensor][op.axis]); };
        sequence_count_ = count_of(dimensions);
        common_.sequence_count = static_cast<std::uint32_t>(sequence_count_);
        common_.sequence_dimension_count = static_cast<std::uint32_t>(dimensions.size());
        common_.k = op.k;
        common_.packing = key_words_ == 1 ? packing_of(op.input.data_type) : 3;
        common_.input_step = step(0);
        common_.value_step = step(1);
        common_.index_step = step(2);
        common_.index_words = op.indices.data_type == core::DataType::uint64 ? 2 : 1;
        common_.nan_above = infinity_of(op.input.data_type);
        common_.sign_flip = core::is_signed_integer(op.input.data_type) ? 0x80000000u : 0u;
        common_.order_flip = op.direction == operators::AxisDirection::decreasing ? 0xffffffffu : 0u;
        common_.sequences_side_by_side = strides[0][op.axis] > dimensions.front().strides[0] ? 1 : 0;
        common_.sequences_per_tile = 1;
        common_.tiles_per_sequence = 1;
        put_rows(strided_rows(dimensions, strides.size()), common_.sequence_dimensions);
    }

    [[nodiscard]] DispatchPlan plan() && {
        if (const std::uint64_t chunk = best_chunk(); chunk != 0) {
            select_from_chunks(chunk);
        } else if (length_ <= tile_ || std::bit_ceil(k_) <= longest_selected) {
            select_repeatedly(length_, true);
        } else {
            sort_and_merge();
        }
        return std::move(plan_);
    }

private:
    /// Each pass keeps at most half of the entries of each sequence. The last pass keeps the winners.
    void select_repeatedly(std::uint64_t left, bool to_tensor) {
        bool is_last = false;
        while (!is_last) {
            const bool from_tensor = plan_.dispatches.empty();
            const std::optional<Shares> shares = shares_of(left);
            is_last = left <= (shares ? shares->entries() : tile_);
            const bool is_done = is_last && to_tensor;
            left = shares ? select_few(left, *shares, from_tensor, is_done) : select(left, from_tensor, is_done);
        }
    }

    /// The number of passes of a selection for small K.
    [[nodiscard]] std::uint64_t passes_over(std::uint64_t left) const {
        std::uint64_t passes = 1;
        for (auto shares = shares_of(left); shares && left > shares->entries(); shares = shares_of(left)) {
            left = groups_of(left, shares->entries()) * k_;
            ++passes;
        }
        return passes;
    }

    /// The best chunk length; 0 if chunks do not pay.
    [[nodiscard]] std::uint64_t best_chunk() const {
        // Passes wait for each other. In number of entries, a pass costs as much as selecting from this many; reading
        // takes a third of the time of selecting.
        constexpr std::uint64_t pass = 1u << 21;
        constexpr std::uint64_t reading = 3;
        std::uint64_t best = 0;
        if (key_words_ != 1 || k_ > most_chunks) {
            return best;
        }
        std::uint64_t least = sequence_count_ * length_ + passes_over(length_) * pass;
        for (std::uint64_t chunk = shortest_chunk; chunk <= longest_chunk; chunk *= 2) {
            const std::uint64_t chunks = groups_of(length_, chunk);
            const std::uint64_t left = groups_of(k_ * chunk, shares_in_chunks.entries()) * k_;
            const std::uint64_t passes = 2 + passes_over(chunks) + passes_over(left);
            const std::uint64_t entries = sequence_count_ * (length_ / reading + chunks + k_ * chunk + left);
            if (entries + passes * pass < least) {
                least = entries + passes * pass;
                best = chunk;
            }
        }
        return best;
    }

    /// The winners among the chunks' best keys are chunks, whose elements are the candidates.
    void select_from_chunks(std::uint64_t chunk) {
        common_.log_chunk = static_cast<std::uint32_t>(std::countr_zero(chunk));
        find_best_of_chunks(groups_of(length_, chunk));
        select_repeatedly(groups_of(length_, chunk), false);
        select_repeatedly(select_in_chunks(k_ * chunk), true);
    }

    void find_best_of_chunks(std::uint64_t chunks) {
        const std::uint64_t groups = groups_of(length_, longest_chunk);
        add_selection({"top_k1_chunks", {{"WORDS", common_.packing == 0 ? 1u : 0u}}}, sequence_count_ * groups,
                      parameters_of(length_, groups, true), chunks, true, false);
    }

    /// A pass over the elements of the chunks that the last pass kept. Returns how many it keeps.
    std::uint64_t select_in_chunks(std::uint64_t elements) {
        const std::uint64_t tiles = groups_of(elements, shares_in_chunks.entries());
        Parameters parameters = parameters_of(length_, tiles, true);
        parameters.log_threads = static_cast<std::uint32_t>(std::countr_zero(shares_in_chunks.threads));
        add_selection(few_in_chunks(), sequence_count_ * tiles, parameters, tiles * k_, false, false);
        return tiles * k_;
    }

    void sort_and_merge() {
        std::uint64_t run_length = std::min(tile_, k_);
        std::uint64_t run_count = select(length_, true, false) / run_length;
        while (run_count > 1) {
            const std::uint64_t merged_length = std::min(2 * run_length, k_);
            const std::uint64_t merged_count = groups_of(run_count, 2);
            merge(run_length, run_count, merged_length, merged_count);
            run_length = merged_length;
            run_count = merged_count;
        }
        write();
    }

    /// Empty if K is so large that sorting everything is better, and for entries of three words.
    [[nodiscard]] std::optional<Shares> shares_of(std::uint64_t length) const {
        // Large tiles take fewer instructions, small ones keep more of a GPU busy.
        constexpr std::uint64_t busy_groups = 512;
        constexpr std::uint64_t largest_share = TOP_K1_MOST_PER_THREAD;
        const bool has_many_groups = sequence_count_ * groups_of(length, group_size * largest_share) >= busy_groups;
        if (key_words_ == 1) {
            for (const std::uint64_t per_thread : {largest_share, std::uint64_t{16}, std::uint64_t{4}}) {
                const std::uint64_t needed = std::bit_ceil(groups_of(length, per_thread));
                // At most half of the threads have a winner, and each of them may have only selected entries.
                const std::uint64_t threads =
                    std::max({fewest_threads_per_sequence, std::min(needed, group_size), std::bit_ceil(2 * k_),
                              std::bit_ceil(groups_of(k_ * per_thread, picked_per_thread(per_thread)))});
                const bool is_worth_it = per_thread < largest_share || (needed >= group_size && has_many_groups);
                if (is_worth_it && threads <= group_size && threads <= 2 * needed) {
                    return Shares{threads, per_thread};
                }
            }
        }
        return std::nullopt;
    }

    /// The common parameters of all passes over `length` entries of each sequence.
    [[nodiscard]] Parameters parameters_of(std::uint64_t length, std::uint64_t tiles, bool from_tensor) const {
        Parameters parameters = common_;
        parameters.entry_count = static_cast<std::uint32_t>(length);
        parameters.tiles_per_sequence = static_cast<std::uint32_t>(tiles);
        if (!from_tensor) {
            parameters.sequences_side_by_side = 0;
        }
        return parameters;
    }

    /// Like select(), without sorting.
    std::uint64_t select_few(std::uint64_t length, const Shares& shares, bool from_tensor, bool to_tensor) {
        const std::uint64_t tiles = groups_of(length, shares.entries());
        Parameters parameters = parameters_of(length, tiles, from_tensor);
        parameters.log_threads = static_cast<std::uint32_t>(std::countr_zero(shares.threads));
        add_selection({"top_k1_few",
                       {{"FROM_TENSOR", from_tensor ? 1u : 0u},
                        {"TO_TENSOR", to_tensor ? 1u : 0u},
                        {"PER_THREAD", static_cast<std::uint32_t>(shares.per_thread)},
                        {"WORDS", from_tensor && common_.packing == 0 ? 1u : 0u},
                        {"CHUNKS", 0}}},
                      groups_of(sequence_count_, group_size / shares.threads) * tiles, parameters, tiles * k_,
                      from_tensor, to_tensor);
        return tiles * k_;
    }

    /// Adds a pass that keeps this many candidates of each sequence.
    void add_selection(ShaderVariant shader, std::uint64_t groups, const Parameters& parameters,
                       std::uint64_t candidates, bool from_tensor, bool to_tensor) {
        const BufferRef source = from_tensor ? BufferRef{} : entries();
        plan_.dispatches.push_back(
            {std::move(shader),
             {input(0), output(0), output(1), source, to_tensor ? BufferRef{} : next_entries(candidates)},
             parameters_from(parameters),
             groups});
    }

    /// A pass that sorts tiles of `length` entries of each sequence. Returns how many it keeps.
    std::uint64_t select(std::uint64_t length, bool from_tensor, bool to_tensor) {
        return key_words_ == 1 ? select_sorted(length, from_tensor, to_tensor)
                               : select_sorted64(length, from_tensor, to_tensor);
    }

    std::uint64_t select_sorted(std::uint64_t length, bool from_tensor, bool to_tensor) {
        const std::uint64_t slots = std::max(std::bit_ceil(std::min(length, tile_)), sorted_per_thread);
        const std::uint64_t tiles = groups_of(length, slots);
        const std::uint64_t kept = std::min(slots, k_);
        const std::uint64_t threads = slots / sorted_per_thread;
        const std::uint64_t group = threads <= small_sorting_group ? small_sorting_group : sorting_group;
        Parameters parameters = parameters_of(length, tiles, from_tensor);
        parameters.kept = static_cast<std::uint32_t>(kept);
        parameters.log_threads = static_cast<std::uint32_t>(std::countr_zero(threads));
        add_selection({"top_k1_sort",
                       {{"FROM_TENSOR", from_tensor ? 1u : 0u},
                        {"TO_TENSOR", to_tensor ? 1u : 0u},
                        {"NARROW", from_tensor && common_.packing != 0 ? 1u : 0u},
                        {"GROUP_SIZE", static_cast<std::uint32_t>(group)}}},
                      groups_of(sequence_count_, group / threads) * tiles, parameters, tiles * kept, from_tensor,
                      to_tensor);
        return tiles * kept;
    }

    std::uint64_t select_sorted64(std::uint64_t length, bool from_tensor, bool to_tensor) {
        const std::uint64_t tiles = groups_of(length, tile);
        const std::uint64_t slots = std::bit_ceil(std::min(length, tile));
        const std::uint64_t run = std::min(slots, std::bit_ceil(k_));
        const std::uint64_t kept = std::min(run, k_);
        const std::uint64_t sequences_per_tile = std::min({tile / slots, most_sequences_per_tile, sequence_count_});
        Parameters parameters = parameters_of(length, tiles, from_tensor);
        parameters.slots = static_cast<std::uint32_t>(slots);
        parameters.run = static_cast<std::uint32_t>(run);
        parameters.kept = static_cast<std::uint32_t>(kept);
        parameters.sequences_per_tile = static_cast<std::uint32_t>(sequences_per_tile);
        // Selection needs room for one entry per thread, and sequences that are long enough to benefit.
        constexpr std::uint64_t shortest_picked_from = 512;
        parameters.picks = slots >= shortest_picked_from && run * entries_per_thread * entries_per_thread <= slots;
        add_selection({"top_k1", {{"FROM_TENSOR", from_tensor ? 1u : 0u}, {"TO_TENSOR", to_tensor ? 1u : 0u}}},
                      groups_of(sequence_count_, sequences_per_tile) * tiles, parameters, tiles * kept, from_tensor,
                      to_tensor);
        return tiles * kept;
    }

    void merge(std::uint64_t run_length, std::uint64_t run_count, std::uint64_t merged_length,
               std::uint64_t merged_count) {
        TopK1MergeParameters parameters{};
        parameters.run_length = static_cast<std::uint32_t>(run_length);
        parameters.run_count = static_cast<std::uint32_t>(run_count);
        parameters.merged_length = static_cast<std::uint32_t>(merged_length);
        parameters.merged_count = static_cast<std::uint32_t>(merged_count);
        parameters.chunks_per_run = static_cast<std::uint32_t>(groups_of(merged_length, TOP_K1_MERGED_CHUNK));
        const BufferRef source = entries();
        plan_.dispatches.push_back({{"top_k1_merge", {key_words()}},
                                    {source, next_entries(merged_length * merged_count)},
                                    parameters_from(parameters),
                                    sequence_count_ * merged_count * parameters.chunks_per_run});
    }

    void write() {
        Parameters parameters = common_;
        // One more than K, because values may begin within a word.
        parameters.entry_count = static_cast<std::uint32_t>(groups_of(k_ + 1, group_size));
        plan_.dispatches.push_back({{"top_k1_write", {key_words()}},
                                    {input(0), output(0), output(1), entries()},
                                    parameters_from(parameters),
                                    sequence_count_ * parameters.entry_count});
    }

    [[nodiscard]] std::pair<std::string_view, std::uint32_t> key_words() const {
        return {"KEY_WORDS", static_cast<std::uint32_t>(key_words_)};
    }

    /// The buffer with the last pass's entries.
    [[nodiscard]] BufferRef entries() const { return temporary(current_); }

    /// The other temporary, with room for this many entries of each sequence.
    BufferRef next_entries(std::uint64_t count) {
        current_ = plan_.temporaries.empty() ? 0 : 1 - current_;
        plan_.temporaries.resize(std::max<std::size_t>(plan_.temporaries.size(), current_ + 1));
        std::uint64_t& bytes = plan_.temporaries[current_];
        bytes = std::max(bytes, sequence_count_ * count * entry_bytes_);
        return entries();
    }

    std::uint64_t k_;
    std::uint64_t length_;
    std::uint64_t key_words_;
    std::uint64_t entry_bytes_;
    std::uint64_t tile_;
    std::uint64_t sequence_count_ = 0;
    Parameters common_{};
    std::size_t current_ = 0;
    DispatchPlan plan_;
};

DispatchPlan plan_top_k1(const operators::Descriptor& descriptor) {
    return Planner(TopKFields(descriptor)).plan();
}

std::vector<ShaderVariant> top_k1_variants() {
    const DefineRange key_words{"KEY_WORDS", {1, 2}};
    auto variants = all_variants("top_k1", {{"FROM_TENSOR", {0, 1}}, {"TO_TENSOR", {0, 1}}});
    const DefineRange sorting_groups{"GROUP_SIZE", {small_sorting_group, sorting_group}};
    const DefineRange few{"PER_THREAD", {4, 16, 32}};
    const DefineRange to_tensor{"TO_TENSOR", {0, 1}};
    for (const std::uint32_t from : {0u, 1u}) {
        const DefineRange from_tensor{"FROM_TENSOR", {from}};
        const std::vector<std::uint32_t> sizes = from == 1 ? std::vector{0u, 1u} : std::vector{0u};
        append(variants, all_variants("top_k1_sort", {from_tensor, to_tensor, {"NARROW", sizes}, sorting_groups}));
        append(variants, all_variants("top_k1_few", {from_tensor, to_tensor, few, {"WORDS", sizes}, {"CHUNKS", {0}}}));
    }
    append(variants, all_variants("top_k1_chunks", {{"WORDS", {0, 1}}}));
    variants.push_back(few_in_chunks());
    for (const std::string_view shader : {"top_k1_merge", "top_k1_write"}) {
        append(variants, all_variants(shader, {key_words}));
    }
    return variants;
}

}  // namespace

Bindings bindings() {
    return {{.name = "TOP_K1",
             .plan = plan_top_k1,
             .variants = top_k1_variants,
             .cut = cut_off_axis,
             .plan_long = plan_long_sequence},
            {.name = "TOP_K",
             .plan = plan_top_k1,
             .variants = top_k1_variants,
             .cut = cut_off_axis,
             .plan_long = plan_long_sequence}};
}

}  // namespace dmlconform::d3d12::top_k1_bindings
