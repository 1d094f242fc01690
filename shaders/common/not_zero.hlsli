// Tests elements for being non-zero. `input_kind` and `input_packing` are in the constant buffer.

// 1 for elements other than 0 and -0.
uint4 is_not_zero(uint4 bits) {
    const uint4 magnitude = input_kind >= KIND_FLOAT16 ? bits & (MASK_OF(input_packing) >> 1) : bits;
    return magnitude != 0 ? 1u : 0u;
}
