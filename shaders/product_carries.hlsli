// How sums of products of 8-bit integers stay exact in FP32, which is faster than integers are: from time to time a sum's
// upper part is carried over into integers, a byte for each sum.
//
// FP32 has all integers up to 2^24. What is left of a sum after a carry is at most 2^20, half of the carry's unit, and a
// product at most 255 * 255: 2^20 + 240 * 255 * 255 is less than 2^24. A byte holds the carries of PRODUCT_MOST_CARRIED
// terms: 127 * 2^21 is more than 4064 * 255 * 255 + 2^20.

#define CARRY_UNIT 2097152.0f
#define TURNS_PER_CARRY (240 / PART_DEPTH)

// The same added to a number of at most 2^22 in magnitude leaves the integer next to it in the lower part of the bits.
// Conversions take longer.
int4 integers_next_to(float4 numbers) {
    return asint(numbers + 12582912.0f) - 0x4b400000;
}

int4 carry_of(float4 sums) {
    return integers_next_to(sums * (1 / CARRY_UNIT));
}

// Added as a whole: a byte below 0 borrows from the next one, and totals_of gives that back.
uint packed_carries(int4 carry) {
    return uint(carry.x + (carry.y << 8) + (carry.z << 16) + (carry.w << 24));
}

// Of sums that were carried last.
int4 totals_of(float4 sums, uint packed) {
    int rest = int(packed);
    int4 carry;
    carry.x = rest << 24 >> 24;
    rest = (rest - carry.x) >> 8;
    carry.y = rest << 24 >> 24;
    rest = (rest - carry.y) >> 8;
    carry.z = rest << 24 >> 24;
    carry.w = (rest - carry.z) << 16 >> 24;
    return integers_next_to(sums) + (carry << 21);
}
