// Element-wise operators: an element of each output is a function of the inputs' elements with the same coordinates.
//
// OPERATOR         the operator's number, as in operator_numbers.hlsli
// CLASS            the number type for computing, see element_wise_parameters.hlsli. Integers of 8 and 16 bits are
//                  computed in 32 bits, FLOAT16 in FP32.
// INPUTS, OUTPUTS  the number of tensors
// VECTOR           1: a thread computes four elements that are adjacent in the outputs, and adjacent or the same in
//                  each input.
//                  0: a thread computes one element with arbitrary addresses.

#include "enumerations.hlsli"
#include "operator_numbers.hlsli"

#include "shaders/common/activation.hlsli"
#include "shaders/common/dispatch.hlsli"
#include "shaders/common/element_format.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"
#include "shaders/common/strided.hlsli"

#include "shaders/element_wise/element_wise_parameters.hlsli"

#define WIDE (CLASS == CLASS_SIGNED_64 || CLASS == CLASS_UNSIGNED_64)
#define ATTRIBUTE(n) attributes[(n) / 4][(n) % 4]
#define REAL_ATTRIBUTE(n) asfloat(ATTRIBUTE(n))

#include "shaders/element_wise/element_wise_operands.hlsli"

#if CLASS == CLASS_REAL
#include "shaders/element_wise/element_wise_real.hlsli"
#elif !WIDE
#include "shaders/element_wise/element_wise_integer.hlsli"
#elif OPERATOR == CAST
#include "shaders/element_wise/element_wise_cast64.hlsli"
#else
#include "shaders/element_wise/element_wise_integer64.hlsli"
#endif

// Input k as an expression.
#define INPUT(k, buffer) number_from(LOAD_BITS(k, buffer), operands[k])

#define OUTPUT(k, buffer, words, number)                                      \
    {                                                                         \
        const Bits stored_bits = bits_from(number, operands[k]);              \
        STORE_OPERAND(k, buffer, words, stored_bits)                          \
    }

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint group = linear_group(group_id) * GROUP_SIZE + thread;
    if (group < group_total) {
        const uint size = group + 1 == group_total ? last_size : group_size;
        STRIDED_OFFSETS(offsets, ROWS, group, dimensions, dimension_count)
#if VECTOR
        uint4 fetched[INPUTS];
        FETCH(0, input0)
#if INPUTS > 1
        FETCH(1, input1)
#endif
#if INPUTS > 2
        FETCH(2, input2)
#endif
#if INPUTS > 3
        FETCH(3, input3)
        FETCH(4, input4)
#endif
#if INPUTS > 5
        FETCH(5, input5)
        FETCH(6, input6)
        FETCH(7, input7)
#endif
#endif
#if OPERATOR == ADAM_OPTIMIZER
        const AdamStep updated = adam_step(INPUT(0, input0), INPUT(1, input1), INPUT(2, input2), INPUT(3, input3),
                                           INPUT(4, input4));
        OUTPUT(5, output0, output_words0, updated.parameters)
        OUTPUT(6, output1, output_words1, updated.first_moment)
        OUTPUT(7, output2, output_words2, updated.second_moment)
#elif OPERATOR == ELEMENT_WISE_QUANTIZED_LINEAR_ADD
        const Number result = quantized_sum(INPUT(0, input0), INPUT(1, input1), INPUT(2, input2), INPUT(3, input3),
                                            INPUT(4, input4), INPUT(5, input5), INPUT(6, input6), INPUT(7, input7));
        OUTPUT(8, output0, output_words0, result)
#elif OPERATOR == CAST && WIDE
        STORE_OPERAND(1, output0, output_words0, cast(LOAD_BITS(0, input0), operands[0], operands[1]))
#elif OPERATOR == VALUE_SCALE_2D
        // The channel is the offset that a tensor with one element per channel would have.
        OUTPUT(1, output0, output_words0, value_scale(INPUT(0, input0), OFFSET(2)))
#elif INPUTS == 1
        OUTPUT(1, output0, output_words0, compute(scaled(INPUT(0, input0), operands[0])))
#elif INPUTS == 2
        OUTPUT(2, output0, output_words0, compute(scaled(INPUT(0, input0), operands[0]), INPUT(1, input1)))
#else
        OUTPUT(3, output0, output_words0, compute(INPUT(0, input0), INPUT(1, input1), INPUT(2, input2)))
#endif
    }
}
