// FP32 functions for element-wise operators, accurate to a few ULPs in their whole domain, also near zero. They consist
// of additions and multiplications, so that they are the same on all devices.

#define PI 3.14159265
#define LN2_HIGH 0.693145751953125
#define LN2_LOW 1.42860677e-6

// A signed integer with the order of the number. Drivers may flush subnormals in floating-point comparisons. -0 equals
// +0. NaN is above or below all numbers.
int4 order_of(float4 x) {
    const int4 bits = asint(x);
    return bits < 0 ? int4(0x80000000u - asuint(x)) : bits;
}

// `magnitude` must be positive or have the sign already. It is not masked: from two masks and an or, LLVM 19 (Mesa 25
// on Debian 13) generates a wrong AVX-512 instruction, which makes arc_tangent and erf return x without the result's
// bits.
float4 with_sign_of(float4 magnitude, float4 sign) {
    return asfloat(asuint(magnitude) | asuint(sign) & 0x80000000);
}

float4 magnitude_of(float4 x) {
    // Not by abs: if the bits of the absolute value are used as an integer, NVIDIA's compiler (580) takes the absolute
    // value of that integer instead.
    return asfloat(asuint(x) & 0x7fffffff);
}

// The result, or x itself if it is NaN.
float4 unless_nan(float4 x, float4 result) {
    return is_nan(x) ? x : result;
}

float4 not_a_number() {
    return asfloat(uint4(0x7fc00000, 0x7fc00000, 0x7fc00000, 0x7fc00000));
}

float4 infinity() {
    return asfloat(uint4(0x7f800000, 0x7f800000, 0x7f800000, 0x7f800000));
}

// A number wins over NaN, and the first of equal numbers wins.
float4 lesser(float4 a, float4 b) {
    return is_nan(a) ? b : is_nan(b) ? a : order_of(b) < order_of(a) ? b : a;
}
float4 greater(float4 a, float4 b) {
    return is_nan(a) ? b : is_nan(b) ? a : order_of(b) > order_of(a) ? b : a;
}

// A positive number as 2^exponent * significand, with a significand from sqrt(1/2) to sqrt(2).
struct Parts {
    float4 exponent;
    float4 significand;
};

Parts parts_of(float4 x) {
    // The bits of a subnormal count units of 2^-149.
    const bool4 subnormal = asuint(x) < 0x00800000;
    const uint4 bits = asuint(subnormal ? float4(asuint(x)) : x);
    const int4 exponent = int4(bits - 0x3f3504f3) >> 23;
    Parts parts;
    parts.exponent = float4(exponent - (subnormal ? 149 : 0));
    parts.significand = asfloat(bits - (uint4(exponent) << 23));
    return parts;
}

// ln(significand) = 2 artanh(s) = 2 s + 2 s * series(s^2) for s = (significand - 1) / (significand + 1).
float4 log_series(float4 w) {
    return w * (1.0 / 3 + w * (1.0 / 5 + w * (1.0 / 7 + w * (1.0 / 9 + w * (1.0 / 11)))));
}

float4 log_exactly(float4 x) {
    const Parts parts = parts_of(x);
    const float4 s = (parts.significand - 1) / (parts.significand + 1);
    const float4 small = 2 * s * log_series(s * s) + parts.exponent * LN2_LOW;
    const float4 result = parts.exponent * LN2_HIGH + (2 * s + small);
    const uint4 bits = asuint(x);
    return (bits & 0x7fffffff) == 0 ? -infinity()
           : bits > 0x7f800000      ? (is_nan(x) ? x : not_a_number())
           : bits == 0x7f800000     ? x
                                    : result;
}

bool4 is_whole(float4 x) {
    return floor(x) == x;
}

// abs(x)^y for finite numbers other than 0, by a logarithm with twice the precision of FP32.
float4 power_of_magnitude(float4 x, float4 y) {
    const Parts parts = parts_of(magnitude_of(x));
    precise const float4 f = parts.significand - 1;
    precise const float4 sum = 2 + f;
    precise const float4 sum_rest = f - (sum - 2);
    precise const float4 s = f / sum;
    precise const float4 s_rest = (remainder_of(f, s, sum) - s * sum_rest) / sum;
    precise const float4 first = parts.exponent * LN2_HIGH;
    precise const float4 second = 2 * s;
    precise const float4 high = first + second;
    precise const float4 back = high - first;
    precise const float4 lost = (first - (high - back)) + (second - back);
    precise const float4 low = lost + (2 * s_rest + (second * log_series(s * s) + parts.exponent * LN2_LOW));
    precise const float4 log_high = high + low;
    precise const float4 log_low = low - (log_high - high);
    // Beyond this limit, every power except that of 1 is 0 or infinite.
    const float4 bounded = clamp(y, -1099511627776.0, 1099511627776.0);
    precise const float4 product = bounded * log_high;
    precise const float4 product_rest = bounded * log_low - remainder_of(product, bounded, log_high);
    const Exponential e = exponential_of_sum(product, abs(product) < 174 ? product_rest : 0);
    return times_power_of_two(1 + e.rest, e.n);
}

float4 power(float4 x, float4 y) {
    const bool4 negative = asint(x) < 0;
    const bool4 whole = is_whole(y);
    const bool4 odd = whole && !is_whole(y * 0.5);
    const bool4 y_is_zero = (asuint(y) & 0x7fffffff) == 0;
    const bool4 x_is_zero = (asuint(x) & 0x7fffffff) == 0;
    const bool4 at_zero = asint(y) > 0;
    const float4 limit = at_zero == x_is_zero ? 0.0 : infinity();
    float4 result = x_is_zero || is_infinite(x) ? limit : power_of_magnitude(x, y);
    result = negative && odd ? -result : result;
    result = negative && !x_is_zero && !whole ? not_a_number() : result;
    result = is_nan(x) ? x : is_nan(y) ? y : result;
    return y_is_zero ? 1.0 : result;
}

float4 sinh_exactly(float4 x) {
    const float4 a = magnitude_of(x);
    const Exponential e = exponential(a);
    const float4 large = times_power_of_two(1 + e.rest, e.n - 1) - 0.5 * exp_exactly(-a);
    const float4 m = expm1(min(a, 1));
    return with_sign_of(a < 0.0001 ? a : a < 1 ? 0.5 * (m + m / (1 + m)) : large, x);
}

float4 cosh_exactly(float4 x) {
    const float4 a = magnitude_of(x);
    const Exponential e = exponential(a);
    return times_power_of_two(1 + e.rest, e.n - 1) + 0.5 * exp_exactly(-a);
}

float4 asinh_exactly(float4 x) {
    const float4 a = magnitude_of(x);
    const float4 b = min(a, 10000);
    const float4 root = sqrt_exactly(b * b + 1);
    const float4 small = log1p(min(b + b * b / (1 + root), 1));
    const float4 large = log_exactly(a > 10000 ? a : b + root) + (a > 10000 ? 0.693147181 : 0.0);
    return with_sign_of(a < 0.0001 ? a : a <= 0.75 ? small : large, x);
}

float4 acosh_exactly(float4 x) {
    const float4 b = min(x, 10000);
    const float4 above = b - 1;
    const float4 root = sqrt_exactly(max(above * (b + 1), 0));
    const float4 large = log_exactly(x > 10000 ? x : b + root) + (x > 10000 ? 0.693147181 : 0.0);
    return x < 1 ? not_a_number() : above <= 0.25 ? log1p(min(above + root, 1)) : large;
}

float4 atanh_exactly(float4 x) {
    const float4 a = magnitude_of(x);
    const float4 b = min(a, 0.3);
    const float4 small = 0.5 * log1p(2 * b / (1 - b));
    const float4 large = 0.5 * log_exactly((1 + a) / (1 - min(a, 0.99999994)));
    const float4 magnitude = a < 0.0001 ? a : a < 0.3 ? small : a == 1 ? infinity() : large;
    return a > 1 ? not_a_number() : with_sign_of(magnitude, x);
}

// An angle as a number of quarter turns and what is left, from -pi/4 to pi/4. Good to 2000 quarter turns; beyond 10^6
// any angle is as good.
struct Angle {
    int4 quarters;
    float4 rest;
};

Angle angle_of(float4 x) {
    const float4 bounded = clamp(x, -1e6, 1e6);
    const float4 n = round(bounded * 0.636619772);
    // pi / 2 as the sum of three numbers. The products of n with the first two are exact (Cody & Waite).
    precise const float4 rest =
        ((bounded - n * 1.5703125) - n * 4.837512969970703125e-4) - n * 7.54978995489188216e-8;
    Angle angle;
    angle.quarters = int4(n);
    angle.rest = clamp(rest, -0.8, 0.8);
    return angle;
}

float4 sine_of_rest(float4 r) {
    const float4 w = r * r;
    return r + r * w * (-1.0 / 6 + w * (1.0 / 120 + w * (-1.0 / 5040 + w * (1.0 / 362880))));
}

float4 cosine_of_rest(float4 r) {
    const float4 w = r * r;
    return 1 + w * (-0.5 + w * (1.0 / 24 + w * (-1.0 / 720 + w * (1.0 / 40320 + w * (-1.0 / 3628800)))));
}

float4 sine(float4 x, int quarters_more) {
    const Angle angle = angle_of(x);
    const int4 quarters = angle.quarters + quarters_more;
    const float4 magnitude = (quarters & 1) != 0 ? cosine_of_rest(angle.rest) : sine_of_rest(angle.rest);
    const float4 result = (quarters & 2) != 0 ? -magnitude : magnitude;
    return is_infinite(x) ? not_a_number() : result;
}

float4 tangent(float4 x) {
    const Angle angle = angle_of(x);
    const float4 s = sine_of_rest(angle.rest);
    const float4 c = cosine_of_rest(angle.rest);
    const bool4 odd = (angle.quarters & 1) != 0;
    const float4 result = (odd ? -c : s) / (odd ? s : c);
    return is_infinite(x) ? not_a_number() : result;
}

// Replaces the result by x near 0, where a function equals x but its formula would be flushed to zero.
float4 near_zero(float4 x, float4 result) {
    return magnitude_of(x) < 0.0001 ? x : result;
}

// The angle of (x, y), by the series of Cephes (Moshier) below tan(pi / 8).
float4 arc_tangent(float4 y, float4 x) {
    const bool4 steep = (asuint(y) & 0x7fffffff) > (asuint(x) & 0x7fffffff);
    float4 large = magnitude_of(steep ? y : x);
    float4 small = magnitude_of(steep ? x : y);
    const float4 factor = large > 1e30 ? 1e-20 : large < 1e-20 ? 1e18 : 1.0;
    const bool4 both_infinite = is_infinite(small);
    const float4 divided = small * factor / (large * factor);
    const float4 ratio = both_infinite ? 1.0 : (asuint(large) == 0 || is_infinite(large)) ? 0.0 : divided;
    const bool4 wide = ratio > 0.414213562;
    const float4 t = wide ? (ratio - 1) / (ratio + 1) : ratio;
    const float4 z = t * t;
    const float4 series =
        z * (-3.33329491539e-1 + z * (1.99777106478e-1 + z * (-1.38776856032e-1 + z * 8.05374449538e-2)));
    float4 angle = (wide ? 0.785398163 : 0.0) + (t + t * series);
    angle = steep ? 1.57079633 - angle : angle;
    angle = asint(x) < 0 ? PI - angle : angle;
    return is_nan(x) ? x : is_nan(y) ? y : with_sign_of(angle, y);
}

// asin(a) = a + a * series(a^2) for a up to 1/2 (Cephes).
float4 arc_sine_series(float4 z) {
    return z * (1.6666752422e-1 +
                z * (7.4953002686e-2 + z * (4.5470025998e-2 + z * (2.4181311049e-2 + z * 4.2163199048e-2))));
}

// Half of acos(a), for arguments above 1/2.
float4 half_arc_cosine(float4 a) {
    const float4 z = 0.5 * (1 - min(a, 1));
    const float4 s = sqrt_exactly(z);
    return s + s * arc_sine_series(z);
}

float4 arc_sine(float4 x) {
    const float4 a = magnitude_of(x);
    const float4 magnitude = a > 0.5 ? 1.57079633 - 2 * half_arc_cosine(a) : a + a * arc_sine_series(a * a);
    return a > 1 ? not_a_number() : with_sign_of(a < 0.0001 ? a : magnitude, x);
}

float4 arc_cosine(float4 x) {
    const float4 a = magnitude_of(x);
    const float4 ends = asint(x) < 0 ? PI - 2 * half_arc_cosine(a) : 2 * half_arc_cosine(a);
    return a > 1 ? not_a_number() : a > 0.5 ? ends : 1.57079633 - (x + x * arc_sine_series(x * x));
}

// Up to 1 by the series of Cephes, above by the complement, as in gelu.
float4 error_function(float4 x) {
    const float4 a = min(magnitude_of(x), 10);
    const float4 w = a * a;
    const float4 inner =
        a * (1.128379165726710 +
             w * (-3.761262582423300e-1 +
                  w * (1.128358514861418e-1 +
                       w * (-2.685381193529856e-2 +
                            w * (5.188327685732524e-3 + w * (-8.010193625184903e-4 + w * 7.853861353153693e-5))))));
    const float4 t = 1 / (1 + 0.5 * a);
    const float4 fit =
        -1.26551223 +
        t * (1.00002368 +
             t * (0.37409196 +
                  t * (0.09678418 +
                       t * (-0.18628806 +
                            t * (0.27886807 +
                                 t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
    const float4 outer = 1 - t * exp_exactly(fit - w);
    return with_sign_of(a < 1 ? inner : outer, x);
}

// Rounds to the nearest integer, ties away from zero. abs(x) + 1/2 would be rounded itself.
float4 rounded_away(float4 x) {
    const float4 whole = trunc(x);
    return magnitude_of(x - whole) >= 0.5 ? whole + with_sign_of(1, x) : whole;
}

// The exact remainder of a truncated division, by dividing significands digit by digit.
float4 truncated_modulus(float4 a, float4 b) {
    const uint4 a_bits = asuint(a) & 0x7fffffff;
    const uint4 b_bits = asuint(b) & 0x7fffffff;
    int4 a_exponent = max(int4(a_bits >> 23), 1);
    int4 b_exponent = max(int4(b_bits >> 23), 1);
    uint4 rest = a_bits & 0x7fffff | (a_bits >= 0x800000 ? 0x800000u : 0u);
    uint4 divisor = max(b_bits & 0x7fffff | (b_bits >= 0x800000 ? 0x800000u : 0u), 1);
    // Normalise the significand of a subnormal number.
    [loop] while (any(divisor < 0x800000)) {
        b_exponent -= divisor < 0x800000 ? 1 : 0;
        divisor <<= divisor < 0x800000 ? 1 : 0;
    }
    const int4 steps = a_exponent - b_exponent;
    const int most = max(max(steps.x, steps.y), max(steps.z, steps.w));
    rest = steps >= 0 && rest >= divisor ? rest - divisor : rest;
    [loop] for (int step = 0; step < most; ++step) {
        const uint4 next = 2 * rest;
        rest = step < steps ? (next >= divisor ? next - divisor : next) : rest;
    }
    const float4 small = times_power_of_two(float4(rest), b_exponent - 150);
    const float4 result = with_sign_of(a_bits < b_bits ? a : small, a);
    const bool4 undefined = b_bits == 0 || a_bits >= 0x7f800000;
    return is_nan(a) ? a : is_nan(b) ? b : undefined ? not_a_number() : result;
}

float4 floored_modulus(float4 a, float4 b) {
    const float4 rest = truncated_modulus(a, b);
    const bool4 other_side = (asuint(rest) & 0x7fffffff) != 0 && (asint(rest) < 0) != (asint(b) < 0);
    return other_side ? rest + b : rest;
}
