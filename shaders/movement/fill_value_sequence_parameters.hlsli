// What C++ and fill_value_sequence.hlsl share.

#ifndef FILL_VALUE_SEQUENCE_PARAMETERS
#define FILL_VALUE_SEQUENCE_PARAMETERS

#include "shaders/common/parameters.hlsli"

#define FILL_VALUE_SEQUENCE_PER_THREAD 4
#define FILL_VALUE_SEQUENCE_MOST_DIMENSIONS 8

PARAMETERS(FillValueSequenceParameters)
uint element_count;
uint dimension_count;
uint kind;
uint packing;
uint packed;
uint unused0;
uint unused1;
uint unused2;
uint4 start;  // two words; for FLOAT16 the bits of FP32
uint4 delta;
uint4 dimensions[FILL_VALUE_SEQUENCE_MOST_DIMENSIONS];  // size, stride in the output
END_PARAMETERS

#endif
