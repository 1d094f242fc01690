// RNN, LSTM and GRU: one step of all batches in all directions.
//
// A thread group has several work items ("units"), each of which has a line of threads: see recurrent_sums.hlsli. The
// first thread of a line computes the states from the sums. Activations are called in loops over gates if possible:
// each call inlines all functions, which take long to compile.
//
// CELL  see recurrent_parameters.hlsli

#include "shaders/common/activation.hlsli"
#include "shaders/recurrent/recurrent.hlsli"

#if CELL == CELL_RNN
#define GATES 1
#elif CELL == CELL_LSTM
#define GATES 4
#define INPUT_GATE 0
#define OUTPUT_GATE 1
#define FORGET_GATE 2
#define CELL_GATE 3
#else
#define GATES 3
#define UPDATE_GATE 0
#define RESET_GATE 1
#define HIDDEN_GATE 2
#endif

#include "shaders/recurrent/recurrent_sums.hlsli"

float4 activated(Unit unit, float4 x, uint which) {
    const uint4 words = activations[unit.direction * RECURRENT_ACTIVATIONS + which];
    return activate(x, words.x, asfloat(words.y), asfloat(words.z));
}

uint quad_count() {
    return (batch_count + RECURRENT_BATCHES_PER_UNIT - 1) / RECURRENT_BATCHES_PER_UNIT;
}

Unit unit_of(uint number, uint thread) {
    const uint quads = quad_count();
    Unit unit;
    // Consecutive units use the same weights.
    unit.batches = min(number % quads * RECURRENT_BATCHES_PER_UNIT + uint4(0, 1, 2, 3), batch_count - 1);
    unit.hidden = number / quads % hidden_count;
    unit.direction = number / quads / hidden_count;
    unit.step = is_backward(unit.direction) ? step_count - 1 - turn : turn;
    unit.thread = thread;
    return unit;
}

// The batches that have this step.
bool4 are_taken(Unit unit) {
    bool4 result = true;
    if (has(RECURRENT_LENGTHS)) {
        const uint4 offsets = unit.batches * strides[RECURRENT_LENGTHS].w;
        result = unit.step < uint4(lengths[offsets.x], lengths[offsets.y], lengths[offsets.z], lengths[offsets.w]);
    }
    return result;
}

uint4 offsets_of(Unit unit) {
    return rows_of(unit) + unit.hidden;
}

// The last unit may contain a batch twice, which is then stored twice.
#define STORE_STATES(buffer, offsets, numbers) \
    {                                          \
        buffer[offsets.x] = asuint(numbers.x); \
        buffer[offsets.y] = asuint(numbers.y); \
        buffer[offsets.z] = asuint(numbers.z); \
        buffer[offsets.w] = asuint(numbers.w); \
    }

void store_sequence(Unit unit, float4 numbers) {
    const uint start = offset_of(RECURRENT_SEQUENCE, uint4(unit.step, unit.direction, 0, unit.hidden));
    const uint4 offsets = start + unit.batches * strides[RECURRENT_SEQUENCE].z;
    const uint4 bits = bits_from(numbers);
    STORE_ELEMENT(sequence, packing, offsets.x, bits.x)
    STORE_ELEMENT(sequence, packing, offsets.y, bits.y)
    STORE_ELEMENT(sequence, packing, offsets.z, bits.z)
    STORE_ELEMENT(sequence, packing, offsets.w, bits.w)
}

// A batch without this step keeps its state.
void store(Unit unit, float4 result) {
    const bool4 taken = are_taken(unit);
    const uint4 offsets = offsets_of(unit);
    const float4 before = STATES_AT(states, offsets);
    const float4 after = taken ? result : before;
    STORE_STATES(next_states, offsets, after)
    if (has(RECURRENT_SEQUENCE)) {
        const float4 shown = taken ? result : 0;
        store_sequence(unit, shown);
    }
}

#if CELL == CELL_RNN

void make_states(Unit unit, bool is_first) {
    const float4 sum = gate_sum(unit, 0);
    if (is_first) {
        store(unit, activated(unit, sum, 0));
    }
}

#elif CELL == CELL_LSTM

// A number wins over NaN, and the upper bound over the lower one.
float4 clipped(float4 x) {
    float4 result = x;
    if (!is_nan(clip_threshold)) {
        const float4 above = is_nan(x) || x < -clip_threshold ? -clip_threshold : x;
        result = above > clip_threshold ? clip_threshold : above;
    }
    return result;
}

// The cell multiplied by the gate's peephole.
float4 seen_of(Unit unit, uint gate, float4 cell) {
    float4 result = 0;
    if (has(RECURRENT_PEEPHOLE) && gate != CELL_GATE) {
        const uint number = gate * hidden_count + unit.hidden;
        result = REAL_AT(peepholes, offset_of(RECURRENT_PEEPHOLE, uint4(0, 0, unit.direction, number))) * cell;
    }
    return result;
}

// The output gate comes last, because it uses the new cell.
uint gate_in_turn(uint number) {
    return number == 0 ? INPUT_GATE : number == 1 ? FORGET_GATE : number == 2 ? CELL_GATE : OUTPUT_GATE;
}

void make_states(Unit unit, bool is_first) {
    const uint4 offsets = offsets_of(unit);
    const float4 cell = STATES_AT(cells, offsets);
    float4 next_cell = cell;
    float4 let_in = 0;
    float4 let_stay = 0;
    float4 let_out = 0;
    [loop] for (uint i = 0; i < GATES; ++i) {
        const uint gate = gate_in_turn(i);
        const float4 sum = gate_sum(unit, gate);
        if (is_first) {
            const float4 seen = seen_of(unit, gate, next_cell);
            const float4 value = activated(unit, clipped(sum + seen), gate == CELL_GATE ? 1 : 0);
            if (gate == INPUT_GATE) {
                let_in = value;
                let_stay = 1 - value;
            } else if (gate == FORGET_GATE) {
                let_stay = is_coupled ? let_stay : value;
            } else if (gate == CELL_GATE) {
                next_cell = let_stay * cell + let_in * value;
            } else {
                let_out = value;
            }
        }
    }
    if (is_first) {
        const float4 stored_cell = are_taken(unit) ? next_cell : cell;
        STORE_STATES(cells, offsets, stored_cell)
        store(unit, let_out * activated(unit, next_cell, 2));
    }
}

#elif CELL == CELL_GRU_GATES

void make_states(Unit unit, bool is_first) {
    const uint4 offsets = offsets_of(unit);
    [loop] for (uint gate = UPDATE_GATE; gate <= RESET_GATE; ++gate) {
        const float4 sum = gate_sum(unit, gate);
        if (is_first) {
            const float4 value = activated(unit, sum, 0);
            if (gate == UPDATE_GATE) {
                STORE_STATES(cells, offsets, value)
            } else {
                const float4 kept = value * STATES_AT(states, offsets);
                STORE_STATES(kept_states, offsets, kept)
            }
        }
    }
}

#else

void store_between(Unit unit, float4 update, float4 hidden_sum) {
    const uint4 offsets = offsets_of(unit);
    const float4 candidate = activated(unit, hidden_sum, 1);
    store(unit, (1 - update) * candidate + update * STATES_AT(states, offsets));
}

#if CELL == CELL_GRU
void make_states(Unit unit, bool is_first) {
    const uint4 offsets = offsets_of(unit);
    const float4 sum = gate_sum(unit, HIDDEN_GATE);
    if (is_first) {
        store_between(unit, STATES_AT(cells, offsets), sum);
    }
}
#else
void make_states(Unit unit, bool is_first) {
    float4 update = 0;
    float4 reset = 0;
    [loop] for (uint gate = UPDATE_GATE; gate <= RESET_GATE; ++gate) {
        const float4 sum = gate_sum(unit, gate);
        if (is_first) {
            const float4 value = activated(unit, sum, 0);
            update = gate == UPDATE_GATE ? value : update;
            reset = gate == RESET_GATE ? value : reset;
        }
    }
    const float4 of_inputs = input_sum(unit, HIDDEN_GATE);
    const float4 of_states = state_sum(unit, HIDDEN_GATE);
    if (is_first) {
        store_between(unit, update, of_inputs + reset * of_states);
    }
}
#endif

#endif

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group_id : SV_GroupID, uint thread : SV_GroupIndex) {
    const uint unit_count = direction_count * hidden_count * quad_count();
    const uint number = linear_group(group_id) * RECURRENT_UNITS_PER_GROUP + thread / LANES;
    // All threads must take part in the sums, even those without a unit of their own.
    const Unit unit = unit_of(min(number, unit_count - 1), thread);
    make_states(unit, number < unit_count && thread % LANES == 0);
}
