// Reads an index tensor with signed or unsigned elements of 32 or 64 bits. Negative indices count from the end.
//
// The includer declares `indices`, a buffer of words, and has the members of index_parameters.hlsli in its constant
// buffer.

struct Index {
    uint value;   // clamped if it is out of range
    bool inside;  // true if it was in range
};

Index index_at(uint number, uint size) {
    uint low = indices[number * index_words];
    uint high = index_has_sign != 0 && low >= 0x80000000 ? 0xffffffff : 0;
    if (index_words == 2) {
        high = indices[number * 2 + 1];
    }
    const bool counted_from_end = index_has_sign != 0 && high >= 0x80000000;
    if (counted_from_end) {
        const uint moved = low + size;
        high += moved < low ? 1 : 0;
        low = moved;
    }
    Index index;
    index.inside = high == 0 && low < size;
    index.value = index.inside ? low : counted_from_end ? 0 : size - 1;
    return index;
}
