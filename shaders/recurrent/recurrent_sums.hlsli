// The sums of gates: products of inputs and weights, of states and recurrence weights, and biases.
//
// The lanes of a unit share the terms of its sums. The four components of a number belong to four batches, so that each
// weight is read once for all of them.

#define LANES RECURRENT_LANES

groupshared float4 lane_sums[GROUP_SIZE];

struct Unit {
    uint direction;
    uint hidden;
    uint step;
    uint4 batches;
    uint thread;  // index in the group
};

// The numbers of four batches.
#define REALS_AT(buffer, offsets)                                                                        \
    reals_from(uint4(LOAD_ELEMENT(buffer, packing, offsets.x), LOAD_ELEMENT(buffer, packing, offsets.y), \
                     LOAD_ELEMENT(buffer, packing, offsets.z), LOAD_ELEMENT(buffer, packing, offsets.w)))
// The same for temporaries between steps.
#define STATES_AT(buffer, offsets) \
    asfloat(uint4(buffer[offsets.x], buffer[offsets.y], buffer[offsets.z], buffer[offsets.w]))

#if CELL == CELL_GRU
#define MULTIPLIED_STATES kept_states
#else
#define MULTIPLIED_STATES states
#endif

// The offset of the first hidden unit of each batch in temporaries.
uint4 rows_of(Unit unit) {
    return (unit.direction * batch_count + unit.batches) * hidden_count;
}

float4 input_terms(Unit unit, uint gate) {
    const uint lane = unit.thread % LANES;
    const uint input_stride = strides[RECURRENT_INPUT].w;
    const uint weight_stride = strides[RECURRENT_WEIGHT].w;
    uint4 offsets = unit.step * strides[RECURRENT_INPUT].y + unit.batches * strides[RECURRENT_INPUT].z +
                   lane * input_stride;
    uint offset = offset_of(RECURRENT_WEIGHT, uint4(0, unit.direction, gate * hidden_count + unit.hidden, lane));
    float4 sum = 0;
    [loop] for (uint i = lane; i < input_count; i += LANES) {
        sum += REALS_AT(input, offsets) * REAL_AT(weights, offset);
        offsets += LANES * input_stride;
        offset += LANES * weight_stride;
    }
    return sum;
}

float4 state_terms(Unit unit, uint gate) {
    const uint lane = unit.thread % LANES;
    const uint weight_stride = strides[RECURRENT_RECURRENCE].w;
    uint4 offsets = rows_of(unit) + lane;
    uint offset = offset_of(RECURRENT_RECURRENCE, uint4(0, unit.direction, gate * hidden_count + unit.hidden, lane));
    float4 sum = 0;
    [loop] for (uint i = lane; i < hidden_count; i += LANES) {
        sum += STATES_AT(MULTIPLIED_STATES, offsets) * REAL_AT(recurrence, offset);
        offsets += LANES;
        offset += LANES * weight_stride;
    }
    return sum;
}

// The sum over all lanes. All threads of the group must call it.
float4 over_lanes(Unit unit, float4 terms) {
    const uint lane = unit.thread % LANES;
    GroupMemoryBarrierWithGroupSync();
    lane_sums[unit.thread] = terms;
    GroupMemoryBarrierWithGroupSync();
    [unroll] for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        if (lane < distance) {
            lane_sums[unit.thread] += lane_sums[unit.thread + distance];
        }
        GroupMemoryBarrierWithGroupSync();
    }
    return lane_sums[unit.thread - lane];
}

// Biases of inputs come first, then those of states.
float4 bias_of(Unit unit, uint gate) {
    float4 result = 0;
    if (has(RECURRENT_BIAS)) {
        const uint number = gate * hidden_count + unit.hidden;
        result = REAL_AT(biases, offset_of(RECURRENT_BIAS, uint4(0, 0, unit.direction, number)));
    }
    return result;
}

float4 input_sum(Unit unit, uint gate) {
    return over_lanes(unit, input_terms(unit, gate)) + bias_of(unit, gate);
}

float4 state_sum(Unit unit, uint gate) {
    return over_lanes(unit, state_terms(unit, gate)) + bias_of(unit, GATES + gate);
}

float4 gate_sum(Unit unit, uint gate) {
    return over_lanes(unit, input_terms(unit, gate) + state_terms(unit, gate)) + bias_of(unit, gate) +
           bias_of(unit, GATES + gate);
}
