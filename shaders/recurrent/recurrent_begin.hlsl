// RNN, LSTM and GRU: prepares the states, and the cells of LSTM, before the first step.
//
// CELLS  1: there are cells

#include "shaders/recurrent/recurrent.hlsli"

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint number = linear_group(group_id) * GROUP_SIZE + thread;
    if (number < direction_count * batch_count * hidden_count) {
        const uint4 at = coordinates_of(number);
        float4 state = 0;
        if (has(RECURRENT_HIDDEN_INIT)) {
            state = REAL_AT(hidden_init, offset_of(RECURRENT_HIDDEN_INIT, at));
        }
        next_states[number] = asuint(state.x);
#if CELLS
        float4 cell = 0;
        if (has(RECURRENT_CELL_INIT)) {
            cell = REAL_AT(cell_init, offset_of(RECURRENT_CELL_INIT, at));
        }
        cells[number] = asuint(cell.x);
#endif
    }
}
