// Divides products among thread groups, and plans their dispatches.
#include "engine/d3d12/product/product.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dmlconform::d3d12 {
namespace {

/// Columns per thread if there are no tiles, or if slices are summed.
constexpr std::uint64_t plain_columns = 4;

// Mesa's llvmpipe silently ends a thread's loops after 65,535 iterations in total; in tiles, eight terms take nine
// iterations. Also, 32 bits can sum this many products of 8-bit numbers.
constexpr std::uint64_t most_depth_per_slice = 16384;
constexpr std::uint64_t most_slices = 8192;
/// The same limit as for tensors.
constexpr std::uint64_t most_temporary_bytes = std::uint64_t{1} << 32;
static_assert(most_depth_per_slice * 255 * 255 <= 0x7fffffff);

std::uint64_t element_count(const Product& product) {
    return count_of(product.products) * product.parameters.row_count * product.parameters.column_count;
}

/// The number of thread groups if each thread computes four elements of a row.
std::uint64_t groups_without_tiles(const Product& product) {
    const std::uint64_t rows = count_of(product.products) * product.parameters.row_count;
    return groups_of(rows * groups_of(product.parameters.column_count, plain_columns), group_size);
}

/// Words of the temporary for the sums of slices.
std::uint64_t slice_words(const Product& product, const ProductDivision& division) {
    return division.slices > 1 ? division.slices * element_count(product) : 0;
}

/// Additional words in which tiles park sums: one tile of a slice for each thread group.
std::uint64_t parked_words(const Product& product, const ProductDivision& division) {
    const bool is_parked = product.numbers == PRODUCT_INTEGER && division.side == PRODUCT_PARKED_SIDE &&
                           division.slice_depth > PRODUCT_EXACT_DEPTH;
    return is_parked ? division.slices * division.groups_per_slice * division.side * division.side : 0;
}

std::uint64_t temporary_bytes(const Product& product, const ProductDivision& division) {
    return (slice_words(product, division) + parked_words(product, division)) * sizeof(std::uint32_t);
}

/// True if the filter fits the tiles' table of filter elements, in which each has a bit.
bool has_small_window(const Product& product) {
    const auto along = product.parameters.window.words;
    const std::uint32_t longest = *std::max_element(along.begin() + 1, along.end());
    return longest <= PRODUCT_MOST_TAPS_ALONG && product.parameters.tap_count <= PRODUCT_MOST_TAPS;
}

/// For windows, a k-step is one filter element in several channels.
bool has_whole_turns(const Product& product, std::uint32_t side) {
    const std::uint32_t taps = product.is_window ? product.parameters.tap_count : 1;
    return product.numbers != PRODUCT_MIXED && product.depth / taps % PRODUCT_TURN_DEPTH(side) == 0;
}

constexpr std::uint32_t small = 32;
constexpr std::uint32_t medium = 64;
constexpr std::uint32_t large = 128;

/// The number of tiles of all products.
std::uint64_t tiles_of(const Product& product, std::uint32_t side) {
    return groups_of(product.parameters.row_count, side) * groups_of(product.parameters.column_count, side) *
           count_of(product.products);
}

/// True if smaller tiles than usual keep more of a large GPU busy in one dispatch. If the depth is large, slices are
/// better.
bool is_for_small_tiles(const Product& product) {
    constexpr std::uint64_t enough_tiles = 128;
    static_assert(PRODUCT_PARTED_DEPTH / 4 * 255 * 255 <= 1 << 24);
    return product.numbers == PRODUCT_INTEGER && has_whole_turns(product, small) &&
           product.depth <= PRODUCT_PARTED_DEPTH && tiles_of(product, medium) < enough_tiles;
}

std::uint64_t padded_elements(const Product& product, std::uint32_t side) {
    return tiles_of(product, side) * side * side;
}

/// True if there is memory for the sums that large integer tiles park: a fraction of what small devices can address.
bool can_park(const Product& product) {
    constexpr std::uint64_t most_words = std::uint64_t{1} << 26;
    const std::uint64_t fewest_slices = groups_of(product.depth, most_depth_per_slice);
    return product.numbers != PRODUCT_INTEGER || product.depth <= PRODUCT_EXACT_DEPTH ||
           padded_elements(product, large) <= most_words / fewest_slices;
}

/// Two thread groups for each multiprocessor of a large GPU, where groups with the largest tiles use all registers.
/// Slices of the depth bring the number of groups near this.
constexpr std::uint64_t resident_large_groups = 264;
constexpr std::uint64_t shortest_large_slice = 256;

/// True if a few large tiles, despite more padding, are better than the usual ones if the depth is split into slices.
bool is_for_large_slices(const Product& product) {
    constexpr std::uint64_t enough_groups = 200;
    constexpr double most_padding = 1.3;
    return product.numbers == PRODUCT_INTEGER && has_whole_turns(product, large) &&
           tiles_of(product, large) * (product.depth / shortest_large_slice) >= enough_groups &&
           static_cast<double>(padded_elements(product, large)) <=
               most_padding * static_cast<double>(padded_elements(product, medium));
}

/// Rows and columns of a tile; 0 if there is too little work for tiles, most of which would be idle.
std::uint32_t side_of(const Product& product) {
    constexpr std::uint32_t fewest_rows = 8;
    constexpr std::uint32_t fewest_columns = 16;
    constexpr double fewest_multiplications = 1 << 18;
    // Fewer tiles leave parts of a large GPU idle.
    constexpr std::uint64_t enough_large_tiles = 100;

    const std::uint32_t rows = product.parameters.row_count;
    const std::uint32_t columns = product.parameters.column_count;
    const double multiplications = static_cast<double>(element_count(product)) * static_cast<double>(product.depth);
    if (rows < fewest_rows || columns < fewest_columns || multiplications < fewest_multiplications ||
        (product.is_window && !has_small_window(product))) {
        return 0;
    }
    if (rows > medium && columns > medium && can_park(product) &&
        (tiles_of(product, large) >= enough_large_tiles || is_for_large_slices(product))) {
        return large;
    }
    return is_for_small_tiles(product) ? small : medium;
}

void put_taps(ProductParameters& parameters, std::uint32_t turn_depth) {
    const auto& size = parameters.window.words;
    std::uint32_t tap = 0;
    std::array<std::uint32_t, 4> at{};
    for (at[1] = 0; at[1] < size[1]; ++at[1]) {
        for (at[2] = 0; at[2] < size[2]; ++at[2]) {
            for (at[3] = 0; at[3] < size[3]; ++at[3]) {
                std::uint32_t in_input = 0;
                std::uint32_t in_filter = 0;
                for (std::size_t d = 1; d < at.size(); ++d) {
                    const std::uint32_t distance = at[d] * parameters.dilation.words[d];
                    const std::uint32_t stride = parameters.input_strides.words[d];
                    in_input += parameters.is_backward != 0 ? 0 - distance / parameters.window_stride.words[d] * stride
                                                            : distance * stride;
                    in_filter += at[d] * parameters.filter_strides.words[d];
                }
                parameters.taps[tap++].words = {in_input, in_filter, 0, 0};
            }
        }
    }
    parameters.is_filter_in_order = parameters.filter_channel == tap ? 1 : 0;
    for (std::uint32_t t = 0; t < tap; ++t) {
        if (parameters.filter_strides.words[0] + parameters.taps[t].words[1] != t) {
            parameters.is_filter_in_order = 0;
        }
        auto& words = parameters.taps[t].words;
        const auto& next = parameters.taps[(t + 1) % tap].words;
        const std::uint32_t channels = t + 1 == tap ? turn_depth : 0;
        words[2] = next[0] - words[0] + channels * parameters.input_channel;
        words[3] = next[1] - words[1] + channels * parameters.filter_channel;
    }
}

ShaderVariant tiled_variant(const Product& product, std::uint32_t side) {
    const std::uint32_t is_window = product.is_window ? 1 : 0;
    if (side == small) {
        return {"product_parted", {{"NUMBERS", product.numbers}, {"WINDOW", is_window}}};
    }
    const bool any = product.numbers == PRODUCT_MIXED;
    return {"product_tiled",
            {{"NUMBERS", product.numbers},
             {"WINDOW", is_window},
             {"PACKING", any ? PRODUCT_ANY_PACKING : product.parameters.a_packing},
             {"SIDE", side},
             {"WHOLE", has_whole_turns(product, side) ? 1u : 0u}}};
}

/// The constant buffer without unused filter elements.
std::vector<std::uint32_t> words_of(const ProductParameters& parameters, std::uint32_t taps) {
    auto words = parameters_from(parameters);
    words.resize(words.size() - (PRODUCT_MOST_TAPS - taps) * parameters.taps[0].words.size());
    return words;
}

}  // namespace

std::vector<std::uint32_t> strides_in_words(const core::TensorDesc& desc) {
    std::vector<std::uint32_t> result;
    for (const std::uint64_t stride : core::effective_strides(desc)) {
        result.push_back(static_cast<std::uint32_t>(stride));
    }
    return result;
}

namespace {

/// The number of depth slices that keeps a large GPU busy, or 1 if slices would be too short for their temporary to
/// pay.
std::uint64_t wanted_slices(const Product& product, const ProductDivision& division) {
    std::uint64_t enough_groups = 512;
    std::uint64_t shortest_slice = 128;
    if (division.side == small) {
        enough_groups = 128;
        shortest_slice = 256;
    } else if (division.side == large && product.numbers == PRODUCT_INTEGER) {
        enough_groups = resident_large_groups;
        shortest_slice = shortest_large_slice;
    }
    return std::min(enough_groups / division.groups_per_slice, product.depth / shortest_slice);
}

}  // namespace

ProductDivision divide(const Product& product) {
    ProductDivision division;
    division.side = side_of(product);
    division.groups_per_slice = division.side != 0 ? tiles_of(product, division.side) : groups_without_tiles(product);
    const std::uint64_t needed = groups_of(product.depth, most_depth_per_slice);
    const std::uint64_t slices = std::max({needed, wanted_slices(product, division), std::uint64_t{1}});
    // Slices consist of whole k-steps.
    const std::uint64_t step = PRODUCT_TURN_DEPTH(division.side == small ? small : medium);
    static_assert(PRODUCT_TURN_DEPTH(medium) % PRODUCT_TURN_DEPTH(large) == 0);
    division.slice_depth = groups_of(groups_of(product.depth, slices), step) * step;
    division.slices = groups_of(product.depth, division.slice_depth);
    return division;
}

namespace {

/// Tells the shaders how operands are stored, so that they can read them efficiently. Only those of 8-bit matrices read
/// whole words; those of A are read in small tiles, whose depth is a multiple of a word.
void put_layout(ProductParameters& parameters, const Product& product) {
    constexpr std::uint32_t per_word = 4;
    // Adjacent threads read contiguous elements.
    parameters.a_along_depth = parameters.a_row != 1 ? 1 : 0;
    parameters.b_along_depth = parameters.b_column != 1 && parameters.b_depth == 1 ? 1 : 0;
    const auto starts_words = [&](ProductArray array) {
        return std::all_of(product.products.begin(), product.products.end(),
                           [&](const auto& dimension) { return dimension.strides[array] % per_word == 0; });
    };
    parameters.a_in_words =
        parameters.a_depth == 1 && parameters.a_row % per_word == 0 && starts_words(array_a) ? 1 : 0;
    parameters.b_in_words = parameters.b_column == 1 && parameters.b_depth % per_word == 0 &&
                                    parameters.column_count % per_word == 0 && starts_words(array_b)
                                ? 1
                                : 0;
}

}  // namespace

void add_product(DispatchPlan& plan, Product product) {
    const ProductDivision division = divide(product);
    const auto number = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
    const std::uint32_t is_window = product.is_window ? 1 : 0;
    ProductParameters& parameters = product.parameters;
    parameters.product_count = number(count_of(product.products));
    parameters.depth = number(product.depth);
    parameters.dimension_count = number(product.products.size());
    put_rows(strided_rows(product.products, product_arrays), parameters.dimensions);
    parameters.slice_count = number(division.slices);
    parameters.slice_depth = number(division.slice_depth);
    parameters.first_parked = number(slice_words(product, division));
    std::uint32_t taps = 0;
    const bool tiled = division.side != 0;
    if (tiled) {
        parameters.row_tiles = number(groups_of(parameters.row_count, division.side));
        parameters.column_tiles = number(groups_of(parameters.column_count, division.side));
        put_layout(parameters, product);
    }
    if (tiled && product.is_window) {
        const std::uint32_t turn = PRODUCT_TURN_DEPTH(division.side);
        taps = parameters.tap_count;
        parameters.turn_taps = turn % taps;
        parameters.turn_channels = turn / taps;
        put_taps(parameters, turn);
    }

    Dispatch dispatch;
    dispatch.shader = tiled ? tiled_variant(product, division.side)
                            : ShaderVariant{"product_plain", {{"NUMBERS", product.numbers}, {"WINDOW", is_window}}};
    dispatch.buffers.assign(product.buffers.begin(), product.buffers.end());
    dispatch.parameters = words_of(parameters, taps);
    dispatch.groups = division.groups_per_slice * division.slices;
    if (const std::uint64_t bytes = temporary_bytes(product, division); bytes > 0) {
        dispatch.buffers.push_back(temporary(plan.temporaries.size()));
        plan.temporaries.push_back(bytes);
    } else {
        dispatch.buffers.push_back({});
    }
    plan.dispatches.push_back(dispatch);
    if (division.slices > 1) {
        dispatch.shader = {"product_finish", {{"NUMBERS", product.numbers}, {"WINDOW", is_window}}};
        dispatch.groups = groups_without_tiles(product);
        plan.dispatches.push_back(std::move(dispatch));
    }
}

std::vector<ShaderVariant> product_variants(std::uint32_t numbers, bool is_window) {
    const std::vector<DefineRange> ranges{{"NUMBERS", {numbers}}, {"WINDOW", {is_window ? 1u : 0u}}};
    auto variants = joined({all_variants("product_plain", ranges), all_variants("product_finish", ranges)});
    const std::vector<std::uint32_t> packings = numbers == PRODUCT_REAL ? std::vector<std::uint32_t>{0, 1}
                                                : numbers == PRODUCT_INTEGER
                                                    ? std::vector<std::uint32_t>{2}
                                                    : std::vector<std::uint32_t>{PRODUCT_ANY_PACKING};
    const std::vector<std::uint32_t> whole =
        numbers == PRODUCT_MIXED ? std::vector<std::uint32_t>{0} : std::vector<std::uint32_t>{0, 1};
    append(variants,
           all_variants("product_tiled",
                        {ranges[0], ranges[1], {"PACKING", packings}, {"SIDE", {medium, large}}, {"WHOLE", whole}}));
    if (numbers == PRODUCT_INTEGER) {
        append(variants, all_variants("product_parted", ranges));
    }
    return variants;
}

std::optional<std::string> unsupported_product(const Product& product) {
    if (product.depth > most_depth_per_slice * most_slices) {
        return fmt::format("each output sums {} products; the shaders can do {}", product.depth,
                           most_depth_per_slice * most_slices);
    }
    const std::uint64_t bytes = temporary_bytes(product, divide(product));
    if (bytes > most_temporary_bytes) {
        return fmt::format("sums of {} products are made in parts, which would take {} bytes; shaders address {}",
                           product.depth, bytes, most_temporary_bytes);
    }
    return std::nullopt;
}

}  // namespace dmlconform::d3d12
