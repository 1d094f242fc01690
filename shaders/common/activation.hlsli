// The activation functions that can be fused into an operator, accurate to a few ULPs, also near zero.
//
// The intrinsics exp and log are built from exp2 and log2, and accurate to about 21 bits of the absolute value only.

#include "shaders/common/float32.hlsli"
#include "operator_numbers.hlsli"

// exp(x) as 2^n * (1 + rest).
struct Exponential {
    int4 n;
    float4 rest;
};

// exp(x + more), where `more` is a correction of x below its last bit.
Exponential exponential_of_sum(float4 x, float4 more) {
    // Beyond these limits the result is 0, even times a large number, or infinite, even its half.
    const float4 argument = clamp(x, -174, 90);
    const float4 n = round(argument * 1.44269504);
    // ln(2) as the sum of two numbers, the first of which has few enough bits for an exact product (Cody & Waite).
    const float4 r = argument - n * 0.693145751953125 - n * 1.42860677e-6 + more;
    // Taylor series: |r| <= ln(2) / 2, and the first omitted term is below r * 2^-26.
    const float4 series =
        0.5 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * (1.0 / 5040)))));
    Exponential result;
    result.n = int4(n);
    result.rest = r + r * r * series;
    return result;
}

Exponential exponential(float4 x) {
    return exponential_of_sum(x, 0);
}

float4 exp_exactly(float4 x) {
    const Exponential e = exponential(x);
    return times_power_of_two(1 + e.rest, e.n);
}

// exp(x) - 1.
float4 expm1(float4 x) {
    const Exponential e = exponential(x);
    const float4 power = times_power_of_two(1, clamp(e.n, -126, 64));
    const float4 small = power * e.rest + (power - 1);
    return e.n == 0 ? e.rest : e.n > 24 ? times_power_of_two(1 + e.rest, e.n) : small;
}

// ln(1 + t) for t from 0 to 1, as 2 artanh(t / (2 + t)).
float4 log1p(float4 t) {
    const float4 s = t / (2 + t);
    const float4 w = s * s;
    const float4 series =
        w * (1.0 / 3 +
             w * (1.0 / 5 + w * (1.0 / 7 + w * (1.0 / 9 + w * (1.0 / 11 + w * (1.0 / 13 + w * (1.0 / 15)))))));
    return 2 * (s + s * series);
}

// factor / (1 + exp(-x)). The factor is applied early, so that a small sigmoid is not flushed to zero if the product is
// not subnormal.
float4 times_sigmoid(float4 factor, float4 x) {
    const Exponential e = exponential(-abs(x));
    const float4 power = times_power_of_two(1 + e.rest, e.n);
    return (x >= 0 ? factor : times_power_of_two(factor * (1 + e.rest), e.n)) / (1 + power);
}

float4 swish(float4 x, float slope) {
    // Infinities follow the formula, which has no limit there.
    const bool4 infinite = (asuint(x) & 0x7fffffff) == 0x7f800000;
    const float4 scaled = slope * x;
    const float4 result = infinite ? x * times_sigmoid(1, scaled) : times_sigmoid(x, scaled);
    return is_nan(scaled) ? scaled : result;
}

// NaN gives NaN; so does the product of infinity and zero.
float4 softplus(float4 x) {
    const float4 result = max(x, 0) + log1p(exp_exactly(-abs(x)));
    return is_nan(x) ? x : result;
}

float4 tanh_exactly(float4 x) {
    const float4 e = expm1(-2 * abs(x));
    const float4 magnitude = -e / (2 + e);
    const float4 result = x < 0 ? -magnitude : magnitude;
    return is_nan(x) ? x : result;
}

// x times the cumulative normal distribution at x.
float4 gelu(float4 x) {
    // The tail beyond |x| is half of erfc(|x| / sqrt(2)), by the Chebyshev fit of Numerical Recipes (Press et al.),
    // section 6.2, whose relative error is below 1.2e-7 everywhere. exp(-x^2 / 2) needs more bits of x^2 than FP32 has,
    // so x is split: the square of its upper bits is exact.
    const float4 bounded = clamp(x, -18, 18);
    // Not by abs: if the bits of the absolute value are used as an integer, NVIDIA's compiler (580) takes the absolute
    // value of that integer instead.
    const float4 a = asfloat(asuint(bounded) & 0x7fffffff);
    const float4 top = asfloat(asuint(bounded) & 0x7ffff000);
    const float4 t = 1 / (1 + a * 0.353553391);
    const float4 fit =
        -1.26551223 +
        t * (1.00002368 +
             t * (0.37409196 +
                  t * (0.09678418 +
                       t * (-0.18628806 +
                            t * (0.27886807 +
                                 t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
    const Exponential square = exponential(-0.5 * top * top);
    const float4 rest = exp_exactly(-0.5 * (a - top) * (a + top) + fit);
    // The tail's share of x. It is taken from 1 and not from x, because what x times it is may be flushed to zero.
    const float4 tail = times_power_of_two((0.5 * t) * rest * (1 + square.rest), square.n);
    const float4 beyond = times_power_of_two(bounded * (0.5 * t) * rest * (1 + square.rest), square.n);
    // Infinities follow the formula, which gives NaN for -infinity.
    const bool4 infinite = (asuint(x) & 0x7fffffff) == 0x7f800000;
    precise const float4 share = x >= 0 ? 1.0 : 0.0;
    precise const float4 limit = x * share;
    return infinite ? limit : x >= 0 ? x * (1 - tail) : beyond;
}

float4 celu(float4 x, float alpha) {
    const float4 share = quotient_of(x, alpha.xxxx);
    // The formula's min() makes 0 of NaN, which expm1() does not keep.
    return max(x, 0) + (is_nan(share) ? 0.0 : min(alpha * expm1(share), 0));
}

float4 elu(float4 x, float alpha) {
    return x >= 0 ? x : alpha * expm1(x);
}

float4 scaled_elu(float4 x, float alpha, float gamma) {
    return gamma * (x > 0 ? x : alpha * expm1(x));
}

float4 hard_sigmoid(float4 x, float alpha, float beta) {
    return clamp(alpha * x + beta, 0, 1);
}

float4 hard_swish(float4 x, float alpha, float beta) {
    return x * clamp(alpha * x + beta, 0, 1);
}

float4 leaky_relu(float4 x, float alpha) {
    return x >= 0 ? x : alpha * x;
}

float4 shrink(float4 x, float bias, float threshold) {
    return x > threshold ? x - bias : x < -threshold ? x + bias : 0;
}

float4 softsign(float4 x) {
    return divide_exactly(x, 1 + abs(x));
}

float4 activate_number(float4 x, uint activation, float first, float second) {
    switch (activation) {
        case ACTIVATION_CELU:
            return celu(x, first);
        case ACTIVATION_ELU:
            return elu(x, first);
        case ACTIVATION_GELU:
            return gelu(x);
        case ACTIVATION_HARD_SIGMOID:
            return hard_sigmoid(x, first, second);
        case ACTIVATION_HARD_SWISH:
            return hard_swish(x, first, second);
        case ACTIVATION_LEAKY_RELU:
            return leaky_relu(x, first);
        case ACTIVATION_LINEAR:
            return first * x + second;
        case ACTIVATION_PARAMETRIC_SOFTPLUS:
            return first * softplus(second * x);
        case ACTIVATION_RELU:
            return max(x, 0);
        case ACTIVATION_SCALED_ELU:
            return scaled_elu(x, first, second);
        case ACTIVATION_SCALED_TANH:
            return first * tanh_exactly(second * x);
        case ACTIVATION_SHRINK:
            return shrink(x, first, second);
        case ACTIVATION_SIGMOID:
            return times_sigmoid(1, x);
        case ACTIVATION_SOFTPLUS:
            return divide_exactly(softplus(first * x), first);
        case ACTIVATION_SOFTSIGN:
            return softsign(x);
        case ACTIVATION_SWISH:
            return swish(x, first);
        case ACTIVATION_TANH:
            return tanh_exactly(x);
        case ACTIVATION_THRESHOLDED_RELU:
            return x <= first ? 0 : x;
        case ELEMENT_WISE_CLIP:
            return max(first, min(x, second));
        default:
            return x;
    }
}

// `activation` is the operator's number, or 0 for none. NaN stays NaN. `first` and `second` are the operator's
// attributes in the order of its struct.
float4 activate(float4 x, uint activation, float first, float second) {
    const float4 result = activate_number(x, activation, first, second);
    return (asuint(x) & 0x7fffffff) > 0x7f800000 ? x : result;
}
