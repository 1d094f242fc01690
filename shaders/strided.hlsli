// Addresses in strided arrays: see engine/d3d12/strided_dimensions.h.
//
// A dimension is a uint4: its size, and its strides in up to three arrays that are walked together. The innermost dimension comes first.
// Numbers are taken modulo 2^32, so that strides can be negative.

// Adds to `offsets` where the element with this row-major number lies.
#define ADD_STRIDED_OFFSETS(offsets, number, dimensions, count)                               \
    {                                                                                         \
        uint strided_rest = (number);                                                         \
        uint strided_d = 0;                                                                   \
        [loop] for (; strided_d + 1 < (count); ++strided_d) {                                 \
            const uint4 strided_here = dimensions[strided_d];                                 \
            const uint strided_quotient = strided_rest / strided_here.x;                      \
            offsets += (strided_rest - strided_quotient * strided_here.x) * strided_here.yzw; \
            strided_rest = strided_quotient;                                                  \
        }                                                                                     \
        offsets += strided_rest * dimensions[strided_d].yzw;                                  \
    }
