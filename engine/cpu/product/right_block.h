// Loads blocks of the right matrix of a product as tiles of doubles.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/product/factors.h"

namespace dmlconform::cpu::product {

/// The elements of eight columns in a row of the right matrix. Column j has the element `element + j * step` if bit j
/// of `present` is set, otherwise 0.
struct EightColumns {
    std::int64_t element = 0;
    /// 0 if elements are not equally far apart: `element` is then the index of the first of eight indices.
    std::int64_t step = 1;
    std::uint32_t present = 0;
};

/// Where the tiles of a block are. Each has `width` columns, the last one `width_of_last`; for each k, the columns of a
/// tile are adjacent.
struct TilesOfBlock {
    double* first = nullptr;
    std::int64_t distance = 0;
    std::int64_t count = 0;
    std::int64_t width = 0;
    std::int64_t width_of_last = 0;
};

/// The same columns of the right matrix for one k after another. In a convolution, all channels have the same elements,
/// so that they are found once for each filter element.
class RightBlock {
public:
    explicit RightBlock(const Factors& factors);

    void select(std::int64_t batch, std::int64_t first_column, std::int64_t columns);
    /// Loads rows k … k + count - 1, as that part needs them, followed by zeros beyond the last column.
    void load(Part part, std::int64_t k, std::int64_t count, const TilesOfBlock& to);

private:
    /// The columns of a row. The elements of row k are `distance` behind those of the row that they were found for.
    struct Row {
        const EightColumns* eights = nullptr;
        const std::int64_t* elements = nullptr;
        std::int64_t distance = 0;
        /// All elements are adjacent.
        bool is_adjacent = false;
    };
    /// The columns that were found for a row.
    struct FoundRow {
        bool is_found = false;
        bool is_adjacent = false;
        std::vector<EightColumns> eights;
        std::vector<std::int64_t> elements;

        /// Adds `count` columns from `column` on. Their elements are `step` apart.
        void add(std::int64_t column, std::int64_t element, std::int64_t step, std::int64_t count);
        void list(EightColumns& eight);
    };

    [[nodiscard]] Row row(std::int64_t k);
    void find(std::int64_t k, FoundRow& found);

    template <class T>
    static void load_row(const T* from, std::int64_t columns, const Row& row, std::int64_t i, const TilesOfBlock& to);

    const Factors& factors_;
    std::int64_t batch_ = 0;
    std::int64_t first_column_ = 0;
    std::int64_t columns_ = 0;
    Repetition repetition_;
    /// For each row that others repeat, or one for all rows.
    std::vector<FoundRow> rows_;
    std::vector<RightSegment> segments_;
};

}  // namespace dmlconform::cpu::product
