// Positions between elements, and conversion of elements to numbers. The includer has resample_parameters.hlsli in its
// constant buffer, and `source`.

// The position of an output element in the forward input, which may be out of range.
float any_position(uint number, uint dimension) {
    const uint4 row = scaled[2 * dimension];
    const uint4 second_row = scaled[2 * dimension + 1];
    precise const float moved = float(number) - asfloat(row.w);
    precise const float position = divide_exactly(float4(moved, 0, 0, 0), asfloat(row.z)).x - asfloat(second_row.x);
    return position;
}

float position_in_source(uint number, uint dimension) {
    return clamp(any_position(number, dimension), 0, float(scaled[2 * dimension].x - 1));
}

uint nearest_element(float position) {
    return uint(nearest == NEAREST_BELOW   ? floor(position)
                : nearest == NEAREST_ABOVE ? ceil(position) : floor(position + 0.5));
}

float number_at(uint offset) {
    const uint bits = LOAD(source, offset);
#if ELEMENTS == ELEMENTS_WORDS
    return asfloat(bits);
#else
    return kind == KIND_FLOAT16   ? float_from_half(bits).x
           : kind == KIND_SIGNED ? float(int(bits << 24) >> 24)
                                 : float(bits);
#endif
}

uint bits_of_number(float number) {
#if ELEMENTS == ELEMENTS_WORDS
    return asuint(number);
#else
    return kind == KIND_FLOAT16 ? half_from_float(number).x : uint(int(number)) & 0xff;
#endif
}
