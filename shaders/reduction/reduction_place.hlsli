// What a thread works on: every `threads_per_line`th item of a line, or of a chunk of it.
//
// VECTOR  see reduction_parameters.hlsli

struct Place {
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

Place place_of(uint group, uint thread) {
    Place place;
    place.line_group = group / chunk_count;
    place.chunk = group % chunk_count;
#if VECTOR == VECTOR_SPREAD
    // The planner has computed the divisions, because threads do little else.
    place.lane = thread >> lane_shift & (threads_per_line - 1);
    place.lane_distance = 1u << lane_shift;
    place.line_in_group = thread >> line_shift & (lines_per_group - 1);
#else
    place.lane = lines_side_by_side ? thread / lines_per_group : thread % threads_per_line;
    place.lane_distance = lines_side_by_side ? lines_per_group : 1;
    place.line_in_group = lines_side_by_side ? thread % lines_per_group : thread / threads_per_line;
#endif
    place.line_number = place.line_group * lines_per_group + place.line_in_group;
    place.exists = place.line_number < line_count;
    place.first_thread = thread - place.lane * place.lane_distance;
    place.first_item = min(place.chunk * items_per_chunk, item_count);
    const uint items = min(items_per_chunk, item_count - place.first_item);
    place.last_item = place.exists ? place.first_item + items : place.first_item;
    return place;
}
