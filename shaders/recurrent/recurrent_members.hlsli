// The constant buffer of the shaders of RNN, LSTM and GRU. C++ and HLSL both include this, within a structure that has
// the types. See recurrent_parameters.hlsli.

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
