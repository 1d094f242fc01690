// Common part of the product shaders: operands, and the conversion of sums to outputs.
//
// A product is rows times columns: each element of the output is a sum, over the depth, of an element of A's row times
// one of B's column. There may be many products of the same shape. A convolution is one product for each group of
// channels: rows are output channels, columns are the output positions of all batches, and the depth runs over the
// filter elements of all channels. See product_window.hlsli.
//
// If the depth is very large it is cut into slices, which different thread groups sum, and which product_finish.hlsl
// adds up.
//
// NUMBERS  see product_parameters.hlsli
// WINDOW   1: B's columns are windows of an input. 0: B is a matrix

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/product/product_parameters.hlsli"

#if NUMBERS == PRODUCT_REAL
#include "shaders/common/activation.hlsli"
#else
#include "shaders/common/float32.hlsli"
#endif


RWStructuredBuffer<uint> a : register(u0);
RWStructuredBuffer<uint> b : register(u1);
RWStructuredBuffer<uint> addend : register(u2);
RWStructuredBuffer<uint> a_zeros : register(u3);
RWStructuredBuffer<uint> b_zeros : register(u4);
RWStructuredBuffer<uint> a_scales : register(u5);
RWStructuredBuffer<uint> b_scales : register(u6);
RWStructuredBuffer<uint> output_scales : register(u7);
RWStructuredBuffer<uint> output_zeros : register(u8);
RWStructuredBuffer<uint> output : register(u9);
// The sums of each slice: for each product, all elements row by row.
RWStructuredBuffer<uint> slice_sums : register(u10);

#if NUMBERS == PRODUCT_INTEGER
#define Number int
#define Number4 int4
#else
#define Number float
#define Number4 float4
#endif

#define FOUR uint4(0, 1, 2, 3)

// The offsets at which one product begins.
struct Product {
    uint number;
    uint a;
    uint b;
    uint addend;
    uint output;
};

Product product_of(uint number) {
    STRIDED_OFFSETS(offsets, PRODUCT_ROWS, number, dimensions, dimension_count)
    Product product;
    product.number = number;
    product.a = offsets[0].y;
    product.b = offsets[0].z;
    product.addend = offsets[0].w;
    product.output = offsets[1].x;
    return product;
}

// The bits of four elements at any addresses.
#define LOAD_FOUR(result, buffer, packing, offsets)                                                                   \
    uint4 result;                                                                                                     \
    if (packing == 0) {                                                                                               \
        result = uint4(buffer[offsets.x], buffer[offsets.y], buffer[offsets.z], buffer[offsets.w]);                   \
    } else {                                                                                                          \
        result = uint4(LOAD_ELEMENT(buffer, packing, offsets.x), LOAD_ELEMENT(buffer, packing, offsets.y),            \
                       LOAD_ELEMENT(buffer, packing, offsets.z), LOAD_ELEMENT(buffer, packing, offsets.w));           \
    }

// Converts FLOAT32 or FLOAT16, depending on the packing.
float4 reals_from(uint4 bits, uint packing) {
    float4 result = asfloat(bits);
    if (packing != 0) {
        result = float_from_half(bits);
    }
    return result;
}

uint4 bits_from_reals(float4 numbers, uint packing) {
    uint4 result = asuint(numbers);
    if (packing != 0) {
        result = half_from_float(numbers);
    }
    return result;
}

// Parameters for converting an operand's bits to numbers, for the row or column of each element.
#if NUMBERS == PRODUCT_REAL

struct Quantization {
    uint unused;
};

Quantization a_quantization(Product product, uint4 rows) {
    Quantization result;
    result.unused = 0;
    return result;
}

Quantization b_quantization(uint4 columns) {
    Quantization result;
    result.unused = 0;
    return result;
}

float4 numbers_from(uint4 bits, uint packing, uint sign, Quantization quantization) {
    return reals_from(bits, packing);
}

#else

struct Quantization {
    uint4 zeros;  // relative to the lowest number of the type; 0 if absent
    float4 scales;
};

Quantization a_quantization(Product product, uint4 rows) {
    Quantization result;
    result.zeros = a_sign;
    result.scales = 1;
    const uint4 numbers = product.number * parameter_rows + rows;
    if (has_a_zero) {
        const uint4 zero_offsets = numbers * a_zero_step;
        LOAD_FOUR(zero_bits, a_zeros, a_packing, zero_offsets)
        result.zeros = zero_bits ^ a_sign;
    }
#if NUMBERS == PRODUCT_MIXED
    const uint4 scale_offsets = numbers * a_scale_step;
    LOAD_FOUR(scale_bits, a_scales, output_packing, scale_offsets)
    result.scales = reals_from(scale_bits, output_packing);
#endif
    return result;
}

Quantization b_quantization(uint4 columns) {
    Quantization result;
    result.zeros = b_sign;
    result.scales = 1;
    if (has_b_zero) {
        const uint4 zero_offsets = columns * b_zero_step;
        LOAD_FOUR(zero_bits, b_zeros, b_packing, zero_offsets)
        result.zeros = zero_bits ^ b_sign;
    }
#if NUMBERS == PRODUCT_MIXED
    const uint4 scale_offsets = columns * b_scale_step;
    LOAD_FOUR(scale_bits, b_scales, output_packing, scale_offsets)
    result.scales = reals_from(scale_bits, output_packing);
#endif
    return result;
}

#if NUMBERS == PRODUCT_INTEGER
int4 numbers_from(uint4 bits, uint packing, uint sign, Quantization quantization) {
    return int4(bits ^ sign) - int4(quantization.zeros);
}
#else
// The difference of two 32-bit numbers has 33 bits.
float4 wide_difference(uint4 x, uint4 y) {
    const uint4 low = x - y;
    const int4 high = x < y ? -1 : 0;
    return float4(float_from_int64(high.x, low.x), float_from_int64(high.y, low.y), float_from_int64(high.z, low.z),
                  float_from_int64(high.w, low.w));
}

float4 numbers_from(uint4 bits, uint packing, uint sign, Quantization quantization) {
    float4 result = float4(int4(bits ^ sign) - int4(quantization.zeros));
    if (packing == 0) {
        result = wide_difference(bits ^ sign, quantization.zeros);
    }
    return result * quantization.scales;
}
#endif

#endif

// The addends of elements in a row. They have the type of A if that is real: the output may be an FP32 temporary.
float4 addends_of(Product product, uint row, uint4 columns) {
#if NUMBERS == PRODUCT_REAL
    const uint packing = a_packing;
#else
    const uint packing = output_packing;
#endif
    const uint4 offsets = product.addend + row * addend_row + columns * addend_column;
    LOAD_FOUR(bits, addend, packing, offsets)
    return reals_from(bits, packing);
}

#if NUMBERS == PRODUCT_REAL
uint4 results_of(Product product, uint row, uint4 columns, float4 sums) {
    float4 result = alpha * sums;
    if (has_addend) {
        result += beta * addends_of(product, row, columns);
    }
    return bits_from_reals(activate(result, activation, activation_first, activation_second), output_packing);
}
#elif NUMBERS == PRODUCT_MIXED
uint4 results_of(Product product, uint row, uint4 columns, float4 sums) {
    float4 result = sums;
    if (has_addend) {
        result += addends_of(product, row, columns);
    }
    return bits_from_reals(result, output_packing);
}
#else
// Converts integers of two words. Most are exact in FP32 and need no rounding.
float4 floats_from(uint4 low, int4 high) {
    const uint limit = 1u << 24;
    float4 result = float4(int4(low));
    [branch] if (any(high != int4(low) >> 31 || low + limit > 2 * limit)) {
        result = float4(float_from_int64(high.x, low.x), float_from_int64(high.y, low.y),
                        float_from_int64(high.z, low.z), float_from_int64(high.w, low.w));
    }
    return result;
}

float4 multiplier_of(uint parameter_row, float4 b_scale) {
    precise const float4 scale = asfloat(a_scales[parameter_row * a_scale_step]) * b_scale;
    return divide_exactly(scale, asfloat(output_scales[parameter_row * output_scale_step]));
}

// The results of sums of two words. The upper word only matters for quantised outputs.
uint4 results_of(Product product, uint row, uint4 columns, uint4 low, int4 high) {
    uint4 result = low;
    if (is_quantized) {
        if (has_addend) {
            const uint bias = addend[product.addend + row * addend_row];
            low += bias;
            high += (asint(bias) >> 31) + int4(low < bias ? 1 : 0);
        }
        const uint parameter_row = product.number * parameter_rows + row;
        float4 multiplier;
        [branch] if (b_scale_step == 0) {
            // Lets compilers recognise that all four are equal.
            multiplier = multiplier_of(parameter_row, asfloat(b_scales[0]));
        } else {
            const uint4 b_offsets = columns * b_scale_step;
            LOAD_FOUR(b_bits, b_scales, 0, b_offsets)
            multiplier = multiplier_of(parameter_row, asfloat(b_bits));
        }
        uint zero = output_sign;
        if (has_output_zero) {
            zero = LOAD_ELEMENT(output_zeros, output_packing, parameter_row * output_zero_step) ^ output_sign;
        }
        precise const float4 scaled = floats_from(low, high) * multiplier;
        // Scales of 0 or infinity are not allowed. If they occur anyway, the output is the same on all devices.
        const float4 rounded = is_nan(scaled) ? 0 : round(scaled);
        result = uint4(clamp(rounded + float(zero), 0, 255)) ^ output_sign;
    }
    return result;
}
#endif

// Stores those of four elements of a row that exist.
void store_results(uint4 offsets, bool4 present, uint4 bits) {
    const uint per_word = 1u << output_packing;
    if (output_packing == 0) {
        if (present.x) {
            output[offsets.x] = bits.x;
        }
        if (present.y) {
            output[offsets.y] = bits.y;
        }
        if (present.z) {
            output[offsets.z] = bits.z;
        }
        if (present.w) {
            output[offsets.w] = bits.w;
        }
    } else if (present.w && all(offsets == offsets.x + FOUR) && offsets.x % per_word == 0) {
        // Stores whole words, to which no other thread stores.
        if (output_packing == 1) {
            output[offsets.x / 2] = bits.x | bits.y << 16;
            output[offsets.x / 2 + 1] = bits.z | bits.w << 16;
        } else {
            output[offsets.x / 4] = bits.x | bits.y << 8 | bits.z << 16 | bits.w << 24;
        }
    } else {
        [loop] for (uint i = 0; i < 4; ++i) {
            if (present.x) {
                STORE_ELEMENT(output, output_packing, offsets.x, bits.x)
            }
            present = present.yzww;
            offsets = offsets.yzww;
            bits = bits.yzww;
        }
    }
}

#if WINDOW
// The output position of a column: batch or 0, depth, height, width.
uint4 coordinates_of(uint column) {
    uint4 result;
    result.w = column % column_sizes.w;
    column /= column_sizes.w;
    result.z = column % column_sizes.z;
    column /= column_sizes.z;
    result.y = column % column_sizes.y;
    result.x = column / column_sizes.y;
    return result;
}

// The output position that is `step` columns further on; `step` is 0 or 1.
uint4 coordinates_after(uint4 coordinates, uint step) {
    coordinates.w += step;
    if (coordinates.w == column_sizes.w) {
        coordinates.w = 0;
        ++coordinates.z;
    }
    if (coordinates.z == column_sizes.z) {
        coordinates.z = 0;
        ++coordinates.y;
    }
    if (coordinates.y == column_sizes.y) {
        coordinates.y = 0;
        ++coordinates.x;
    }
    return coordinates;
}

// The output positions of four columns, each equal to or following the preceding one, which avoids divisions.
struct Coordinates {
    uint4 image;
    uint4 d;
    uint4 h;
    uint4 w;
};

Coordinates coordinates_at(uint4 columns) {
    const uint4 first = coordinates_of(columns.x);
    const uint4 second = coordinates_after(first, columns.y - columns.x);
    const uint4 third = coordinates_after(second, columns.z - columns.y);
    const uint4 fourth = coordinates_after(third, columns.w - columns.z);
    Coordinates result;
    result.image = uint4(first.x, second.x, third.x, fourth.x);
    result.d = uint4(first.y, second.y, third.y, fourth.y);
    result.h = uint4(first.z, second.z, third.z, fourth.z);
    result.w = uint4(first.w, second.w, third.w, fourth.w);
    return result;
}

// Their offsets in a row of the output.
uint4 offsets_at(Coordinates coordinates) {
    return coordinates.image * column_strides.x + coordinates.d * column_strides.y + coordinates.h * column_strides.z +
           coordinates.w * column_strides.w;
}
#endif

// The offsets of these columns in a row of the output.
uint4 output_offsets(uint4 columns) {
#if WINDOW
    uint4 rest = columns;
    uint4 result = rest % column_sizes.w * column_strides.w;
    rest /= column_sizes.w;
    result += rest % column_sizes.z * column_strides.z;
    rest /= column_sizes.z;
    result += rest % column_sizes.y * column_strides.y;
    return result + rest / column_sizes.y * column_strides.x;
#else
    return columns * output_column;
#endif
}

// The same for columns each of which equals or follows the preceding one.
uint4 adjacent_output_offsets(uint4 columns) {
#if WINDOW
    return offsets_at(coordinates_at(columns));
#else
    return output_offsets(columns);
#endif
}

// Writes four elements of a row: outputs, or sums of a slice. Columns beyond the last one are omitted. `offsets` is the
// result of output_offsets for existing columns.
void put_sums(Product product, uint slice, uint row, uint4 columns, uint4 offsets, Number4 sums) {
    bool4 present = columns < column_count;
    if (slice_count == 1) {
        const uint4 there = min(columns, column_count - 1);
#if NUMBERS == PRODUCT_INTEGER
        const uint4 bits = results_of(product, row, there, uint4(sums), sums >> 31);
#else
        const uint4 bits = results_of(product, row, there, sums);
#endif
        store_results(product.output + row * output_row + offsets, present, bits);
    } else {
        uint4 offsets = ((slice * product_count + product.number) * row_count + row) * column_count + columns;
        [loop] for (uint i = 0; i < 4; ++i) {
            if (present.x) {
                slice_sums[offsets.x] = asuint(sums.x);
            }
            present = present.yzww;
            offsets = offsets.yzww;
            sums = sums.yzww;
        }
    }
}
