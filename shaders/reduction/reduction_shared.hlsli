// States that the threads of a group exchange in groupshared memory.
//
// COMBINE, NUMBERS, VECTOR  see reduction_parameters.hlsli

#if VECTOR == VECTOR_LINES
#define Lanes uint4
#define LANES_OF(lanes) (lanes)
#else
#define Lanes uint
#define LANES_OF(lanes) ((lanes).x)
#endif

groupshared Lanes shared_a[GROUP_SIZE];
#if KEEPS_B
groupshared Lanes shared_b[GROUP_SIZE];
#endif
#if KEEPS_C
groupshared Lanes shared_c[GROUP_SIZE];
#endif

void put_shared(uint slot, State state) {
    shared_a[slot] = LANES_OF(state.a);
#if KEEPS_B
    shared_b[slot] = LANES_OF(state.b);
#endif
#if KEEPS_C
    shared_c[slot] = LANES_OF(state.c);
#endif
}

State get_shared(uint slot) {
    State state = state_of(shared_a[slot], 0, 0);
#if KEEPS_B
    state.b = shared_b[slot];
#endif
#if KEEPS_C
    state.c = shared_c[slot];
#endif
    return state;
}
