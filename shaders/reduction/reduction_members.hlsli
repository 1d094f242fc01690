// The constant buffer of the shaders of reductions. C++ and HLSL both include this, within a structure that has the
// types. See reduction_parameters.hlsli.

uint line_count;            // with VECTOR_LINES, the number of groups of four lines
uint line_dimension_count;
uint item_count;            // items of a line
uint item_dimension_count;
uint chunk_count;           // parts of a line that different groups reduce
uint items_per_chunk;
uint threads_per_line;      // a power of two
uint columns_per_line;      // threads in a row; a line has several rows
uint lines_per_group;
uint lines_side_by_side;    // 1: adjacent threads have adjacent lines. 0: they have adjacent items
uint input_kind;
uint input_packing;
uint input_start;           // offset of the first item of the first line
uint output_kind;
uint output_packing;
uint output_start;
uint output_step;           // with VECTOR_LINES: stride between the results of lines
uint map;
uint finish;
uint parts_before_count;    // number of chunks of all lines in the source
uint part_count;            // the same in the target
uint part_line_count;       // number of lines, each counted separately
uint sign_flip;             // for sort keys, see reduction_states.hlsli
uint order_flip;
uint nan_above;
uint rank_flip;
uint is_exclusive;          // 1: cumulative results exclude the item itself
float line_size;            // number of elements in a line
float epsilon;
uint zero_bits;             // always 0, but unknown to the shader compiler
uint element_count;         // elements of a line, with VECTOR_SPREAD
uint lane_shift;            // the bits of a thread's index from this one on are its index in its line,
uint line_shift;            // and those from this one on are its line's index in the group
uint rows_per_line;         // rows of columns_per_line threads
uint unused0;
uint unused1;
uint4 line_dimensions[MOST_ROWS * MOST_DIMENSIONS];
uint4 item_dimensions[MOST_ROWS * MOST_DIMENSIONS];
