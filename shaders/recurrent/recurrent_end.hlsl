// RNN, LSTM and GRU: stores the states, and the cells of LSTM, after the last step.
//
// CELLS  1: there are cells

#include "shaders/recurrent/recurrent.hlsli"

// The last forward state is that of the step that the length names. There may be no such step.
bool is_step_named(uint direction, uint batch) {
    bool result = true;
    if (!is_backward(direction) && has(RECURRENT_LENGTHS)) {
        const uint length = lengths[offset_of(RECURRENT_LENGTHS, uint4(0, 0, 0, batch))];
        result = length >= 1 && length <= step_count;
    }
    return result;
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < direction_count * batch_count * hidden_count) {
        const uint4 at = coordinates_of(number);
        if (has(RECURRENT_LAST_STATE)) {
            const uint state = is_step_named(at.y, at.z) ? states[number] : 0;
            const uint4 bits = bits_from(asfloat(uint4(state, 0, 0, 0)));
            STORE_ELEMENT(last_states, packing, offset_of(RECURRENT_LAST_STATE, at), bits.x)
        }
#if CELLS
        if (has(RECURRENT_LAST_CELL)) {
            const uint4 bits = bits_from(asfloat(uint4(cells[number], 0, 0, 0)));
            STORE_ELEMENT(last_cells, packing, offset_of(RECURRENT_LAST_CELL, at), bits.x)
        }
#endif
    }
}
