// Lines that are spread over several groups, whose parts are merged by the last group to finish, which saves a
// dispatch. Parts are merged in a fixed order, whichever group that is.
//
// Groups communicate only by atomic operations, which bypass caches.

// For each line, or each set of lines, the number of groups that have written their parts. 0 before and after.
RWStructuredBuffer<uint> counters : register(u5);

groupshared uint shared_is_last;

// Writes a part, and returns true if all other parts have been written.
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

// Merges the parts of a line that this thread is responsible for.
State left_parts(uint line_number, uint lane, uint count) {
    State state = no_items();
    [loop] for (uint i = lane; i < count; i += threads_per_line) {
        uint word;
        InterlockedOr(parts[i * part_line_count + line_number], 0, word);
        state = combined(state, state_of(word, 0, 0));
    }
    return state;
}
