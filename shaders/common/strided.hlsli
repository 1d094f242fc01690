// Addresses in strided arrays: see engine/d3d12/planning/strided_dimensions.h.
//
// A dimension is one or more rows of type uint4: its size, followed by its strides in the arrays of the iteration. The
// innermost dimension comes first. Strides are modulo 2^32, so that they can be negative.

// Adds to `offsets`, a uint3, the offsets of the element with this row-major index. For up to three arrays.
#define ADD_STRIDED_OFFSETS(offsets, number, dimensions, count)     \
    {                                                               \
        uint4 strided_offsets[1];                                   \
        strided_offsets[0] = 0;                                     \
        WALK_STRIDED(strided_offsets, 1, number, dimensions, count) \
        offsets += strided_offsets[0].yzw;                          \
    }

// Declares `offset_rows`, with `rows` rows: laid out like a dimension's rows, with offsets instead of strides and an
// unused first component.
#define STRIDED_OFFSETS(offset_rows, rows, number, dimensions, count)   \
    uint4 offset_rows[rows];                                            \
    {                                                                   \
        for (uint strided_row = 0; strided_row < rows; ++strided_row) { \
            offset_rows[strided_row] = 0;                               \
        }                                                               \
    }                                                                   \
    WALK_STRIDED(offset_rows, rows, number, dimensions, count)

#define WALK_STRIDED(offset_rows, rows, number, dimensions, count)                     \
    {                                                                                  \
        uint strided_rest = (number);                                                  \
        uint strided_d = 0;                                                            \
        [loop] for (; strided_d + 1 < (count); ++strided_d) {                          \
            const uint strided_size = dimensions[(rows) * strided_d].x;                \
            const uint strided_quotient = strided_rest / strided_size;                 \
            const uint strided_index = strided_rest - strided_quotient * strided_size; \
            ADD_STRIDED_ROWS(offset_rows, rows, strided_index, dimensions, strided_d)  \
            strided_rest = strided_quotient;                                           \
        }                                                                              \
        ADD_STRIDED_ROWS(offset_rows, rows, strided_rest, dimensions, strided_d)       \
    }

#define ADD_STRIDED_ROWS(offset_rows, rows, index, dimensions, d)                     \
    [unroll] for (uint strided_row = 0; strided_row < (rows); ++strided_row) {        \
        offset_rows[strided_row] += (index) * dimensions[(rows) * (d) + strided_row]; \
    }
