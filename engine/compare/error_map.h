// Where in an output the errors are.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// An output seen as a matrix, whose columns are the last dimension and whose rows are all others, in cells of equal
/// size.
struct ErrorMap {
    /// At most so many cells in each direction.
    static constexpr std::size_t most_cells = 32;

    std::size_t rows = 0;
    std::size_t columns = 0;
    /// Row by row: the largest share of its tolerance that an element of the cell is off by; more than 1 is beyond it.
    /// Infinite where there is no bound to hold it against, as with an exact tolerance or NaN.
    std::vector<double> used;
    /// Row by row: which share of the cell's elements is beyond the tolerance.
    std::vector<double> wrong{};
};

/// The same arguments as for compare(). The output has elements.
[[nodiscard]] ErrorMap error_map(const core::Tensor& expected, const core::Tensor& actual,
                                 const core::Tolerance& tolerance, const core::ElementSlack* slack);

}  // namespace dmlconform::compare
