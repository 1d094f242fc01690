// Elements that threads compute one by one. The includer has a constant buffer with `packing`.
//
// ELEMENTS  their layout: see element_layouts.hlsli

#include "shaders/common/element_layouts.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"

#if ELEMENTS == ELEMENTS_WORDS
#define LOAD(buffer, place) buffer[place]
#else
#define LOAD(buffer, place) LOAD_ELEMENT(buffer, packing, place)
#endif

// Used by make(number), which the includer defines, to return its element's bits: either stores them, or leaves them in
// `result` for the thread, which combines neighbouring elements.
#if ELEMENTS == ELEMENTS_PACKED
#define PUT(place, bits) result = (bits);
#elif ELEMENTS == ELEMENTS_NARROW
#define PUT(place, bits) STORE_ELEMENT(target, packing, place, bits)
#else
#define PUT(place, bits) target[place] = (bits);
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

#define REAL(buffer, place) real_from(LOAD(buffer, place))
