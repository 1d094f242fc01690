// What a thread works on: every `threads_per_line`th item of a line, or of a chunk of it.
//
// VECTOR  see reduction_parameters.hlsli

struct Work {
    uint line_group;
    uint chunk;
    uint line_in_group;
    uint line_number;
    bool exists;         // whether there is such a line
    uint lane;           // the thread's index in its line
    uint lane_distance;  // between the threads of a line
    uint first_thread;   // of the line
    uint first_item;     // of the chunk
    uint last_item;      // where the chunk ends; first_item if there is no such line
};

Work work_of(uint group, uint thread) {
    Work work;
    work.line_group = group / chunk_count;
    work.chunk = group % chunk_count;
#if VECTOR == VECTOR_SPREAD
    // The planner has computed the divisions, because threads do little else.
    work.lane = thread >> lane_shift & (threads_per_line - 1);
    work.lane_distance = 1u << lane_shift;
    work.line_in_group = thread >> line_shift & (lines_per_group - 1);
#else
    work.lane = lines_side_by_side ? thread / lines_per_group : thread % threads_per_line;
    work.lane_distance = lines_side_by_side ? lines_per_group : 1;
    work.line_in_group = lines_side_by_side ? thread % lines_per_group : thread / threads_per_line;
#endif
    work.line_number = work.line_group * lines_per_group + work.line_in_group;
    work.exists = work.line_number < line_count;
    work.first_thread = thread - work.lane * work.lane_distance;
    work.first_item = min(work.chunk * items_per_chunk, item_count);
    const uint items = min(items_per_chunk, item_count - work.first_item);
    work.last_item = work.exists ? work.first_item + items : work.first_item;
    return work;
}
