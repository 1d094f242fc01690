// Which elements are another number than 0. `input_kind` and `input_packing` are the constant buffer's.

// 1 where bits are set that make it so: the sign alone does not.
uint4 is_not_zero(uint4 bits) {
    const uint4 magnitude = input_kind >= KIND_FLOAT16 ? bits & (MASK_OF(input_packing) >> 1) : bits;
    return magnitude != 0 ? 1u : 0u;
}
