// Common part of the shaders of MEAN_VARIANCE_NORMALIZATION and its successors. A set is a normalisation group: the
// elements that share a mean.
//
// HALF    HALF_NONE if elements are FLOAT32. Elements of FLOAT16 are computed in FP32 and rounded once; then HALF says
//         how they are converted: see device_variants.hlsli.
// VECTOR  1: an item, which is what a thread reads at once, is 16 contiguous bytes of a set in input and output.
//         0: it is one element.
// FUSED   1: an activation follows.

#include "shaders/common/activation.hlsli"
#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/half_elements.hlsli"
#include "shaders/normalisation/mean_variance_normalization1_parameters.hlsli"

#if VECTOR
#define Item uint4
#else
#define Item uint
#endif

#if READS_UNITS
RWBuffer<uint4> input : register(u16);
#else
RWStructuredBuffer<Item> input : register(u0);
#endif
RWStructuredBuffer<uint> scale : register(u1);
RWStructuredBuffer<uint> bias : register(u2);
#if VECTOR
RWBuffer<uint4> output : register(u19);
#else
RWStructuredBuffer<uint> output : register(u3);
#endif
// For each chunk: mean, the mean's error, sum of squared deviations, count. For each set at the end: mean, the mean's
// error, 1 / sqrt(variance + epsilon).
RWStructuredBuffer<float4> chunks : register(u4);
RWStructuredBuffer<float4> statistics : register(u5);
// Scale and bias, if an item's parameters are one unit: see has_scale.
#if READS_UNITS
RWBuffer<uint4> scale_units : register(u22);
RWBuffer<uint4> bias_units : register(u23);
#else
RWStructuredBuffer<uint4> scale_units : register(u6);
RWStructuredBuffer<uint4> bias_units : register(u7);
#endif

// Offsets in the tensors.
struct Offsets {
    uint input;
    uint output;
    uint set;
    uint scale;
    uint bias;
};

void add_offsets(inout Offsets offsets, uint steps, uint4 dimension, uint4 parameters) {
    offsets.input += steps * dimension.y;
    offsets.output += steps * dimension.z;
    offsets.set += steps * dimension.w;
    offsets.scale += steps * parameters.x;
    offsets.bias += steps * parameters.y;
}

#define ADD_OFFSETS(offsets, number, dimensions, parameters, count)                                                \
    [branch] if ((count) == 1) {                                                                                   \
        add_offsets(offsets, number, dimensions[0], parameters[0]);                                                \
    } else {                                                                                                       \
        uint offsets_rest = (number);                                                                              \
        uint offsets_d = 0;                                                                                        \
        [loop] for (; offsets_d + 1 < (count); ++offsets_d) {                                                      \
            const uint offsets_quotient = offsets_rest / dimensions[offsets_d].x;                                  \
            add_offsets(offsets, offsets_rest - offsets_quotient * dimensions[offsets_d].x, dimensions[offsets_d], \
                      parameters[offsets_d]);                                                                      \
            offsets_rest = offsets_quotient;                                                                       \
        }                                                                                                          \
        add_offsets(offsets, offsets_rest, dimensions[offsets_d], parameters[offsets_d]);                          \
    }

Offsets offsets_of_set(uint set) {
    Offsets offsets = (Offsets)0;
    ADD_OFFSETS(offsets, set, set_dimensions, set_parameters, set_dimension_count)
    return offsets;
}

Offsets offsets_of_item(Offsets set, uint item) {
    Offsets offsets = set;
    ADD_OFFSETS(offsets, item, item_dimensions, item_parameters, item_dimension_count)
    return offsets;
}

// The elements of an item, as far as it has them; in a vector of FLOAT16 those with even numbers, while second_numbers
// are those with odd ones.
float4 numbers_of(uint4 bits) {
#if HALF
    return numbers_of_halves(bits);
#else
    return asfloat(bits);
#endif
}

#if VECTOR
float4 first_numbers(uint4 item) {
    return numbers_of(item);
}
#else
float4 first_numbers(uint item) {
    return numbers_of(uint4(item, 0, 0, 0));
}
#endif

#define TWO_VECTORS (VECTOR && HALF)

#if TWO_VECTORS
float4 second_numbers(uint4 item) {
    return numbers_of(item >> 16);
}
#else
// Items of this kind have no second numbers.
float4 second_numbers(Item item) {
    return 0;
}
#endif

#if VECTOR
float sum_of(float4 numbers) {
    return (numbers.x + numbers.y) + (numbers.z + numbers.w);
}
#else
float sum_of(float4 numbers) {
    return numbers.x;
}
#endif

// Loads an item of the input. In a FLOAT16 tensor without VECTOR it is one element.
Item load_item(uint offset) {
#if HALF && !VECTOR
    return LOAD_ELEMENT(input, 1, offset);
#else
    return input[offset];
#endif
}

// Elements of scale or bias, starting at `offset`, `gap` apart.
#if HALF
#define ONE_PARAMETER(buffer, offset) float_from_half(LOAD_ELEMENT(buffer, 1, offset).xxxx)
#define FOUR_PARAMETERS(buffer, offset, gap)                                                          \
    float_from_half(uint4(LOAD_ELEMENT(buffer, 1, offset), LOAD_ELEMENT(buffer, 1, (offset) + (gap)), \
                          LOAD_ELEMENT(buffer, 1, (offset) + 2 * (gap)), LOAD_ELEMENT(buffer, 1, (offset) + 3 * (gap))))
#define PARAMETERS_PER_ITEM 8
#define GAPS_PER_STEP 2
#else
#define ONE_PARAMETER(buffer, offset) asfloat(buffer[offset].xxxx)
#define FOUR_PARAMETERS(buffer, offset, gap)                                                     \
    asfloat(uint4(buffer[offset], buffer[(offset) + (gap)], buffer[(offset) + 2 * (gap)], buffer[(offset) + 3 * (gap)]))
#define PARAMETERS_PER_ITEM 4
#define GAPS_PER_STEP 1
#endif

// The parameters of an item, if there are any, in the form of first_numbers and second_numbers. Often they are all
// equal.
#if VECTOR
#define PUT_PARAMETERS(how, buffer, units, offset, step, first, second)                \
    [branch] if (how == PARAMETERS_IN_UNITS) {                                         \
        const Item parameter_unit = units[(offset) / PARAMETERS_PER_ITEM];             \
        first = first_numbers(parameter_unit);                                         \
        second = second_numbers(parameter_unit);                                       \
    } else if (how != 0) {                                                             \
        [branch] if (step == 0) {                                                      \
            first = ONE_PARAMETER(buffer, offset);                                     \
            second = first;                                                            \
        } else {                                                                       \
            first = FOUR_PARAMETERS(buffer, offset, GAPS_PER_STEP * step);             \
            second = FOUR_PARAMETERS(buffer, (offset) + (step), GAPS_PER_STEP * step); \
        }                                                                              \
    }
#else
#define PUT_PARAMETERS(how, buffer, units, offset, step, first, second) \
    [branch] if (how != 0) {                                            \
        first = ONE_PARAMETER(buffer, offset);                          \
    }
#endif

uint4 bits_of_results(float4 numbers) {
#if FUSED
    numbers = activate(numbers, activation, activation_first, activation_second);
#endif
#if HALF
    return halves_of_numbers(numbers);
#else
    return asuint(numbers);
#endif
}

// Normalises an item of the input, whose numbers these are. `set` has the statistics of the set.
Item normalised_numbers(float4 first, float4 second, float4 set, float4 first_scale, float4 second_scale,
                        float4 first_bias, float4 second_bias) {
    float4 numbers = ((first - set.x) - set.y) * (set.z * first_scale) + first_bias;
#if TWO_VECTORS
    const float4 others = ((second - set.x) - set.y) * (set.z * second_scale) + second_bias;
#if FUSED
    // A loop, because the code would otherwise be too long for the compiler.
    uint4 result = 0;
    [loop] for (uint part = 0; part < 2; ++part) {
        result |= bits_of_results(numbers) << (16 * part);
        numbers = others;
    }
    return result;
#else
    return bits_of_results(numbers) | bits_of_results(others) << 16;
#endif
#elif VECTOR
    return bits_of_results(numbers);
#else
    return bits_of_results(numbers).x;
#endif
}

// The same, with the parameters at that offset.
Item normalised_item(float4 first, float4 second, float4 set, Offsets offsets) {
    float4 first_scale = 1;
    float4 second_scale = 1;
    float4 first_bias = 0;
    float4 second_bias = 0;
    PUT_PARAMETERS(has_scale, scale, scale_units, offsets.scale, scale_step, first_scale, second_scale)
    PUT_PARAMETERS(has_bias, bias, bias_units, offsets.bias, bias_step, first_bias, second_bias)
    return normalised_numbers(first, second, set, first_scale, second_scale, first_bias, second_bias);
}

// The statistics of a set or chunk, from the rounded mean, the sums of deviations and of their squares, and the number
// of elements. `differ`: not all elements equal `element`.
float4 found(float mean, float sum, float squares, float count, bool differ, float element) {
    // The mean of equal numbers is that number, and their variance is 0, without rounding errors.
    const bool constant = subtract_mean && !differ;
    // Deviations sum to 0, except for the mean's rounding error ("corrected two-pass algorithm": Chan, Golub & LeVeque
    // 1983). An infinite mean is not corrected: the deviations of all finite numbers from it are infinite.
    const float lacking = !subtract_mean || constant || is_infinite(mean) ? 0 : sum / count;
    // Without a correction, the sum may be infinite or NaN although the squares are not.
    const float corrected = lacking == 0 ? squares : squares - sum * lacking;
    // Not by max, which would turn NaN into a number.
    return float4(constant ? element : mean, lacking, constant || corrected < 0 ? 0 : corrected, count);
}

// The final statistics of a set, from its mean, the mean's error, and the sum of squared deviations.
float4 finished(float mean, float lacking, float squares) {
    float rstd = 1;
    if (normalize_variance) {
        rstd = 1 / sqrt(squares / set_size + epsilon);
    }
    return float4(mean, lacking, rstd, 0);
}

// Defines a function that sums an array over `count` threads, a power of two, starting with a given thread. Four at a
// time, so that the loads overlap.
#define SUM_OVER_THREADS(name, Sum, array)                                                     \
    Sum name(uint first, uint distance, uint count) {                                          \
        Sum sum = 0;                                                                           \
        [loop] for (uint i = 0; i < count; i += 4) {                                           \
            const Sum sum_0 = array[first + i * distance];                                     \
            const Sum sum_1 = array[first + min(i + 1, count - 1) * distance];                 \
            const Sum sum_2 = array[first + min(i + 2, count - 1) * distance];                 \
            const Sum sum_3 = array[first + min(i + 3, count - 1) * distance];                 \
            sum += sum_0 + (count > 1 ? sum_1 : 0) + (count > 2 ? sum_2 + sum_3 : 0);          \
        }                                                                                      \
        return sum;                                                                            \
    }
