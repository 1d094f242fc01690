// What C++ and the shaders of RNN, LSTM and GRU share.

#ifndef RECURRENT_PARAMETERS
#define RECURRENT_PARAMETERS

#include "shaders/common/parameters.hlsli"

// The macro CELL: what a dispatch computes in a step.
#define CELL_RNN 0
#define CELL_LSTM 1
#define CELL_GRU_GATES 2   // the update gates, and the states after applying the reset gates
#define CELL_GRU 3         // the states, from the results of CELL_GRU_GATES
#define CELL_GRU_LINEAR 4  // the states, with LinearBeforeReset: gates are applied after the products

// In a step, a work item is one hidden unit in four batches. This many threads share its sums.
#define RECURRENT_BATCHES_PER_UNIT 4
#define RECURRENT_LANES 32
#define RECURRENT_UNITS_PER_GROUP (GROUP_SIZE / RECURRENT_LANES)

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

// Limits: activations of a direction, and directions.
#define RECURRENT_ACTIVATIONS 3
#define RECURRENT_MOST_DIRECTIONS 2

PARAMETERS(RecurrentParameters)
uint turn;             // number of preceding steps
uint step_count;
uint batch_count;
uint input_count;
uint hidden_count;
uint direction_count;
uint first_backward;   // this direction and the following ones run backwards
uint packing;          // packing of all tensors except the lengths
uint present;          // one bit for each tensor
uint is_coupled;
float clip_threshold;  // NaN: no clipping
uint unused;
uint4 strides[RECURRENT_TENSORS];
// For each direction: the operator's number, and its attributes.
uint4 activations[RECURRENT_MOST_DIRECTIONS * RECURRENT_ACTIVATIONS];
END_PARAMETERS

#endif
