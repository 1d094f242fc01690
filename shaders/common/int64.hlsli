// Four 64-bit integers, each in two words. Signed ones are in two's complement.

struct Int64 {
    uint4 low;
    uint4 high;
};

Int64 int64_of(uint4 low, uint4 high) {
    Int64 result;
    result.low = low;
    result.high = high;
    return result;
}

Int64 small_int64(uint4 low) {
    return int64_of(low, 0);
}

Int64 choose(bool4 condition, Int64 x, Int64 y) {
    return int64_of(condition ? x.low : y.low, condition ? x.high : y.high);
}

bool4 is_zero(Int64 x) {
    return (x.low | x.high) == 0;
}

bool4 equal(Int64 x, Int64 y) {
    return x.low == y.low && x.high == y.high;
}

bool4 less_unsigned(Int64 x, Int64 y) {
    return x.high < y.high || (x.high == y.high && x.low < y.low);
}

bool4 less_signed(Int64 x, Int64 y) {
    return int4(x.high) < int4(y.high) || (x.high == y.high && x.low < y.low);
}

Int64 add(Int64 x, Int64 y) {
    const uint4 low = x.low + y.low;
    return int64_of(low, x.high + y.high + (low < x.low ? 1u : 0u));
}

Int64 negate(Int64 x) {
    return int64_of(0 - x.low, ~x.high + (x.low == 0 ? 1u : 0u));
}

Int64 subtract(Int64 x, Int64 y) {
    return int64_of(x.low - y.low, x.high - y.high - (x.low < y.low ? 1u : 0u));
}

// The 64-bit products of 32-bit numbers.
Int64 wide_product(uint4 x, uint4 y) {
    const uint4 x_low = x & 0xffff;
    const uint4 y_low = y & 0xffff;
    const uint4 x_high = x >> 16;
    const uint4 y_high = y >> 16;
    const uint4 first = x_low * y_low;
    const uint4 second = x_high * y_low + (first >> 16);
    const uint4 third = x_low * y_high + (second & 0xffff);
    return int64_of(third << 16 | first & 0xffff, x_high * y_high + (second >> 16) + (third >> 16));
}

Int64 multiply(Int64 x, Int64 y) {
    Int64 product = wide_product(x.low, y.low);
    product.high += x.low * y.high + x.high * y.low;
    return product;
}

// Shifts by 0 to 63.
Int64 shift_left(Int64 x, uint4 count) {
    const uint4 few = count & 31;
    const uint4 carried = few == 0 ? 0 : x.low >> (32 - few);
    const uint4 high = x.high << few | carried;
    return int64_of(count < 32 ? x.low << few : 0, count < 32 ? high : x.low << few);
}

Int64 shift_right(Int64 x, uint4 count) {
    const uint4 few = count & 31;
    const uint4 carried = few == 0 ? 0 : x.high << (32 - few);
    const uint4 low = x.low >> few | carried;
    return int64_of(count < 32 ? low : x.high >> few, count < 32 ? x.high >> few : 0);
}

struct Division {
    Int64 quotient;
    Int64 rest;
};

// Divides unsigned numbers digit by digit. Division by 0 gives all ones, with the remainder x.
Division divide_unsigned(Int64 x, Int64 y) {
    Division result;
    result.quotient = x;
    result.rest = small_int64(0);
    [loop] for (uint digit = 0; digit < 64; ++digit) {
        // Remainder and dividend shift left together; bits of the quotient enter from the right. No bit of the
        // remainder is lost: it is less than y, and not more than the digits of x so far, 63 before the last shift.
        Int64 rest = shift_left(result.rest, 1);
        rest.low |= result.quotient.high >> 31;
        const bool4 goes = !less_unsigned(rest, y);
        result.quotient = shift_left(result.quotient, 1);
        result.quotient.low |= goes ? 1u : 0u;
        result.rest = choose(goes, subtract(rest, y), rest);
    }
    return result;
}

Int64 negate_if(bool4 condition, Int64 x) {
    return choose(condition, negate(x), x);
}

// The index of the highest set bit; 0 for 0.
uint4 highest_bit(uint4 x) {
    uint4 result = 0;
    [loop] for (uint step = 16; step > 0; step /= 2) {
        const bool4 higher = x >> step != 0;
        result += higher ? step : 0u;
        x = higher ? x >> step : x;
    }
    return result;
}

uint4 highest_bit(Int64 x) {
    return x.high != 0 ? 32 + highest_bit(x.high) : highest_bit(x.low);
}
