// Lines that are spread over several groups, whose parts the last group to come brings together: a dispatch less. It
// adds them up in the order of their numbers, whichever group that is.
//
// Groups meet in nothing but atomic operations, which no cache keeps from each other.

// Of the groups of each line, or of several lines: how many have left their parts. 0 before and after.
RWStructuredBuffer<uint> counters : register(u5);

groupshared uint shared_is_last;

// Leaves a part, and says whether all others are there.
bool leave_part(State state, uint part, bool writes, uint thread, uint line_group) {
    uint before;
    if (writes) {
        InterlockedExchange(parts[part], state.a.x, before);
    }
    AllMemoryBarrierWithGroupSync();
    if (thread == 0) {
        InterlockedAdd(counters[line_group], 1, before);
        shared_is_last = before == chunk_count - 1 ? 1 : 0;
        if (before == chunk_count - 1) {
            InterlockedExchange(counters[line_group], 0, before);
        }
    }
    AllMemoryBarrierWithGroupSync();
    return shared_is_last != 0;
}

// Of a line, those that a thread adds up.
State left_parts(uint line_number, uint lane, uint count) {
    State state = no_items();
    [loop] for (uint i = lane; i < count; i += threads_per_line) {
        uint word;
        InterlockedOr(parts[i * part_line_count + line_number], 0, word);
        state = combined(state, state_of(word, 0, 0));
    }
    return state;
}
