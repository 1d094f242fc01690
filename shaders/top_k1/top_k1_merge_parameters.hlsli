// What C++ and top_k1_merge.hlsl share.

#ifndef TOP_K1_MERGE_PARAMETERS
#define TOP_K1_MERGE_PARAMETERS

#include "shaders/common/parameters.hlsli"

// Entries that a group computes.
#define TOP_K1_MERGED_CHUNK 1024

PARAMETERS(TopK1MergeParameters)
uint run_length;
uint run_count;         // per sequence
uint merged_length;
uint merged_count;      // per sequence
uint chunks_per_run;
END_PARAMETERS

#endif
