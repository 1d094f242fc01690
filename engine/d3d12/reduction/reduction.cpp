// Plans reductions.
#include "engine/d3d12/reduction/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/element_format.h"

namespace dmlconform::d3d12 {
namespace {

constexpr std::uint64_t large_group = 1024;
/// Minimum length of a line whose items are spread over groups. Shorter lines do not benefit, and thread indices exceed
/// the last element.
constexpr std::uint64_t fewest_spread = 128;
constexpr std::uint64_t most_spread = std::uint64_t{1} << 31;
constexpr std::uint64_t vector_size = 4;
constexpr std::int64_t vector_step = 4;

/// Elements per thread, since waiting for other threads takes longer than reading memory. Fewer if the thread keeps
/// them in registers.
constexpr std::uint64_t few_items = 4;
constexpr std::uint64_t many_items = 16;

/// Sorts dimensions by the input's memory order, innermost first. Repeated elements are outermost.
std::int64_t sort_key(const SharedDimension<reduction_arrays>& dimension) {
    const std::int64_t stride = dimension.strides[reduction_input];
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
}

void sort_by_input(ReductionDimensions& dimensions) {
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [](const auto& a, const auto& b) { return sort_key(a) < sort_key(b); });
}

SharedDimension<reduction_arrays> dimension_of(const Reduction& reduction, std::size_t d) {
    SharedDimension<reduction_arrays> result;
    result.size = reduction.tensors[reduction_input].desc->sizes[d];
    for (std::size_t a = 0; a < reduction_arrays; ++a) {
        const core::TensorDesc* desc = reduction.tensors[a].desc;
        if (desc != nullptr && desc->sizes[d] != 1) {
            result.strides[a] = core::signed_strides(*desc)[d];
        }
    }
    return result;
}

std::uint32_t rows_of(std::uint32_t combine) {
    return combine >= COMBINE_DEVIATIONS ? MOST_ROWS : 1;
}

void put_dimensions(const ReductionDimensions& dimensions, std::uint32_t combine, std::uint32_t& count,
                    ReductionParameters::uint4* table) {
    constexpr std::size_t row_words = 4;
    const std::uint32_t rows = rows_of(combine);
    count = static_cast<std::uint32_t>(dimensions.size());
    put_rows(strided_rows(dimensions, rows * row_words - 1), table);
}

/// Converts dimensions of elements to those of groups of four along the first dimension.
void widen(ReductionDimensions& dimensions) {
    dimensions.front().size /= vector_size;
    for (std::int64_t& stride : dimensions.front().strides) {
        stride *= vector_step;
    }
}

bool are_adjacent(const ReductionDimensions& along, const ReductionDimensions& others,
                  const std::vector<ReductionArray>& arrays) {
    return std::all_of(arrays.begin(), arrays.end(), [&](ReductionArray array) {
        const auto whole = [&](const auto& dimension) { return dimension.strides[array] % vector_step == 0; };
        return along.front().strides[array] == 1 && along.front().size % vector_size == 0 &&
               std::all_of(along.begin() + 1, along.end(), whole) && std::all_of(others.begin(), others.end(), whole);
    });
}

/// Pairs of FLOAT16 that fill words of the input and of the output.
bool are_pairs(const ReductionShape& shape) {
    constexpr std::int64_t pair = 2;
    return std::ranges::all_of(std::array{reduction_input, reduction_output}, [&](ReductionArray array) {
        return shape.items.front().strides[array] == 1 && shape.items.front().size % pair == 0 &&
               std::ranges::all_of(shape.lines, [&](const auto& line) { return line.strides[array] % pair == 0; });
    });
}

/// Counts elements in pairs.
void count_pairs(ReductionDimensions& lines, ReductionDimensions& items) {
    items.front().size /= 2;
    for (auto& line : lines) {
        line.strides[reduction_input] /= 2;
        line.strides[reduction_output] /= 2;
    }
}

/// Words of the intermediate state of a line.
std::uint64_t state_words(const Reduction& reduction) {
    const bool wide = reduction.numbers == NUMBERS_TWO_WORDS;
    switch (reduction.combine) {
        case COMBINE_SUM:
        case COMBINE_EXTREME:
            return wide ? 2 : 1;
        case COMBINE_PRODUCT:
            return reduction.numbers == NUMBERS_WORD ? 1 : 2;
        case COMBINE_FIRST_EXTREME:
            return wide ? 3 : 2;
        default:
            return 2;
    }
}

ShaderVariant reduction_variant(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector,
                                std::uint32_t source, std::uint32_t target, std::uint32_t kept, std::uint32_t float32) {
    return {"reduction",
            {{"COMBINE", combine},
             {"NUMBERS", numbers},
             {"VECTOR", vector},
             {"SOURCE", source},
             {"TARGET", target},
             {"KEPT", kept},
             {"FLOAT32", float32}}};
}

/// With pairs of FLOAT16, or with FLOAT32.
ShaderVariant spread_exponentials_variant(std::uint32_t kept, bool in_pairs, std::uint32_t half = HALF_BY_INTEGERS) {
    ShaderVariant variant = reduction_variant(COMBINE_EXPONENTIALS, NUMBERS_REAL, VECTOR_SPREAD, SOURCE_TENSOR,
                                              TARGET_ELEMENTS, kept, in_pairs ? 0 : 1);
    if (in_pairs) {
        variant.defines.emplace_back(half_macro, half);
    }
    return variant;
}

ShaderVariant spread_sum_variant(std::uint32_t target, std::uint64_t group) {
    ShaderVariant variant = reduction_variant(COMBINE_SUM, NUMBERS_REAL, VECTOR_SPREAD, SOURCE_TENSOR, target, 0, 1);
    variant.defines.emplace_back("GROUP_SIZE", static_cast<std::uint32_t>(group));
    return variant;
}

/// True if there are variants specialised for FLOAT32: sums and exponentials are the most frequent reductions.
bool has_float32_variants(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector) {
    return numbers == NUMBERS_REAL && vector != VECTOR_NONE &&
           (combine == COMBINE_SUM || combine == COMBINE_EXPONENTIALS);
}

ShaderVariant apply_variant(std::uint32_t combine, std::uint32_t numbers, std::uint32_t vector) {
    return {"reduction_apply", {{"COMBINE", combine}, {"NUMBERS", numbers}, {"VECTOR", vector}}};
}

ShaderVariant cumulative_variant(std::uint32_t combine, std::uint32_t numbers) {
    return {"cumulative", {{"COMBINE", combine}, {"NUMBERS", numbers}}};
}

}  // namespace

std::vector<bool> reduced_by(const operators::Descriptor& descriptor, std::size_t rank) {
    std::vector<bool> reduced(rank);
    if (descriptor.schema->find_field("Axes") == nullptr) {
        reduced.back() = true;
        return reduced;
    }
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        reduced[axis] = true;
    }
    return reduced;
}

core::Strides line_strides(const Reduction& reduction) {
    std::vector<std::size_t> order;
    for (std::size_t d = reduction.reduced.size(); d-- > 0;) {
        if (!reduction.reduced[d]) {
            order.push_back(d);
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return sort_key(dimension_of(reduction, a)) < sort_key(dimension_of(reduction, b));
    });
    core::Strides strides(reduction.reduced.size());
    std::int64_t count = 1;
    for (const std::size_t d : order) {
        strides[d] = count;
        count *= reduction.tensors[reduction_input].desc->sizes[d];
    }
    return strides;
}

ReductionShape split(const Reduction& reduction) {
    const core::Strides numbers = line_strides(reduction);
    ReductionShape shape;
    for (std::size_t d = reduction.reduced.size(); d-- > 0;) {
        SharedDimension<reduction_arrays> dimension = dimension_of(reduction, d);
        dimension.strides[reduction_line] = numbers[d];
        (reduction.reduced[d] ? shape.items : shape.lines).push_back(dimension);
    }
    sort_by_input(shape.lines);
    if (!reduction.in_order) {
        sort_by_input(shape.items);
    }
    shape.lines = merged(shape.lines);
    shape.items = merged(shape.items);
    return shape;
}

std::uint32_t vector_of(const ReductionShape& shape, std::uint32_t numbers, bool writes) {
    if (numbers == NUMBERS_TWO_WORDS) {
        return VECTOR_NONE;
    }
    std::vector<ReductionArray> arrays{reduction_input};
    if (writes) {
        arrays.push_back(reduction_output);
    }
    if (are_adjacent(shape.items, shape.lines, arrays)) {
        return VECTOR_ITEMS;
    }
    return are_adjacent(shape.lines, shape.items, arrays) ? VECTOR_LINES : VECTOR_NONE;
}

ReductionDivision divide(std::uint64_t lines, std::uint64_t items, bool side_by_side, std::uint64_t wanted_items,
                         const ReductionGroups& size_and_number) {
    // The minimum number of adjacent lines that makes reading them together pay.
    constexpr std::uint64_t fewest_side_by_side = 32;
    // Enough groups to keep a large GPU busy. If there are more, parts are not made smaller than this per thread.
    const std::uint64_t enough_groups = size_and_number.enough;
    constexpr std::uint64_t fewest_items_of_chunk = 16;
    ReductionDivision result;
    const std::uint64_t neighbours = side_by_side ? std::min(fewest_side_by_side, std::bit_ceil(lines)) : 1;
    const auto threads_for = [&](std::uint64_t items_each) {
        return std::min(size_and_number.size / neighbours, std::bit_ceil(groups_of(items, items_each)));
    };
    const auto line_groups_for = [&](std::uint64_t threads) {
        return groups_of(lines, size_and_number.size / threads);
    };
    result.threads_per_line = threads_for(wanted_items);
    while (result.threads_per_line < threads_for(few_items) &&
           line_groups_for(result.threads_per_line) < enough_groups) {
        result.threads_per_line *= 2;
    }
    result.lines_per_group = size_and_number.size / result.threads_per_line;
    const std::uint64_t line_groups = line_groups_for(result.threads_per_line);
    const std::uint64_t wanted_chunks = groups_of(enough_groups, line_groups);
    const std::uint64_t items_per_thread =
        std::max(fewest_items_of_chunk, groups_of(items, wanted_chunks * result.threads_per_line));
    result.items_per_chunk = result.threads_per_line * items_per_thread;
    result.chunks = line_groups >= enough_groups ? 1 : groups_of(items, result.items_per_chunk);
    if (result.chunks == 1) {
        result.items_per_chunk = items;
    }
    result.groups = line_groups * result.chunks;
    return result;
}

ReductionPlanner::ReductionPlanner(DispatchPlan& plan, Reduction reduction)
    : plan_(plan), reduction_(std::move(reduction)), shape_(split(reduction_)), line_count_(count_of(shape_.lines)) {
    ReductionParameters& parameters = reduction_.parameters;
    const core::DataType input_type = reduction_.tensors[reduction_input].desc->data_type;
    parameters.input_kind = kind_of(input_type);
    parameters.input_packing = packing_of(input_type);
    if (const core::TensorDesc* output_desc = reduction_.tensors[reduction_output].desc; output_desc != nullptr) {
        parameters.output_kind = kind_of(output_desc->data_type);
        parameters.output_packing = packing_of(output_desc->data_type);
    }
    const std::uint64_t line_size = count_of(shape_.items);
    parameters.line_size = static_cast<float>(line_size);
    parameters.part_line_count = static_cast<std::uint32_t>(line_count_);
    if (reduction_.is_backwards) {
        auto& strides = shape_.items.front().strides;
        const auto last = static_cast<std::int64_t>(line_size) - 1;
        parameters.input_start = static_cast<std::uint32_t>(last * strides[reduction_input]);
        parameters.output_start = static_cast<std::uint32_t>(last * strides[reduction_output]);
        for (std::int64_t& stride : strides) {
            stride = -stride;
        }
    }
}

/// True if neighbours in memory belong to different lines.
bool ReductionPlanner::is_side_by_side() const {
    const std::int64_t line_stride = shape_.lines.front().strides[reduction_input];
    const std::int64_t item_stride = std::abs(shape_.items.front().strides[reduction_input]);
    return line_stride != 0 && (item_stride == 0 || line_stride < item_stride);
}

bool ReductionPlanner::has_only(core::DataType type) const {
    return std::ranges::all_of(reduction_.tensors, [type](const ReductionTensor& tensor) {
        return tensor.desc == nullptr || tensor.desc->data_type == type;
    });
}

bool ReductionPlanner::can_spread() const {
    return reduction_.numbers == NUMBERS_REAL &&
           (reduction_.combine == COMBINE_SUM || reduction_.combine == COMBINE_EXPONENTIALS) &&
           shape_.items.size() == 1 && shape_.items.front().size >= fewest_spread &&
           shape_.items.front().size < most_spread && !reduction_.is_backwards &&
           (has_only(core::DataType::float32) || spreads_pairs());
}

/// True if words of two elements can be spread.
bool ReductionPlanner::spreads_pairs() const {
    return reduction_.combine == COMBINE_EXPONENTIALS && has_only(core::DataType::float16) && are_pairs(shape_);
}

ReductionPlanner::Pass ReductionPlanner::pass(std::uint32_t vector, std::uint64_t wanted_items,
                                              const ReductionGroups& groups) const {
    Pass result{.vector = vector, .parameters = reduction_.parameters, .division = {}, .group_size = groups.size};
    ReductionDimensions lines = shape_.lines;
    ReductionDimensions items = shape_.items;
    ReductionParameters& parameters = result.parameters;
    bool side_by_side = is_side_by_side();
    if (vector == VECTOR_ITEMS) {
        widen(items);
        side_by_side = false;
    } else if (vector == VECTOR_LINES) {
        parameters.output_step = static_cast<std::uint32_t>(lines.front().strides[reduction_output]);
        widen(lines);
        side_by_side = true;
    }
    const std::uint64_t item_count =
        vector == VECTOR_SPREAD ? groups_of(count_of(items), vector_size) : count_of(items);
    if (vector == VECTOR_SPREAD && spreads_pairs()) {
        count_pairs(lines, items);
    }
    put_dimensions(lines, reduction_.combine, parameters.line_dimension_count, std::data(parameters.line_dimensions));
    put_dimensions(items, reduction_.combine, parameters.item_dimension_count, std::data(parameters.item_dimensions));
    parameters.line_count = static_cast<std::uint32_t>(count_of(lines));
    parameters.word_count = static_cast<std::uint32_t>(count_of(items));
    parameters.item_count = static_cast<std::uint32_t>(item_count);
    parameters.lines_side_by_side = side_by_side ? 1 : 0;
    result.division = divide(count_of(lines), item_count, side_by_side, wanted_items, groups);
    parameters.part_count = static_cast<std::uint32_t>(result.division.chunks * line_count_);
    return result;
}

ShaderVariant ReductionPlanner::variant(std::uint32_t vector, std::uint32_t source, std::uint32_t target,
                                        std::uint32_t kept) const {
    const bool float32 = source == SOURCE_TENSOR &&
                         has_float32_variants(reduction_.combine, reduction_.numbers, vector) &&
                         has_only(core::DataType::float32);
    return reduction_variant(reduction_.combine, reduction_.numbers, vector, source, target, kept, float32 ? 1 : 0);
}

void ReductionPlanner::put(const Pass& pass, ShaderVariant shader, std::vector<BufferRef> buffers) {
    ReductionParameters parameters = pass.parameters;
    parameters.chunk_count = static_cast<std::uint32_t>(pass.division.chunks);
    parameters.items_per_chunk = static_cast<std::uint32_t>(pass.division.items_per_chunk);
    parameters.threads_per_line = static_cast<std::uint32_t>(pass.division.threads_per_line);
    // The number of columns is between one and two times the number of rows. Small groups have a single row.
    constexpr std::uint64_t fewest_columns = 8;
    const auto logarithm = static_cast<std::uint64_t>(std::countr_zero(pass.division.threads_per_line));
    const std::uint64_t columns = std::max(fewest_columns, std::uint64_t{1} << ((logarithm + 1) / 2));
    parameters.columns_per_line = static_cast<std::uint32_t>(std::min(pass.division.threads_per_line, columns));
    parameters.lines_per_group = static_cast<std::uint32_t>(pass.division.lines_per_group);
    parameters.rows_per_line = parameters.threads_per_line / parameters.columns_per_line;
    const auto shift_of = [](std::uint32_t power) { return static_cast<std::uint32_t>(std::countr_zero(power)); };
    const bool side_by_side = parameters.lines_side_by_side != 0;
    parameters.lane_shift = side_by_side ? shift_of(parameters.lines_per_group) : 0;
    parameters.line_shift = side_by_side ? 0 : shift_of(parameters.threads_per_line);
    Dispatch next;
    next.shader = std::move(shader);
    next.buffers = std::move(buffers);
    next.parameters = parameters_from(parameters);
    next.groups = pass.division.groups;
    plan_.dispatches.push_back(std::move(next));
}

std::vector<BufferRef> ReductionPlanner::buffers(BufferRef before, BufferRef after) const {
    const auto& tensors = reduction_.tensors;
    const BufferRef target = tensors[reduction_output].buffer;
    std::vector<BufferRef> result{tensors[reduction_input].buffer, before, after, target, target};
    if (reduction_.combine == COMBINE_GRADIENTS) {
        result.push_back(tensors[reduction_second].buffer);
        result.push_back(tensors[reduction_mean].buffer);
    }
    return result;
}

BufferRef ReductionPlanner::new_parts(std::uint64_t chunks) {
    plan_.temporaries.push_back(chunks * line_count_ * state_words(reduction_) * sizeof(std::uint32_t));
    return temporary(plan_.temporaries.size() - 1);
}

BufferRef ReductionPlanner::chunks_of(const Pass& pass, BufferRef sums) {
    const BufferRef parts = new_parts(pass.division.chunks);
    put(pass, variant(pass.vector, SOURCE_TENSOR, TARGET_PARTS), buffers(sums, parts));
    return parts;
}

/// Merges the partial results of lines; one group handles all parts of a line.
void ReductionPlanner::finish(BufferRef before, BufferRef after, std::uint64_t chunks, std::uint32_t target) {
    Pass last{.vector = VECTOR_NONE, .parameters = reduction_.parameters, .division = {}};
    ReductionDimensions chunk_dimension(1);
    chunk_dimension.front().size = chunks;
    ReductionParameters& parameters = last.parameters;
    put_dimensions(shape_.lines, reduction_.combine, parameters.line_dimension_count,
                   std::data(parameters.line_dimensions));
    put_dimensions(chunk_dimension, reduction_.combine, parameters.item_dimension_count,
                   std::data(parameters.item_dimensions));
    parameters.line_count = static_cast<std::uint32_t>(line_count_);
    parameters.item_count = static_cast<std::uint32_t>(chunks);
    parameters.parts_before_count = static_cast<std::uint32_t>(chunks * line_count_);
    parameters.part_count = static_cast<std::uint32_t>(line_count_);
    parameters.lines_side_by_side = line_count_ > 1 ? 1 : 0;
    last.division = divide(line_count_, chunks, line_count_ > 1, few_items);
    last.division.groups /= last.division.chunks;
    last.division.chunks = 1;
    last.division.items_per_chunk = chunks;
    put(last, variant(VECTOR_NONE, SOURCE_PARTS, target), buffers(before, after));
}

/// The last group of each line merges the partial results.
void ReductionPlanner::join(const Pass& pass) {
    const BufferRef parts = new_parts(pass.division.chunks);
    plan_.temporaries.push_back(pass.division.groups / pass.division.chunks * sizeof(std::uint32_t));
    plan_.zeroed.push_back(plan_.temporaries.size() - 1);
    std::vector<BufferRef> bound = buffers({}, parts);
    bound.push_back(temporary(plan_.zeroed.back()));
    put(pass, spread_sum_variant(TARGET_JOINED, pass.group_size), std::move(bound));
}

/// Adjacent groups traverse long lines together, which is the fastest way to read memory: the groups of all lines, or
/// all groups of a line.
void ReductionPlanner::spread_to_results() {
    // One for each multiprocessor of a large GPU; lines are not merged.
    constexpr ReductionGroups large{.size = large_group, .enough = 128};
    constexpr ReductionGroups few{.size = group_size, .enough = 512};
    // The threads of a line read memory together, if there are enough of them.
    constexpr std::uint64_t fewest_for_many = 2048;
    const std::uint64_t wanted_items = shape_.items.front().size >= fewest_for_many ? many_items : few_items;
    Pass whole = pass(VECTOR_SPREAD, wanted_items, few);
    if (whole.division.chunks > 1) {
        if (Pass in_large = pass(VECTOR_SPREAD, wanted_items, large); in_large.division.chunks == 1) {
            whole = std::move(in_large);
        }
    }
    if (whole.division.chunks > 1) {
        join(whole);
    } else {
        put(whole, spread_sum_variant(TARGET_RESULTS, whole.group_size), buffers({}, {}));
    }
}

void ReductionPlanner::to_results() {
    if (reduction_.combine == COMBINE_SUM && can_spread()) {
        spread_to_results();
        return;
    }
    const Pass whole = pass(vector_of(shape_, reduction_.numbers, false), many_items);
    if (whole.division.chunks == 1) {
        put(whole, variant(whole.vector, SOURCE_TENSOR, TARGET_RESULTS), buffers({}, {}));
    } else {
        finish(chunks_of(whole, {}), {}, whole.division.chunks, TARGET_RESULTS);
    }
}

BufferRef ReductionPlanner::to_parts(BufferRef sums) {
    std::uint32_t vector = vector_of(shape_, reduction_.numbers, false);
    const bool lines_have_means = reduction_.combine >= COMBINE_DEVIATIONS;
    const bool second_fits =
        reduction_.combine != COMBINE_GRADIENTS || are_adjacent(shape_.items, shape_.lines, {reduction_second});
    if (lines_have_means && (vector == VECTOR_LINES || !second_fits)) {
        vector = VECTOR_NONE;
    }
    const Pass whole = pass(vector, many_items);
    const BufferRef chunks = chunks_of(whole, sums);
    if (whole.division.chunks == 1) {
        return chunks;
    }
    const BufferRef parts = new_parts(1);
    finish(chunks, parts, whole.division.chunks, TARGET_PARTS);
    return parts;
}

BufferRef ReductionPlanner::to_chunks(std::uint64_t items_per_chunk) {
    Pass whole = pass(VECTOR_NONE, few_items);
    ReductionDivision& division = whole.division;
    division.groups /= division.chunks;
    division.items_per_chunk = items_per_chunk;
    division.chunks = groups_of(count_of(shape_.items), items_per_chunk);
    division.groups *= division.chunks;
    whole.parameters.part_count = static_cast<std::uint32_t>(division.chunks * line_count_);
    return chunks_of(whole, {});
}

/// KEPT_…, or 0 if a thread has more items than it can keep in registers, or does not need them again.
std::uint32_t ReductionPlanner::kept_items(const Pass& pass) const {
    const std::uint64_t items = groups_of(pass.parameters.item_count, pass.division.threads_per_line);
    if (reduction_.numbers != NUMBERS_REAL) {
        return 0;
    }
    if (items <= KEPT_FEW) {
        return KEPT_FEW;
    }
    const bool many_fit =
        reduction_.combine == COMBINE_EXPONENTIALS && (pass.vector == VECTOR_ITEMS || pass.vector == VECTOR_SPREAD);
    return items <= KEPT_MANY && many_fit ? KEPT_MANY : 0;
}

/// Returns false if threads cannot keep a line in registers.
bool ReductionPlanner::spread_to_elements() {
    if (reduction_.combine != COMBINE_EXPONENTIALS || !can_spread()) {
        return false;
    }
    // The fewer threads share a line, the less they wait for each other; but eight of them read memory together. Pairs
    // have half as many words.
    const bool in_pairs = spreads_pairs();
    const std::uint64_t fewest_for_many = in_pairs ? 256 : 512;
    const Pass whole = pass(VECTOR_SPREAD, shape_.items.front().size >= fewest_for_many ? KEPT_MANY : KEPT_FEW);
    const std::uint32_t kept = kept_items(whole);
    if (whole.division.chunks > 1 || kept == 0) {
        return false;
    }
    put(whole, spread_exponentials_variant(kept, in_pairs), buffers({}, {}));
    return true;
}

void ReductionPlanner::to_elements() {
    if (spread_to_elements()) {
        return;
    }
    const Pass whole = pass(vector_of(shape_, reduction_.numbers, true), few_items);
    if (whole.division.chunks == 1) {
        put(whole, variant(whole.vector, SOURCE_TENSOR, TARGET_ELEMENTS, kept_items(whole)), buffers({}, {}));
    } else {
        const BufferRef chunks = chunks_of(whole, {});
        const BufferRef parts = new_parts(1);
        finish(chunks, parts, whole.division.chunks, TARGET_PARTS);
        Pass last = whole;
        last.parameters.parts_before_count = static_cast<std::uint32_t>(line_count_);
        last.division.groups =
            groups_of(std::uint64_t{last.parameters.line_count} * last.parameters.item_count, group_size);
        put(last, apply_variant(reduction_.combine, reduction_.numbers, last.vector), buffers(parts, {}));
    }
}

void ReductionPlanner::to_cumulated() {
    constexpr std::uint64_t items_per_thread = CUMULATED_PER_THREAD;
    Pass whole = pass(VECTOR_NONE, few_items);
    ReductionDivision& division = whole.division;
    // Chunks consist of whole tiles.
    const std::uint64_t tile = items_per_thread * division.threads_per_line;
    const std::uint64_t line_groups = division.groups / division.chunks;
    BufferRef chunks;
    if (division.chunks > 1) {
        division.items_per_chunk = groups_of(division.items_per_chunk, tile) * tile;
        division.chunks = groups_of(whole.parameters.item_count, division.items_per_chunk);
        division.groups = line_groups * division.chunks;
        whole.parameters.part_count = static_cast<std::uint32_t>(division.chunks * line_count_);
    }
    if (division.chunks > 1) {
        chunks = chunks_of(whole, {});
        whole.parameters.parts_before_count = whole.parameters.part_count;
    }
    put(whole, cumulative_variant(reduction_.combine, reduction_.numbers), buffers(chunks, {}));
}

std::optional<std::string> too_many_elements(const operators::Descriptor& descriptor) {
    // Thread indices, which have 32 bits, may exceed the last element by the number that a group processes at once.
    constexpr std::uint64_t most = 0xffff0000;
    const std::uint64_t count = *core::element_count(descriptor.tensor("InputTensor")->sizes);
    if (count > most) {
        return fmt::format("the shaders count up to {} elements, and InputTensor has {}", most, count);
    }
    return std::nullopt;
}

std::vector<ShaderVariant> variants_of(const ReductionVariants& wanted) {
    std::vector<ShaderVariant> variants;
    const auto add = [&](std::uint32_t vector, std::uint32_t source, std::uint32_t target, std::uint32_t kept = 0) {
        const bool also_float32 =
            source == SOURCE_TENSOR && has_float32_variants(wanted.combine, wanted.numbers, vector);
        for (std::uint32_t float32 = 0; float32 <= (also_float32 ? 1u : 0u); ++float32) {
            variants.push_back(
                reduction_variant(wanted.combine, wanted.numbers, vector, source, target, kept, float32));
        }
    };
    std::vector<std::uint32_t> vectors{VECTOR_NONE};
    if (wanted.numbers != NUMBERS_TWO_WORDS) {
        vectors.push_back(VECTOR_ITEMS);
        if (wanted.combine < COMBINE_DEVIATIONS) {
            vectors.push_back(VECTOR_LINES);
        }
    }
    for (const std::uint32_t vector : vectors) {
        add(vector, SOURCE_TENSOR, TARGET_PARTS);
        if (wanted.results) {
            add(vector, SOURCE_TENSOR, TARGET_RESULTS);
        }
        if (wanted.elements) {
            add(vector, SOURCE_TENSOR, TARGET_ELEMENTS);
            if (wanted.numbers == NUMBERS_REAL) {
                add(vector, SOURCE_TENSOR, TARGET_ELEMENTS, KEPT_FEW);
            }
            if (wanted.combine == COMBINE_EXPONENTIALS && vector == VECTOR_ITEMS) {
                add(vector, SOURCE_TENSOR, TARGET_ELEMENTS, KEPT_MANY);
            }
            variants.push_back(apply_variant(wanted.combine, wanted.numbers, vector));
        }
    }
    if (wanted.results && wanted.numbers == NUMBERS_REAL && wanted.combine == COMBINE_SUM) {
        variants.push_back(spread_sum_variant(TARGET_RESULTS, group_size));
        variants.push_back(spread_sum_variant(TARGET_RESULTS, large_group));
        variants.push_back(spread_sum_variant(TARGET_JOINED, group_size));
    }
    if (wanted.elements && wanted.combine == COMBINE_EXPONENTIALS) {
        for (const std::uint32_t kept : std::initializer_list<std::uint32_t>{KEPT_FEW, KEPT_MANY}) {
            variants.push_back(spread_exponentials_variant(kept, false));
            for (const std::uint32_t half : std::initializer_list<std::uint32_t>{HALF_BY_INTEGERS, HALF_BY_DEVICE}) {
                variants.push_back(spread_exponentials_variant(kept, true, half));
            }
        }
    }
    add(VECTOR_NONE, SOURCE_PARTS, TARGET_PARTS);
    if (wanted.results) {
        add(VECTOR_NONE, SOURCE_PARTS, TARGET_RESULTS);
    }
    return variants;
}

std::vector<ShaderVariant> cumulative_variants(std::uint32_t combine) {
    std::vector<ShaderVariant> variants;
    for (const std::uint32_t numbers :
         std::initializer_list<std::uint32_t>{NUMBERS_REAL, NUMBERS_WORD, NUMBERS_TWO_WORDS}) {
        variants.push_back(reduction_variant(combine, numbers, VECTOR_NONE, SOURCE_TENSOR, TARGET_PARTS, 0, 0));
        variants.push_back(cumulative_variant(combine, numbers));
    }
    return variants;
}

}  // namespace dmlconform::d3d12
