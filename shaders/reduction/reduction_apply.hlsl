// Reductions, last pass for lines that are spread over several groups: each thread computes an item of the output from
// its line's result.
//
// COMBINE, NUMBERS, VECTOR  see reduction_parameters.hlsli

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/strided.hlsli"
#include "shaders/reduction/reduction_parameters.hlsli"

#define SOURCE SOURCE_TENSOR
#define TARGET TARGET_ELEMENTS
#define KEPT 0
#define FLOAT32 0

#include "shaders/reduction/reduction_tensors.hlsli"
#include "shaders/reduction/reduction_elements.hlsli"

// A word of the line's part, or of those of four lines.
uint4 part_word(uint line_number, uint first) {
#if VECTOR == VECTOR_LINES
    const uint part = first + 4 * line_number;
    return uint4(parts_before[part], parts_before[part + 1], parts_before[part + 2], parts_before[part + 3]);
#else
    return parts_before[first + line_number];
#endif
}

State part_of_line(uint line_number) {
    State state = state_of(part_word(line_number, 0), 0, 0);
#if KEEPS_B
    state.b = part_word(line_number, parts_before_count);
#endif
#if KEEPS_C
    state.c = part_word(line_number, 2 * parts_before_count);
#endif
    return state;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < line_count * item_count) {
        const uint inner = lines_side_by_side ? line_count : item_count;
        const uint outer_number = number / inner;
        const uint inner_number = number - outer_number * inner;
        const uint line_number = lines_side_by_side ? inner_number : outer_number;
        const uint item = lines_side_by_side ? outer_number : inner_number;
        STRIDED_OFFSETS(line_offsets, ROWS, line_number, line_dimensions, line_dimension_count)
        const State result = line_result(part_of_line(line_number));
        store_item(line_offsets, item, new_element(element_at(line_offsets, item), index_of(item), result));
    }
}
