// Entries that one pass of TOP_K1 leaves to the next.
//
// FROM_TENSOR, TO_TENSOR  1: the pass is the first, or the last, and has none on that side
// CHUNKS                  1: there are entries of chunks on the first side, even so

#if !FROM_TENSOR || CHUNKS
RWStructuredBuffer<StoredEntry> source : register(u3);
#endif
#if !TO_TENSOR
RWStructuredBuffer<StoredEntry> candidates : register(u4);
#endif
