// What the shaders of MEAN_VARIANCE_NORMALIZATION and its successors share. A set is the elements that share one mean.
//
// HALF    1: elements are FLOAT16, computed with in FP32 and rounded once. 0: FLOAT32.
// VECTOR  1: an item, which is what a thread reads at once, is 16 bytes of the input that lie side by side in a set, in the output
//         too. 0: it is one element.
// FUSED   1: an activation follows.

#include "activation.hlsli"
#include "dispatch.hlsli"
#include "elements.hlsli"
#include "float16.hlsli"

#define GROUP_SIZE 256
#define MOST_DIMENSIONS 8

cbuffer Parameters : register(b0) {
    uint set_count;
    uint set_dimension_count;
    uint item_count;            // of a set; in mean_variance_normalization1_apply of the whole tensor
    uint item_dimension_count;
    uint chunk_count;           // parts of a set that different groups reduce
    uint items_per_chunk;
    uint threads_per_set;       // a power of two
    uint sets_per_group;
    uint sets_side_by_side;     // 1: adjacent sets are closer to each other in memory than adjacent items of one
    uint has_scale;
    uint has_bias;
    uint scale_step;            // strides within an item
    uint bias_step;
    uint normalize_variance;
    float epsilon;
    uint activation;
    float activation_first;
    float activation_second;
    uint output_is_packed;
    float set_size;
    uint subtract_mean;         // 0: the mean is taken for 0
    uint unused0;
    uint unused1;
    uint unused2;
    // Size, strides in input and output in items, and of the number of the set.
    uint4 set_dimensions[MOST_DIMENSIONS];
    uint4 item_dimensions[MOST_DIMENSIONS];
    // Strides of the same dimensions in scale and bias, in elements.
    uint4 set_parameters[MOST_DIMENSIONS];
    uint4 item_parameters[MOST_DIMENSIONS];
};

#if VECTOR
#define Item uint4
#else
#define Item uint
#endif

RWStructuredBuffer<Item> input : register(u0);
RWStructuredBuffer<uint> scale : register(u1);
RWStructuredBuffer<uint> bias : register(u2);
RWStructuredBuffer<Item> output : register(u3);
// Of each chunk, as the group found it: mean, what the mean still lacks, sum of squared deviations, count. Of each set, when all is
// known: mean, what it still lacks, 1 / sqrt(variance + epsilon).
RWStructuredBuffer<float4> chunks : register(u4);
RWStructuredBuffer<float4> statistics : register(u5);

// Places in the tensors.
struct Place {
    uint input;
    uint output;
    uint set;
    uint scale;
    uint bias;
};

void add_place(inout Place place, uint steps, uint4 dimension, uint4 parameters) {
    place.input += steps * dimension.y;
    place.output += steps * dimension.z;
    place.set += steps * dimension.w;
    place.scale += steps * parameters.x;
    place.bias += steps * parameters.y;
}

#define ADD_PLACE(place, number, dimensions, parameters, count)                                          \
    {                                                                                                    \
        uint place_rest = (number);                                                                      \
        uint place_d = 0;                                                                                \
        [loop] for (; place_d + 1 < (count); ++place_d) {                                                \
            const uint place_quotient = place_rest / dimensions[place_d].x;                              \
            add_place(place, place_rest - place_quotient * dimensions[place_d].x, dimensions[place_d],   \
                      parameters[place_d]);                                                              \
            place_rest = place_quotient;                                                                 \
        }                                                                                                \
        add_place(place, place_rest, dimensions[place_d], parameters[place_d]);                          \
    }

Place place_of_set(uint set) {
    Place place = (Place)0;
    ADD_PLACE(place, set, set_dimensions, set_parameters, set_dimension_count)
    return place;
}

Place place_of_item(Place set, uint item) {
    Place place = set;
    ADD_PLACE(place, item, item_dimensions, item_parameters, item_dimension_count)
    return place;
}

// The elements of an item, as far as it has them; in a vector of FLOAT16 those with even numbers, while second_numbers are those with
// odd ones.
#if VECTOR
float4 first_numbers(uint4 item) {
#if HALF
    return float_from_half(item);
#else
    return asfloat(item);
#endif
}
float4 second_numbers(uint4 item) {
    return float_from_half(item >> 16);
}
#else
float4 first_numbers(uint item) {
#if HALF
    return float_from_half(uint4(item, 0, 0, 0));
#else
    return float4(asfloat(item), 0, 0, 0);
#endif
}
#endif

#define TWO_VECTORS (VECTOR && HALF)

#if VECTOR
float sum_of(float4 numbers) {
    return (numbers.x + numbers.y) + (numbers.z + numbers.w);
}
#else
float sum_of(float4 numbers) {
    return numbers.x;
}
#endif

// The input's item there. In a FLOAT16 tensor that is not read in vectors, an element.
Item load_item(uint place) {
#if HALF && !VECTOR
    return LOAD_ELEMENT(input, 1, place);
#else
    return input[place];
#endif
}

// Elements of scale or bias that belong to an item, from `place` on, `gap` apart.
#if VECTOR
#define ITEM_PLACES (place + uint4(0, 1, 2, 3) * gap)
#else
#define ITEM_PLACES uint4(place, place, place, place)
#endif
#if HALF
#define ITEM_PARAMETERS(buffer)                                                      \
    float_from_half(uint4(LOAD_ELEMENT(buffer, 1, places.x), LOAD_ELEMENT(buffer, 1, places.y), \
                          LOAD_ELEMENT(buffer, 1, places.z), LOAD_ELEMENT(buffer, 1, places.w)))
#else
#define ITEM_PARAMETERS(buffer) asfloat(uint4(buffer[places.x], buffer[places.y], buffer[places.z], buffer[places.w]))
#endif

float4 scales_from(uint place, uint gap) {
    const uint4 places = ITEM_PLACES;
    return ITEM_PARAMETERS(scale);
}

float4 biases_from(uint place, uint gap) {
    const uint4 places = ITEM_PLACES;
    return ITEM_PARAMETERS(bias);
}

// `centred` is input - mean. Elements of an item that are `gap` of its elements apart.
float4 normalised(float4 centred, float rstd, Place place, uint gap) {
    float4 result = centred * rstd;
    if (has_scale) {
        result = centred * (rstd * scales_from(place.scale, scale_step * gap));
    }
    if (has_bias) {
        result += biases_from(place.bias, bias_step * gap);
    }
#if FUSED
    result = activate(result, activation, activation_first, activation_second);
#endif
    return result;
}

// The output's item for one of the input. `set` is the statistics of the set.
Item normalised_item(Item item, float4 set, Place place) {
#if TWO_VECTORS
    // A loop for the compiler's sake: the code is long.
    uint4 result = 0;
    [loop] for (uint part = 0; part < 2; ++part) {
        const float4 numbers = normalised((first_numbers(item) - set.x) - set.y, set.z, place, 2);
        result |= half_from_float(numbers) << (16 * part);
        item >>= 16;
        place.scale += scale_step;
        place.bias += bias_step;
    }
    return result;
#else
    const float4 numbers = normalised((first_numbers(item) - set.x) - set.y, set.z, place, 1);
#if HALF
    return half_from_float(numbers).x;
#elif VECTOR
    return asuint(numbers);
#else
    return asuint(numbers).x;
#endif
#endif
}

// Statistics of a set, from its mean, what that lacks, and the sum of squared deviations.
float4 finished(float mean, float lacking, float squares) {
    float rstd = 1;
    if (normalize_variance) {
        rstd = 1 / sqrt(squares / set_size + epsilon);
    }
    return float4(mean, lacking, rstd, 0);
}
