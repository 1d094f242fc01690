// FP64 addition in integer arithmetic, for devices without FP64. A number is two words, the low one first.

// Shifts right. The last bit is set if any lost bit was.
uint2 shifted_down(uint2 x, uint count) {
    uint2 result;
    uint lost;
    if (count == 0) {
        return x;
    }
    if (count < 32) {
        result = uint2(x.x >> count | x.y << (32 - count), x.y >> count);
        lost = x.x << (32 - count);
    } else if (count == 32) {
        result = uint2(x.y, 0);
        lost = x.x;
    } else if (count < 64) {
        result = uint2(x.y >> (count - 32), 0);
        lost = x.x | x.y << (64 - count);
    } else {
        result = 0;
        lost = x.x | x.y;
    }
    result.x |= lost != 0 ? 1 : 0;
    return result;
}

uint2 added(uint2 x, uint2 y) {
    const uint low = x.x + y.x;
    return uint2(low, x.y + y.y + (low < x.x ? 1 : 0));
}

uint2 subtracted(uint2 x, uint2 y) {
    return uint2(x.x - y.x, x.y - y.y - (x.x < y.x ? 1 : 0));
}

bool is_double_nan(uint2 x) {
    return (x.y & 0x7fffffff) > 0x7ff00000 || ((x.y & 0x7fffffff) == 0x7ff00000 && x.x != 0);
}

bool is_double_infinite(uint2 x) {
    return (x.y & 0x7fffffff) == 0x7ff00000 && x.x == 0;
}

// The significand with its leading 1, followed by three bits for rounding.
uint2 significand_of(uint2 x) {
    const uint leading = (x.y & 0x7ff00000) != 0 ? 0x100000 : 0;
    const uint2 significand = uint2(x.x, x.y & 0xfffff | leading);
    return uint2(significand.x << 3, significand.y << 3 | significand.x >> 29);
}

// Rounded to nearest, ties to even.
uint2 add_doubles(uint2 a, uint2 b) {
    if (is_double_nan(a) || is_double_nan(b) ||
        (is_double_infinite(a) && is_double_infinite(b) && a.y != b.y)) {
        return uint2(0, 0x7ff80000);
    }
    if (is_double_infinite(a)) {
        return a;
    }
    if (is_double_infinite(b)) {
        return b;
    }
    const bool swaps = (b.y & 0x7fffffff) > (a.y & 0x7fffffff) ||
                       ((b.y & 0x7fffffff) == (a.y & 0x7fffffff) && b.x > a.x);
    const uint2 large = swaps ? b : a;
    const uint2 small = swaps ? a : b;
    // Subnormals have the exponent of the smallest normal numbers.
    uint exponent = max(large.y >> 20 & 0x7ff, 1);
    const uint distance = exponent - max(small.y >> 20 & 0x7ff, 1);
    const uint2 addend = shifted_down(significand_of(small), distance);
    const bool differ = ((a.y ^ b.y) & 0x80000000) != 0;
    uint2 significand = differ ? subtracted(significand_of(large), addend) : added(significand_of(large), addend);
    uint sign = large.y & 0x80000000;
    if (significand.x == 0 && significand.y == 0) {
        return uint2(0, differ ? 0 : sign);
    }
    if (significand.y >= 0x1000000) {
        significand = shifted_down(significand, 1);
        ++exponent;
    }
    // Normalise, as far as the exponent allows.
    [loop] for (; significand.y < 0x800000 && exponent > 1; --exponent) {
        significand = uint2(significand.x << 1, significand.y << 1 | significand.x >> 31);
    }
    const uint behind = significand.x & 7;
    uint2 rounded = uint2(significand.x >> 3 | significand.y << 29, significand.y >> 3);
    const bool up = behind > 4 || (behind == 4 && (rounded.x & 1) != 0);
    rounded = added(rounded, uint2(up ? 1 : 0, 0));
    // A carry increments the exponent; without a leading 1 the number is subnormal.
    const uint2 number = added(uint2(0, (exponent - 1) << 20), rounded);
    if (number.y >= 0x7ff00000) {
        return uint2(0, sign | 0x7ff00000);
    }
    return uint2(number.x, sign | number.y);
}
