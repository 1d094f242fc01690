// Products of any shape: each thread computes four consecutive elements of a row.
//
// NUMBERS, WINDOW  see product.hlsli

#include "shaders/product/product.hlsli"
#include "shaders/product/product_window.hlsli"

// The bits of four elements of B. Contiguous bytes are read as one or two words.
uint4 b_bits_at(uint4 offsets) {
    uint4 result;
    [branch] if (b_packing == 2 && all(offsets == offsets.x + FOUR)) {
        const uint shift = SHIFT_OF(2, offsets.x);
        uint word = b[WORD_OF(2, offsets.x)] >> shift;
        if (shift != 0) {
            word |= b[WORD_OF(2, offsets.x) + 1] << (32 - shift);
        }
        result = uint4(word, word >> 8, word >> 16, word >> 24) & 0xff;
    } else {
        LOAD_FOUR(bits, b, b_packing, offsets)
        result = bits;
    }
    return result;
}

#if WINDOW

// A row of four windows: where it begins, and whether it covers any input.
struct WindowRow {
    bool4 is_inside;
    uint4 b;
    uint a;
};

WindowRow window_row_at(Product product, uint row, Origins origins, uint channel, uint d, uint h) {
    const Found at_d = find_along(origins.d, d, dilation.y, window_stride.y, input_size.y);
    const Found at_h = find_along(origins.h, h, dilation.z, window_stride.z, input_size.z);
    WindowRow result;
    result.is_inside = origins.is_summed && at_d.is_inside && at_h.is_inside;
    result.b = product.b + origins.image * input_strides.x + channel * input_channel + at_d.element * input_strides.y +
               at_h.element * input_strides.z;
    result.a = product.a + row * a_row + filter_strides.x + channel * filter_channel + d * filter_strides.y +
               h * filter_strides.z;
    return result;
}

// Sums over a slice of the depth.
Number4 sums_of(Product product, uint row, uint4 columns, uint first, uint last) {
    const Origins origins = origins_of(coordinates_at(columns));
    const Quantization a_scheme = a_quantization(product, row);
    const Quantization b_scheme = b_quantization(columns);
    uint w = first % window.w;
    uint h = first / window.w % window.z;
    uint d = first / window.w / window.z % window.y;
    uint channel = first / window.w / window.z / window.y;
    WindowRow at_row = window_row_at(product, row, origins, channel, d, h);
    Number4 sums = 0;
    [loop] for (uint i = first; i < last; ++i) {
        const Found at_w = find_along(origins.w, w, dilation.w, window_stride.w, input_size.w);
        const bool4 is_inside = at_row.is_inside && at_w.is_inside;
        if (any(is_inside)) {
            const uint4 a_bits = LOAD_ELEMENT(a, a_packing, at_row.a + w * filter_strides.w);
            const uint4 b_bits = b_bits_at(is_inside ? at_row.b + at_w.element * input_strides.w : 0);
            const Number4 a_numbers = numbers_from(a_bits, a_packing, a_sign, a_scheme);
            const Number4 b_numbers = numbers_from(b_bits, b_packing, b_sign, b_scheme);
            // An infinity in the filter has no effect on padding.
            sums = is_inside ? sums + a_numbers * b_numbers : sums;
        }
        // Advance to the next filter element.
        ++w;
        if (w == window.w) {
            w = 0;
            ++h;
            if (h == window.z) {
                h = 0;
                ++d;
            }
            if (d == window.y) {
                d = 0;
                ++channel;
            }
            at_row = window_row_at(product, row, origins, channel, d, h);
        }
    }
    return sums;
}

#else

Number4 sums_of(Product product, uint row, uint4 columns, uint first, uint last) {
    const Quantization a_scheme = a_quantization(product, row);
    const Quantization b_scheme = b_quantization(columns);
    uint a_offset = product.a + row * a_row + first * a_depth;
    uint4 b_offsets = product.b + columns * b_column + first * b_depth;
    Number4 sums = 0;
    [loop] for (uint i = first; i < last; ++i) {
        const uint4 a_bits = LOAD_ELEMENT(a, a_packing, a_offset);
        const uint4 b_bits = b_bits_at(b_offsets);
        sums += numbers_from(a_bits, a_packing, a_sign, a_scheme) * numbers_from(b_bits, b_packing, b_sign, b_scheme);
        a_offset += a_depth;
        b_offsets += b_depth;
    }
    return sums;
}

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint quads = (column_count + 3) / 4;
    const uint slice_groups = (product_count * row_count * quads + GROUP_SIZE - 1) / GROUP_SIZE;
    const uint slice = linear_group(group_id) / slice_groups;
    const uint number = linear_group(group_id) % slice_groups * GROUP_SIZE + thread;
    if (number < product_count * row_count * quads && slice < slice_count) {
        const uint4 columns = number % quads * 4 + FOUR;
        const uint row = number / quads % row_count;
        const Product product = product_of(number / quads / row_count);
        const uint4 there = min(columns, column_count - 1);
        const uint first = slice * slice_depth;
        const Number4 sums = sums_of(product, row, there, first, min(first + slice_depth, depth));
        put_sums(product, slice, row, columns, adjacent_output_offsets(there), sums);
    }
}
