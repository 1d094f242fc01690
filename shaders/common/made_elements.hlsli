// Elements that threads compute one by one. The includer has a constant buffer with `packing`.
//
// ELEMENTS  their layout: see element_layouts.hlsli

#include "shaders/common/element_layouts.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"

#if ELEMENTS == ELEMENTS_WORDS
#define LOAD(buffer, offset) buffer[offset]
#else
#define LOAD(buffer, offset) LOAD_ELEMENT(buffer, packing, offset)
#endif

// Used by make(number), which the includer defines, to return its element's bits: either stores them, or leaves them in
// `result` for the thread, which combines neighbouring elements.
#if ELEMENTS == ELEMENTS_PACKED
#define PUT(offset, bits) result = (bits);
#elif ELEMENTS == ELEMENTS_NARROW
#define PUT(offset, bits) STORE_ELEMENT(target, packing, offset, bits)
#else
#define PUT(offset, bits) target[offset] = (bits);
#endif

// Converts FLOAT32 or FLOAT16.
float real_from(uint bits) {
#if ELEMENTS == ELEMENTS_WORDS
    return asfloat(bits);
#else
    return float_from_half(bits).x;
#endif
}

uint bits_from(float number) {
#if ELEMENTS == ELEMENTS_WORDS
    return asuint(number);
#else
    return half_from_float(number).x;
#endif
}

#define REAL(buffer, offset) real_from(LOAD(buffer, offset))
