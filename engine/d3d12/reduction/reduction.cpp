// Plans reductions.
#include "engine/d3d12/reduction/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/element_format.h"

namespace dmlconform::d3d12 {
namespace {

/// Minimum length of a line whose items are spread over groups. Shorter lines do not benefit, and thread indices exceed
/// the last element.
constexpr std::uint64_t fewest_spread = 128;
constexpr std::uint64_t most_spread = std::uint64_t{1} << 31;

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
    dimensions.front().size /= reduction_vector_size;
    for (std::int64_t& stride : dimensions.front().strides) {
        stride *= std::int64_t{reduction_vector_size};
    }
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

}  // namespace

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

/// True if words of two elements can be spread. Sums never have pairs, because their outputs have no items.
bool ReductionPlanner::spreads_pairs() const {
    return has_only(core::DataType::float16) && are_pairs(shape_);
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
        vector == VECTOR_SPREAD ? groups_of(count_of(items), reduction_vector_size) : count_of(items);
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
    // Zero as well if a line has several chunks.
    const std::uint32_t kept = kept_items(whole);
    if (kept == 0) {
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
    const std::uint64_t count = *core::element_count(descriptor.sizes("InputTensor"));
    if (count > most) {
        return fmt::format("the shaders count up to {} elements, and InputTensor has {}", most, count);
    }
    return std::nullopt;
}

}  // namespace dmlconform::d3d12
