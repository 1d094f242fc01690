// What TOP_K1 sorts: keys with indices.
//
// KEY_WORDS  1, or 2 for 64-bit elements.

// An element that is being sorted. Keys are unsigned integers in the requested order: if it is decreasing, the largest
// number has the smallest key. Equal keys are ordered by index, so all entries are different.
struct Entry {
    uint key;
#if KEY_WORDS == 2
    uint low_key;
#endif
    uint index;
};

// The format of entries in memory.
#if KEY_WORDS == 2
#define StoredEntry uint3
#else
#define StoredEntry uint2
#endif

Entry entry_from(StoredEntry stored) {
    Entry entry;
    entry.key = stored.x;
#if KEY_WORDS == 2
    entry.low_key = stored.y;
    entry.index = stored.z;
#else
    entry.index = stored.y;
#endif
    return entry;
}

StoredEntry stored_from(Entry entry) {
#if KEY_WORDS == 2
    return uint3(entry.key, entry.low_key, entry.index);
#else
    return uint2(entry.key, entry.index);
#endif
}

// A placeholder that comes after all entries.
Entry no_entry() {
    Entry entry;
    entry.key = 0xffffffff;
#if KEY_WORDS == 2
    entry.low_key = 0xffffffff;
#endif
    entry.index = 0xffffffff;
    return entry;
}

bool before(Entry a, Entry b) {
#if KEY_WORDS == 2
    if (a.key == b.key && a.low_key != b.low_key) {
        return a.low_key < b.low_key;
    }
#endif
    return a.key < b.key || (a.key == b.key && a.index < b.index);
}
