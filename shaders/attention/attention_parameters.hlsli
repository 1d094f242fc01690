// Constants that C++ and the attention shaders share.

// Rows of a dimension in a table: its size, and a stride for each array.
#define ATTENTION_ROWS 2
#define ATTENTION_MOST_DIMENSIONS 4
