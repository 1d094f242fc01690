// Units of WIDTH bits (8, 16, 32, 64 or 128) that are copied without interpretation. Offsets are in units.
//
// Narrow ones are in the low end of a word, and a word has PER_WORD of them.

#if WIDTH == 128
#define Unit uint4
#elif WIDTH == 64
#define Unit uint2
#else
#define Unit uint
#endif

#if WIDTH >= 32
#define LOAD_UNIT(buffer, offset) buffer[offset]
#define STORE_UNIT(buffer, offset, unit) buffer[offset] = unit;
#define PER_WORD 1
#else
#define PACKING (WIDTH == 16 ? 1 : 2)
#define LOAD_UNIT(buffer, offset) LOAD_ELEMENT(buffer, PACKING, offset)
#define STORE_UNIT(buffer, offset, unit) STORE_ELEMENT(buffer, PACKING, offset, unit)
#define PER_WORD (32 / WIDTH)
#endif

// A unit of a 16-byte pattern, which is a multiple of the unit's size.
#if WIDTH == 128
#define UNIT_OF_PATTERN(pattern) pattern
#elif WIDTH == 64
#define UNIT_OF_PATTERN(pattern) pattern.xy
#elif WIDTH == 32
#define UNIT_OF_PATTERN(pattern) pattern.x
#else
#define UNIT_OF_PATTERN(pattern) (pattern.x & MASK_OF(PACKING))
#endif
