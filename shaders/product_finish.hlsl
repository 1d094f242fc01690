// Products whose depth was cut into slices: sums of slices are brought together, always in the same order.
//
// NUMBERS, WINDOW  see product.hlsli

#include "product.hlsli"

[numthreads(PRODUCT_GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint element_count = product_count * row_count * column_count;
    const uint number = linear_group(group_id) * PRODUCT_GROUP_SIZE + thread;
    if (number < element_count) {
#if NUMBERS == PRODUCT_INTEGER
        // In 64 bits.
        uint low = 0;
        int high = 0;
        [loop] for (uint slice = 0; slice < slice_count; ++slice) {
            const uint word = slice_sums[slice * element_count + number];
            low += word;
            high += (asint(word) >> 31) + (low < word ? 1 : 0);
        }
#else
        float sum = 0;
        [loop] for (uint slice = 0; slice < slice_count; ++slice) {
            sum += asfloat(slice_sums[slice * element_count + number]);
        }
#endif
        const uint4 columns = number % column_count;
        const uint row = number / column_count % row_count;
        const Product product = product_of(number / column_count / row_count);
#if NUMBERS == PRODUCT_INTEGER
        const uint4 bits = results_of(product, row, columns, low, high);
#else
        const uint4 bits = results_of(product, row, columns, sum);
#endif
        store_results(product.output + row * output_row + places_of(columns), bool4(true, false, false, false), bits);
    }
}
