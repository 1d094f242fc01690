// Constants that C++ and the attention shaders share.

// DML_MULTIHEAD_ATTENTION_MASK_TYPE.
#define ATTENTION_MASK_NONE 0
#define ATTENTION_MASK_KEY_LENGTH 1
#define ATTENTION_MASK_KEY_END_START 2
#define ATTENTION_MASK_LENGTH_STARTS_ENDS 3
#define ATTENTION_MASK_BOOLEAN 4

// Rows of a dimension in a table: its size, and a stride for each array.
#define ATTENTION_ROWS 2
#define ATTENTION_MOST_DIMENSIONS 4
