// Addresses in strided arrays: see engine/d3d12/strided_dimensions.h.
//
// A dimension is one row or more, a uint4 each: its size, and then its strides in the arrays that are walked together.
// The innermost dimension comes first. Numbers are taken modulo 2^32, so that strides can be negative.

// Adds to `offsets`, a uint3, where the element with this row-major number lies. For up to three arrays.
#define ADD_STRIDED_OFFSETS(offsets, number, dimensions, count)                               \
    {                                                                                         \
        uint4 strided_places[1];                                                              \
        strided_places[0] = 0;                                                                \
        WALK_STRIDED(strided_places, 1, number, dimensions, count)                            \
        offsets += strided_places[0].yzw;                                                     \
    }

// Declares `places`, with so many rows: like a dimension's, but for its first number, which means nothing.
#define STRIDED_OFFSETS(places, rows, number, dimensions, count)                              \
    uint4 places[rows];                                                                       \
    {                                                                                         \
        for (uint strided_row = 0; strided_row < rows; ++strided_row) {                       \
            places[strided_row] = 0;                                                          \
        }                                                                                     \
    }                                                                                         \
    WALK_STRIDED(places, rows, number, dimensions, count)

#define WALK_STRIDED(places, rows, number, dimensions, count)                                 \
    {                                                                                         \
        uint strided_rest = (number);                                                         \
        uint strided_d = 0;                                                                   \
        [loop] for (; strided_d + 1 < (count); ++strided_d) {                                 \
            const uint strided_size = dimensions[(rows) * strided_d].x;                       \
            const uint strided_quotient = strided_rest / strided_size;                        \
            const uint strided_index = strided_rest - strided_quotient * strided_size;        \
            ADD_STRIDED_ROWS(places, rows, strided_index, dimensions, strided_d)              \
            strided_rest = strided_quotient;                                                  \
        }                                                                                     \
        ADD_STRIDED_ROWS(places, rows, strided_rest, dimensions, strided_d)                   \
    }

#define ADD_STRIDED_ROWS(places, rows, index, dimensions, d)                                  \
    [unroll] for (uint strided_row = 0; strided_row < (rows); ++strided_row) {                \
        places[strided_row] += (index) * dimensions[(rows) * (d) + strided_row];              \
    }
