// The constant buffer of the shaders of reductions. C++ and HLSL both include this, within a structure that has the
// types. See reduction_parameters.hlsli.

uint line_count;            // with VECTOR_LINES: of fours
uint line_dimension_count;
uint item_count;            // of a line
uint item_dimension_count;
uint chunk_count;           // parts of a line that different groups reduce
uint items_per_chunk;
uint threads_per_line;      // a power of two
uint columns_per_line;      // threads in a row, of which several rows have a line
uint lines_per_group;
uint lines_side_by_side;    // 1: adjacent threads have adjacent lines, 0: adjacent items
uint input_kind;
uint input_packing;
uint input_start;           // where the first item of the first line is
uint output_kind;
uint output_packing;
uint output_start;
uint output_step;           // with VECTOR_LINES: from a line's result to the next
uint map;
uint finish;
uint parts_before_count;    // chunks of all lines at the source
uint part_count;            // and at the target
uint part_line_count;       // lines, each by itself
uint sign_flip;             // of keys, see reduction_states.hlsli
uint order_flip;
uint nan_above;
uint rank_flip;
uint is_exclusive;          // 1: cumulated items leave themselves out
float line_size;            // elements of a line
float epsilon;
uint zero_bits;             // 0, which no compiler of shaders knows
uint element_count;         // of a line, with VECTOR_SPREAD
uint lane_shift;            // a thread's number in its group has its number in its line from this bit on,
uint line_shift;            // and its line's number in the group from this one on
uint rows_per_line;         // of threads, as columns_per_line
uint unused0;
uint unused1;
uint4 line_dimensions[MOST_ROWS * MOST_DIMENSIONS];
uint4 item_dimensions[MOST_ROWS * MOST_DIMENSIONS];
