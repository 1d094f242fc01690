// The tensors of resampling, and the meaning of their dimensions' rows.
//
// ELEMENTS  see element_layouts.hlsli

#include "shaders/resampling/resample_parameters.hlsli"

#include "shaders/common/made_elements.hlsli"

RWStructuredBuffer<uint> source : register(u0);
RWStructuredBuffer<uint> target : register(u1);

#define SOURCE_PLACE places[0].y
#define TARGET_PLACE places[0].z
// The position along scaled dimensions.
#define NUMBERS uint4(places[0].w, places[1].xyz)
