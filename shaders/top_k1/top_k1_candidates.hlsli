// Entries that one pass of TOP_K1 leaves for the next.
//
// FROM_TENSOR, TO_TENSOR  1: the pass is the first, or the last, and has no entries on that side
// CHUNKS                  1: despite FROM_TENSOR there are entries, which name chunks

#if !FROM_TENSOR || CHUNKS
RWStructuredBuffer<StoredEntry> source : register(u3);
#endif
#if !TO_TENSOR
RWStructuredBuffer<StoredEntry> candidates : register(u4);
#endif
