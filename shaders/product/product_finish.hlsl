// Adds up the slices of products whose depth was cut, in a fixed order. Each thread computes four consecutive elements
// of a row.
//
// NUMBERS, WINDOW  see product.hlsli

#include "shaders/product/product.hlsli"

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint element_count = product_count * row_count * column_count;
    const uint quads = (column_count + 3) / 4;
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < product_count * row_count * quads) {
        const uint4 columns = number % quads * 4 + FOUR;
        const uint4 there = min(columns, column_count - 1);
        uint4 from = number / quads * column_count + there;
#if NUMBERS == PRODUCT_INTEGER
        // 64-bit sums.
        uint4 low = 0;
        int4 high = 0;
#else
        float4 sums = 0;
#endif
        [loop] for (uint slice = 0; slice < slice_count; ++slice) {
            LOAD_FOUR(words, slice_sums, 0, from)
#if NUMBERS == PRODUCT_INTEGER
            low += words;
            high += (int4(words) >> 31) + int4(low < words ? 1 : 0);
#else
            sums += asfloat(words);
#endif
            from += element_count;
        }
        const uint row = number / quads % row_count;
        const Product product = product_of(number / quads / row_count);
#if NUMBERS == PRODUCT_INTEGER
        const uint4 bits = results_of(product, row, there, low, high);
#else
        const uint4 bits = results_of(product, row, there, sums);
#endif
        store_results(product.output + row * output_row + adjacent_output_offsets(there), columns < column_count, bits);
    }
}
