// Common part of the shaders of RNN, LSTM and GRU: tensors, and the states between steps.
//
// recurrent_begin.hlsl prepares the states before the first step, recurrent_step.hlsl computes a step, and
// recurrent_end.hlsl stores the last states.

#include "shaders/common/dispatch.hlsli"
#include "shaders/common/elements.hlsli"
#include "shaders/common/float16.hlsli"

#include "shaders/recurrent/recurrent_parameters.hlsli"


RWStructuredBuffer<uint> input : register(u0);
RWStructuredBuffer<uint> weights : register(u1);
RWStructuredBuffer<uint> recurrence : register(u2);
RWStructuredBuffer<uint> biases : register(u3);
RWStructuredBuffer<uint> hidden_init : register(u4);
RWStructuredBuffer<uint> cell_init : register(u5);
RWStructuredBuffer<uint> lengths : register(u6);
RWStructuredBuffer<uint> peepholes : register(u7);
RWStructuredBuffer<uint> sequence : register(u8);
RWStructuredBuffer<uint> last_states : register(u9);
RWStructuredBuffer<uint> last_cells : register(u10);
// FP32 numbers for each direction, batch and hidden unit.
RWStructuredBuffer<uint> states : register(u11);       // before the step
RWStructuredBuffer<uint> next_states : register(u12);
RWStructuredBuffer<uint> cells : register(u13);        // for LSTM. For GRU: the update gates
RWStructuredBuffer<uint> kept_states : register(u14);  // for GRU: the states after applying the reset gates

bool has(uint tensor) {
    return (present >> tensor & 1) != 0;
}

bool is_backward(uint direction) {
    return direction >= first_backward;
}

uint offset_of(uint tensor, uint4 coordinates) {
    const uint4 offsets = coordinates * strides[tensor];
    return offsets.x + offsets.y + offsets.z + offsets.w;
}

// The direction, batch and hidden unit of a state, for addressing tensors without steps.
uint4 coordinates_of(uint number) {
    const uint row = number / hidden_count;
    return uint4(0, row / batch_count, row % batch_count, number % hidden_count);
}

float4 reals_from(uint4 bits) {
    float4 result = asfloat(bits);
    if (packing != 0) {
        result = float_from_half(bits);
    }
    return result;
}

uint4 bits_from(float4 numbers) {
    uint4 result = asuint(numbers);
    if (packing != 0) {
        result = half_from_float(numbers);
    }
    return result;
}

// The number at an offset of a tensor, in all components.
#define REAL_AT(buffer, offset) reals_from(LOAD_ELEMENT(buffer, packing, offset))
