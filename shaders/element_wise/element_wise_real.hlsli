// Element-wise operators in FP32.

#include "shaders/element_wise/element_wise_functions.hlsli"
#include "shaders/common/quantization.hlsli"

#define Number float4
// Bounds have two words each, because 64-bit integers need them.
#define BOUND(n) REAL_ATTRIBUTE(2 * (n))

float4 number_from(Bits bits, uint4 operand) {
    float4 number;
    if (operand.x == KIND_FLOAT32) {
        number = asfloat(bits.low);
    } else if (operand.x == KIND_FLOAT16) {
        number = float_from_half(bits.low);
    } else if (operand.x == KIND_SIGNED) {
        number = float4(int4(widened(bits.low, operand)));
    } else {
        number = float4(bits.low);
    }
    return number;
}

Bits bits_from(float4 number, uint4 operand) {
    Bits bits;
    if (operand.x == KIND_FLOAT32) {
        bits.low = asuint(number);
    } else if (operand.x == KIND_FLOAT16) {
        bits.low = half_from_float(number);
    } else {
        bits.low = integer_from(number, operand) & MASK_OF(operand.y);
    }
    return bits;
}

// The result for an integer is rounded to an integer.
float4 scaled(float4 x, uint4 operand) {
    float4 result = x;
    if (has_scale_bias) {
        // Rounded separately, because division needs the parts of the same rounded number.
        precise const float4 moved = x * scale + bias;
        result = moved;
        if (operand.x <= KIND_SIGNED) {
            const uint4 integer = integer_from(result, operand);
            result = operand.x == KIND_SIGNED ? float4(int4(integer)) : float4(integer);
        }
    }
    return result;
}

float4 truth(bool4 condition) {
    return condition ? 1.0 : 0.0;
}

// False if one of them is NaN.
bool4 comparable(float4 x, float4 y) {
    return !(is_nan(x) || is_nan(y));
}

#if INPUTS == 1

float4 compute(float4 x) {
#if OPERATOR == ELEMENT_WISE_IDENTITY || OPERATOR == ACTIVATION_IDENTITY || OPERATOR == CAST
    return x;
#elif OPERATOR == ELEMENT_WISE_ABS
    return magnitude_of(x);
#elif OPERATOR == ELEMENT_WISE_NEGATE
    return asfloat(asuint(x) ^ 0x80000000);
#elif OPERATOR == ELEMENT_WISE_SIGN
    return is_nan(x) ? 0.0 : float4(sign(order_of(x)));
#elif OPERATOR == ELEMENT_WISE_CEIL
    return ceil(x);
#elif OPERATOR == ELEMENT_WISE_FLOOR
    return floor(x);
#elif OPERATOR == ELEMENT_WISE_ROUND
    return unless_nan(x, ATTRIBUTE(0) == DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN ? round(x)
                         : ATTRIBUTE(0) == DML_ROUNDING_MODE_TOWARD_ZERO          ? trunc(x)
                                                                                  : rounded_away(x));
#elif OPERATOR == ELEMENT_WISE_CLIP || OPERATOR == ELEMENT_WISE_CLIP1
    return greater(lesser(x, BOUND(1)), BOUND(0));
#elif OPERATOR == ELEMENT_WISE_THRESHOLD
    return greater(x, BOUND(0));
#elif OPERATOR == ELEMENT_WISE_IS_NAN
    return truth(is_nan(x));
#elif OPERATOR == ELEMENT_WISE_IS_INFINITY
    return truth(is_infinite(x) && (ATTRIBUTE(0) == DML_IS_INFINITY_MODE_EITHER ||
                                    (ATTRIBUTE(0) == DML_IS_INFINITY_MODE_POSITIVE) == (asint(x) > 0)));
#elif OPERATOR == ELEMENT_WISE_EXP
    return unless_nan(x, exp_exactly(x));
#elif OPERATOR == ELEMENT_WISE_LOG
    return log_exactly(x);
#elif OPERATOR == ELEMENT_WISE_SQRT
    return sqrt_exactly(x);
#elif OPERATOR == ELEMENT_WISE_RECIP
    return divide_exactly(1, x);
#elif OPERATOR == ELEMENT_WISE_CONSTANT_POW
    return power(x, REAL_ATTRIBUTE(0));
#elif OPERATOR == ELEMENT_WISE_SIN
    return unless_nan(x, near_zero(x, sine(x, 0)));
#elif OPERATOR == ELEMENT_WISE_COS
    return unless_nan(x, sine(x, 1));
#elif OPERATOR == ELEMENT_WISE_TAN
    return unless_nan(x, near_zero(x, tangent(x)));
#elif OPERATOR == ELEMENT_WISE_ASIN
    return unless_nan(x, arc_sine(x));
#elif OPERATOR == ELEMENT_WISE_ACOS
    return unless_nan(x, arc_cosine(x));
#elif OPERATOR == ELEMENT_WISE_ATAN
    return arc_tangent(x, 1);
#elif OPERATOR == ELEMENT_WISE_SINH
    return unless_nan(x, sinh_exactly(x));
#elif OPERATOR == ELEMENT_WISE_COSH
    return unless_nan(x, cosh_exactly(x));
#elif OPERATOR == ELEMENT_WISE_TANH || OPERATOR == ACTIVATION_TANH
    return unless_nan(x, near_zero(x, tanh_exactly(x)));
#elif OPERATOR == ELEMENT_WISE_ASINH
    return unless_nan(x, asinh_exactly(x));
#elif OPERATOR == ELEMENT_WISE_ACOSH
    return unless_nan(x, acosh_exactly(x));
#elif OPERATOR == ELEMENT_WISE_ATANH
    return unless_nan(x, atanh_exactly(x));
#elif OPERATOR == ELEMENT_WISE_ERF
    return unless_nan(x, error_function(x));
#elif OPERATOR == ACTIVATION_RELU
    return asint(x) > 0 && !is_nan(x) ? x : 0.0;
#elif OPERATOR == ACTIVATION_ELU
    return unless_nan(x, elu(x, REAL_ATTRIBUTE(0)));
#elif OPERATOR == ACTIVATION_CELU
    return is_nan(x) ? 0.0 : celu(x, REAL_ATTRIBUTE(0));
#elif OPERATOR == ACTIVATION_SCALED_ELU
    return unless_nan(x, scaled_elu(x, REAL_ATTRIBUTE(0), REAL_ATTRIBUTE(1)));
#elif OPERATOR == ACTIVATION_HARD_SIGMOID
    return lesser(greater(REAL_ATTRIBUTE(0) * x + REAL_ATTRIBUTE(1), 0), 1);
#elif OPERATOR == ACTIVATION_HARD_SWISH
    return unless_nan(x, hard_swish(x, REAL_ATTRIBUTE(0), REAL_ATTRIBUTE(1)));
#elif OPERATOR == ACTIVATION_LEAKY_RELU
    return unless_nan(x, leaky_relu(x, REAL_ATTRIBUTE(0)));
#elif OPERATOR == ACTIVATION_LINEAR
    return REAL_ATTRIBUTE(0) * x + REAL_ATTRIBUTE(1);
#elif OPERATOR == ACTIVATION_PARAMETRIC_SOFTPLUS
    return unless_nan(x, REAL_ATTRIBUTE(0) * softplus(REAL_ATTRIBUTE(1) * x));
#elif OPERATOR == ACTIVATION_SOFTPLUS
    return unless_nan(x, divide_exactly(softplus(REAL_ATTRIBUTE(0) * x), REAL_ATTRIBUTE(0)));
#elif OPERATOR == ACTIVATION_SCALED_TANH
    return unless_nan(x, REAL_ATTRIBUTE(0) * near_zero(REAL_ATTRIBUTE(1) * x, tanh_exactly(REAL_ATTRIBUTE(1) * x)));
#elif OPERATOR == ACTIVATION_SHRINK
    // Integers are rounded here, because storing would truncate their fractions.
    const float4 shrunk = is_nan(x) ? 0.0 : shrink(x, REAL_ATTRIBUTE(0), REAL_ATTRIBUTE(1));
    return operands[1].x <= KIND_SIGNED ? round(shrunk) : shrunk;
#elif OPERATOR == ACTIVATION_SIGMOID
    return unless_nan(x, times_sigmoid(1, x));
#elif OPERATOR == ACTIVATION_SOFTSIGN
    return unless_nan(x, divide_exactly(x, 1 + magnitude_of(x)));
#elif OPERATOR == ACTIVATION_SWISH
    return unless_nan(x, swish(x, REAL_ATTRIBUTE(0)));
#elif OPERATOR == ACTIVATION_GELU
    return unless_nan(x, gelu(x));
#elif OPERATOR == ACTIVATION_THRESHOLDED_RELU
    return is_nan(x) ? x : order_of(x) <= order_of(REAL_ATTRIBUTE(0)) && comparable(x, REAL_ATTRIBUTE(0)) ? 0.0 : x;
#elif OPERATOR == VALUE_SCALE_2D
    return x;
#endif
}

#if OPERATOR == VALUE_SCALE_2D
float4 value_scale(float4 x, uint channel) {
    const float channel_bias = channel == 0 ? REAL_ATTRIBUTE(1) : channel == 1 ? REAL_ATTRIBUTE(2) : REAL_ATTRIBUTE(3);
    return x * REAL_ATTRIBUTE(0) + channel_bias;
}
#endif

#elif INPUTS == 2

float4 compute(float4 x, float4 y) {
#if OPERATOR == ELEMENT_WISE_ADD
    return x + y;
#elif OPERATOR == ELEMENT_WISE_ADD1
    return activate(x + y, activation, activation_first, activation_second);
#elif OPERATOR == ELEMENT_WISE_SUBTRACT
    return x - y;
#elif OPERATOR == ELEMENT_WISE_MULTIPLY
    return x * y;
#elif OPERATOR == ELEMENT_WISE_DIVIDE
    return divide_exactly(x, y);
#elif OPERATOR == ELEMENT_WISE_MODULUS_TRUNCATE
    return truncated_modulus(x, y);
#elif OPERATOR == ELEMENT_WISE_MODULUS_FLOOR
    return floored_modulus(x, y);
#elif OPERATOR == ELEMENT_WISE_MEAN
    return (x + y) * 0.5;
#elif OPERATOR == ELEMENT_WISE_DIFFERENCE_SQUARE
    return (x - y) * (x - y);
#elif OPERATOR == ELEMENT_WISE_MIN
    return lesser(x, y);
#elif OPERATOR == ELEMENT_WISE_MAX
    return greater(x, y);
#elif OPERATOR == ELEMENT_WISE_POW
    return power(x, y);
#elif OPERATOR == ELEMENT_WISE_ATAN_YX
    return arc_tangent(x, y);
#elif OPERATOR == ELEMENT_WISE_LOGICAL_EQUALS
    return truth(comparable(x, y) && order_of(x) == order_of(y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_GREATER_THAN
    return truth(comparable(x, y) && order_of(x) > order_of(y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL
    return truth(comparable(x, y) && order_of(x) >= order_of(y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_LESS_THAN
    return truth(comparable(x, y) && order_of(x) < order_of(y));
#elif OPERATOR == ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL
    return truth(comparable(x, y) && order_of(x) <= order_of(y));
#elif OPERATOR == ACTIVATION_PARAMETERIZED_RELU
    return unless_nan(x, x >= 0 ? x : x * y);
#elif OPERATOR == ACTIVATION_RELU_GRAD
    return asint(x) > 0 && !is_nan(x) ? y : 0.0;
#elif OPERATOR == ELEMENT_WISE_CLIP_GRAD || OPERATOR == ELEMENT_WISE_CLIP_GRAD1
    const bool4 above = comparable(x, BOUND(0)) && order_of(x) > order_of(BOUND(0));
    const bool4 below = comparable(x, BOUND(1)) && order_of(x) < order_of(BOUND(1));
    return above && below ? y : 0.0;
#endif
}

#elif INPUTS == 3

// `z` is the zero point.
float4 compute(float4 x, float4 y, float4 z) {
#if OPERATOR == ELEMENT_WISE_QUANTIZE_LINEAR
    return quantized(x, y, z, 0);
#elif OPERATOR == QUANTIZE
    return quantized(x, y, z, LOWEST);
#elif OPERATOR == ELEMENT_WISE_DEQUANTIZE_LINEAR || OPERATOR == DEQUANTIZE
    return (x - z) * y;
#endif
}

#endif

#if OPERATOR == ELEMENT_WISE_QUANTIZED_LINEAR_ADD
float4 quantized_sum(float4 a, float4 a_scale, float4 a_zero, float4 b, float4 b_scale, float4 b_zero,
                     float4 output_scale, float4 output_zero) {
    precise const float4 first = (a - a_zero) * a_scale;
    precise const float4 second = (b - b_zero) * b_scale;
    precise const float4 sum = first + second;
    return quantized(sum, output_scale, output_zero, LOWEST);
}
#endif

#if OPERATOR == ADAM_OPTIMIZER
struct AdamStep {
    float4 parameters;
    float4 first_moment;
    float4 second_moment;
};

// 1 - beta^steps, accurate near 0. If it is 0, it is +0, whose sign matters in the division.
float4 bias_correction(float beta, float4 steps) {
    const float4 base = beta;
    const float4 correction = beta > 0 ? -expm1(steps * log_exactly(base)) : 1 - power(base, steps);
    return asfloat((asuint(correction) & 0x7fffffff) == 0 ? 0 : asuint(correction));
}

AdamStep adam_step(float4 parameters, float4 first_moment, float4 second_moment, float4 gradient, float4 steps) {
    const float rate = REAL_ATTRIBUTE(0);
    const float beta1 = REAL_ATTRIBUTE(1);
    const float beta2 = REAL_ATTRIBUTE(2);
    AdamStep result;
    precise const float4 first = beta1 * first_moment + (1 - beta1) * gradient;
    precise const float4 second = beta2 * second_moment + (1 - beta2) * gradient * gradient;
    result.first_moment = first;
    result.second_moment = second;
    const float4 correction =
        divide_exactly(sqrt_exactly(bias_correction(beta2, steps)), bias_correction(beta1, steps));
    const float4 corrected_rate = steps == 0 ? rate : rate * correction;
    const float4 divisor = sqrt_exactly(second) + REAL_ATTRIBUTE(3);
    precise const float4 change = corrected_rate * divide_exactly(first, divisor);
    precise const float4 changed = parameters - change;
    result.parameters = changed;
    return result;
}
#endif
