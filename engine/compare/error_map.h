// Error maps: in which regions of an output the errors are.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/compare/criteria.h"
#include "engine/core/tensor.h"
#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// The output as a matrix, divided into cells of equal size. Columns are the last dimension, rows all others combined.
struct ErrorMap {
    /// The maximum number of cells in each direction.
    static constexpr std::size_t most_cells = 32;

    std::size_t rows = 0;
    std::size_t columns = 0;
    /// For each cell in row-major order, the largest share of the tolerance that an element uses; more than 1 is beyond
    /// the tolerance. Infinite if no bound applies, as with an exact tolerance or NaN.
    std::vector<double> used;
    /// For each cell in row-major order, the share of elements beyond the tolerance.
    std::vector<double> wrong{};
};

/// Computes the map. The arguments are those of compare(). The output must not be empty.
[[nodiscard]] ErrorMap error_map(const core::Tensor& expected, const core::Tensor& actual, const Criteria& tolerance,
                                 const core::ElementSlack* slack);

}  // namespace dmlconform::compare
