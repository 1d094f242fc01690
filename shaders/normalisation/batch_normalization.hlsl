// Batch normalisations: the element-wise part, and the computations for each line of elements that share a mean. Sums
// over lines are computed by reduction.hlsl.
//
// STEP    see batch_normalization_parameters.hlsli
// VECTOR  1: a thread computes four adjacent elements of the same line. 0: it computes one

#include "shaders/common/activation.hlsli"
#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/normalisation/batch_normalization_parameters.hlsli"



#if VECTOR
#define Unit uint4
#else
#define Unit uint
#endif

RWStructuredBuffer<Unit> input : register(u0);
RWStructuredBuffer<Unit> second : register(u1);  // the gradient of the output, or the tensor to add
RWStructuredBuffer<uint> means : register(u2);
RWStructuredBuffer<uint> variances : register(u3);
RWStructuredBuffer<uint> scales : register(u4);
RWStructuredBuffer<uint> biases : register(u5);
RWStructuredBuffer<uint> sums : register(u6);        // of each line, in the form of COMBINE_SUM
RWStructuredBuffer<uint> line_parts : register(u7);  // in the form of COMBINE_DEVIATIONS or COMBINE_GRADIENTS
RWStructuredBuffer<Unit> output : register(u8);
RWStructuredBuffer<uint> output_words : register(u9);
RWStructuredBuffer<uint> second_output : register(u10);

#define INPUT_OFFSET offsets[0].y
#define SECOND_OFFSET offsets[0].z
#define MEAN_OFFSET offsets[0].w
#define VARIANCE_OFFSET offsets[1].x
#define SCALE_OFFSET offsets[1].y
#define BIAS_OFFSET offsets[1].z
#define LINE offsets[1].w
#define OUTPUT_OFFSET offsets[2].x
#define SECOND_OUTPUT_OFFSET offsets[2].y

float4 real_from(uint4 bits) {
    return kind == KIND_FLOAT16 ? float_from_half(bits) : asfloat(bits);
}

uint4 bits_from(float4 number) {
    return kind == KIND_FLOAT16 ? half_from_float(number) : asuint(number);
}

#if VECTOR
#define ELEMENTS(buffer, offset) real_from(four_of(buffer[(offset) >> (packing + 2)], packing, offset))
#else
#define ELEMENTS(buffer, offset) real_from(LOAD_ELEMENT(buffer, packing, offset))
#endif
// Results for the whole line.
#define NUMBER(buffer, offset) real_from(LOAD_ELEMENT(buffer, packing, offset))
#define SUM(buffer, offset) asfloat(uint4(buffer[offset], 0, 0, 0)).x

float4 rstd_of(float4 variance) {
    return 1 / sqrt_exactly(variance + epsilon);
}

#if STEP == STEP_NORMALIZE_FOUND || STEP == STEP_STATISTICS
struct Statistics {
    float mean;
    float variance;
};

// The deviations from the mean sum to 0, except for the mean's rounding error ("corrected two-pass algorithm": Chan,
// Golub & LeVeque 1983). The mean itself is not corrected: if the sum was exact, the apparent error consists of the
// deviations' roundings.
Statistics statistics_of(uint line_number) {
    Statistics result;
    result.mean = divide_exactly(float4(SUM(sums, line_number), 0, 0, 0), line_size).x;
    const float distances = SUM(line_parts, line_number);
    const float squares = SUM(line_parts, part_count + line_number);
    const float variance = (squares - distances * (distances / line_size)) / line_size;
    // Not by max, which would turn NaN into a number. The comparison uses bits, because NVIDIA's compiler turns a
    // floating-point comparison into max.
    result.variance = !is_nan(variance) && asint(variance) < 0 ? 0 : variance;
    return result;
}
#endif

void store(uint offset, float4 numbers) {
    const uint4 bits = bits_from(numbers);
#if VECTOR
    if (packing == 0) {
        output[offset / 4] = bits;
    } else {
        output_words[offset / 2] = bits.x | bits.y << 16;
        output_words[offset / 2 + 1] = bits.z | bits.w << 16;
    }
#else
    STORE_ELEMENT(output_words, packing, offset, bits.x)
#endif
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < element_count) {
        STRIDED_OFFSETS(offsets, ROWS, number, dimensions, dimension_count)
#if STEP == STEP_NORMALIZE || STEP == STEP_NORMALIZE_FOUND
#if STEP == STEP_NORMALIZE
        const float4 centred = ELEMENTS(input, INPUT_OFFSET) - NUMBER(means, MEAN_OFFSET);
        const float4 rstd = rstd_of(NUMBER(variances, VARIANCE_OFFSET));
#else
        const Statistics found = statistics_of(LINE);
        const float4 centred = ELEMENTS(input, INPUT_OFFSET) - found.mean;
        const float4 rstd = rstd_of(found.variance);
#endif
        float4 result = NUMBER(scales, SCALE_OFFSET) * rstd * centred + NUMBER(biases, BIAS_OFFSET);
        if (has_second) {
            result += ELEMENTS(second, SECOND_OFFSET);
        }
        store(OUTPUT_OFFSET, activate(result, activation, activation_first, activation_second));
#elif STEP == STEP_STATISTICS
        const Statistics found = statistics_of(LINE);
        store(OUTPUT_OFFSET, found.mean);
        STORE_ELEMENT(second_output, packing, SECOND_OUTPUT_OFFSET, bits_from(found.variance).x)
#elif STEP == STEP_GRADIENT
        const float4 rstd = rstd_of(NUMBER(variances, VARIANCE_OFFSET));
        store(OUTPUT_OFFSET, ELEMENTS(second, SECOND_OFFSET) * (NUMBER(scales, SCALE_OFFSET) * rstd));
#elif STEP == STEP_TRAINING_GRADIENT
        const float4 variance = NUMBER(variances, VARIANCE_OFFSET);
        const float4 centred = ELEMENTS(input, INPUT_OFFSET) - NUMBER(means, MEAN_OFFSET);
        const float mean_gradient = SUM(line_parts, LINE) / line_size;
        const float mean_product = SUM(line_parts, part_count + LINE) / line_size;
        const float4 gradient = ELEMENTS(second, SECOND_OFFSET) - mean_gradient;
        const float4 part_of_variance = centred * quotient_of(mean_product.xxxx, variance + epsilon);
        store(OUTPUT_OFFSET, NUMBER(scales, SCALE_OFFSET) * rstd_of(variance) * (gradient - part_of_variance));
#else
        const float4 rstd = rstd_of(NUMBER(variances, VARIANCE_OFFSET));
        store(OUTPUT_OFFSET, SUM(line_parts, part_count + LINE) * rstd);
        STORE_ELEMENT(second_output, packing, SECOND_OUTPUT_OFFSET, bits_from(SUM(line_parts, LINE)).x)
#endif
    }
}
