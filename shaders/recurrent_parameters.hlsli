// What C++ and the shaders of RNN, LSTM and GRU both know.

// The macro CELL: what a dispatch makes in a step.
#define CELL_RNN 0
#define CELL_LSTM 1
#define CELL_GRU_GATES 2   // the update gates, and what the reset gates leave of the states
#define CELL_GRU 3         // the states, from what CELL_GRU_GATES has made
#define CELL_GRU_LINEAR 4  // the states, with LinearBeforeReset, where gates come after the products

#define RECURRENT_GROUP_SIZE 256
// In a step, a unit is one hidden number in four batches. So many threads share its sums.
#define RECURRENT_BATCHES_PER_UNIT 4
#define RECURRENT_LANES 32
#define RECURRENT_UNITS_PER_GROUP (RECURRENT_GROUP_SIZE / RECURRENT_LANES)

// Tensors, in the order of the buffers.
#define RECURRENT_INPUT 0
#define RECURRENT_WEIGHT 1
#define RECURRENT_RECURRENCE 2
#define RECURRENT_BIAS 3
#define RECURRENT_HIDDEN_INIT 4
#define RECURRENT_CELL_INIT 5
#define RECURRENT_LENGTHS 6
#define RECURRENT_PEEPHOLE 7
#define RECURRENT_SEQUENCE 8
#define RECURRENT_LAST_STATE 9
#define RECURRENT_LAST_CELL 10
#define RECURRENT_TENSORS 11

// Activations of a direction, and directions.
#define RECURRENT_ACTIVATIONS 3
#define RECURRENT_MOST_DIRECTIONS 2
