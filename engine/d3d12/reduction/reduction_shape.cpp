// Splits the dimensions of a reduction, and divides its work among thread groups.
#include "engine/d3d12/reduction/reduction_shape.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "engine/core/tensor.h"

namespace dmlconform::d3d12 {
namespace {

/// Repeated elements are outermost.
std::int64_t sort_key(const SharedDimension<reduction_arrays>& dimension) {
    const std::int64_t stride = dimension.strides[reduction_input];
    return stride == 0 ? std::numeric_limits<std::int64_t>::max() : stride;
}

/// By the input's memory order, innermost first.
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

}  // namespace

std::vector<bool> reduced_by(const operators::Descriptor& descriptor, std::size_t rank) {
    std::vector<bool> reduced(rank);
    if (!descriptor.has_field("Axes")) {
        reduced.back() = true;
        return reduced;
    }
    for (const std::uint32_t axis : descriptor.uints("Axes")) {
        reduced[axis] = true;
    }
    return reduced;
}

bool are_adjacent(const ReductionDimensions& along, const ReductionDimensions& others,
                  const std::vector<ReductionArray>& arrays) {
    return std::all_of(arrays.begin(), arrays.end(), [&](ReductionArray array) {
        const auto whole = [&](const auto& dimension) {
            return dimension.strides[array] % std::int64_t{reduction_vector_size} == 0;
        };
        return along.front().strides[array] == 1 && along.front().size % reduction_vector_size == 0 &&
               std::all_of(along.begin() + 1, along.end(), whole) && std::all_of(others.begin(), others.end(), whole);
    });
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

}  // namespace dmlconform::d3d12
