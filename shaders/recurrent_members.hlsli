// The constant buffer of the shaders of RNN, LSTM and GRU. C++ and HLSL both include this, within a structure that has
// the types. See recurrent_parameters.hlsli.

uint turn;             // how many steps were taken before this one
uint step_count;
uint batch_count;
uint input_count;
uint hidden_count;
uint direction_count;
uint first_backward;   // this direction and those after it go from the last step to the first
uint packing;          // of all tensors but the lengths
uint present;          // a bit for each tensor
uint is_coupled;
float clip_threshold;  // NaN: nothing is clipped
uint unused;
uint4 strides[RECURRENT_TENSORS];
// Of each direction: the operator's number, and its attributes.
uint4 activations[RECURRENT_MOST_DIRECTIONS * RECURRENT_ACTIVATIONS];
