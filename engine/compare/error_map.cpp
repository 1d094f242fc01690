// Computes the error map in a separate pass over an output that differs.
#include "engine/compare/error_map.h"

#include <algorithm>

#include "engine/compare/element_difference.h"
#include "engine/core/strided.h"

namespace dmlconform::compare {
namespace {

/// The cell that an index below `count` falls into, out of `cells` cells.
std::size_t cell_of(std::uint64_t index, std::uint64_t count, std::size_t cells) {
    // The product cannot overflow: an index is limited by the memory, and there are few cells.
    return static_cast<std::size_t>(index * cells / count);
}

/// The number of indices below `count` that fall into the cell.
std::uint64_t indices_in(std::size_t cell, std::uint64_t count, std::size_t cells) {
    const auto first = [&](std::uint64_t which) { return (which * count + cells - 1) / cells; };
    return first(cell + 1) - first(cell);
}

}  // namespace

ErrorMap error_map(const core::Tensor& expected, const core::Tensor& actual, const Criteria& tolerance,
                   const core::ElementSlack* slack) {
    if (core::bytes_of(expected.desc.data_type) == 0) {
        return error_map(core::widened_copy(expected), core::widened_copy(actual), tolerance, slack);
    }
    const core::Dimensions& sizes = expected.desc.sizes;
    const std::uint64_t width = sizes.empty() ? 1 : sizes.back();
    std::uint64_t height = 1;
    for (std::size_t d = 0; d + 1 < sizes.size(); ++d) {
        height *= sizes[d];
    }
    ErrorMap map;
    map.rows = static_cast<std::size_t>(std::min<std::uint64_t>(height, ErrorMap::most_cells));
    map.columns = static_cast<std::size_t>(std::min<std::uint64_t>(width, ErrorMap::most_cells));
    map.used.resize(map.rows * map.columns);
    map.wrong.resize(map.used.size());
    const auto packed = core::packed_strides(sizes);
    const core::StridedRuns<3> runs(sizes, {core::signed_strides(expected.desc), core::signed_strides(actual.desc),
                                            core::Strides(packed.begin(), packed.end())});
    core::with_type(expected.desc.data_type, [&]<class T>() {
        const T* const wanted = expected.as<T>().data();
        const T* const found = actual.as<T>().data();
        // Not a structured binding, because clang 14 cannot capture those in a lambda.
        const std::int64_t wanted_step = runs.run_strides()[0];
        const std::int64_t found_step = runs.run_strides()[1];
        const std::int64_t index_step = runs.run_strides()[2];
        runs.for_each_run([&](const auto& offsets) {
            for (std::int64_t i = 0; i < runs.run_length(); ++i) {
                const T& a = wanted[offsets[0] + i * wanted_step];
                const T& b = found[offsets[1] + i * found_step];
                if (is_equal(a, b)) {
                    continue;
                }
                const auto index = static_cast<std::uint64_t>(offsets[2] + i * index_step);
                const std::size_t row = cell_of(index / width, height, map.rows);
                const std::size_t column = cell_of(index % width, width, map.columns);
                const std::size_t cell = row * map.columns + column;
                const double used = difference_of(a, b, tolerance, slack, static_cast<std::size_t>(index)).used;
                map.used[cell] = std::max(map.used[cell], used);
                map.wrong[cell] += is_beyond(used) ? 1 : 0;
            }
        });
    });
    for (std::size_t cell = 0; cell < map.wrong.size(); ++cell) {
        map.wrong[cell] /= static_cast<double>(indices_in(cell / map.columns, height, map.rows) *
                                               indices_in(cell % map.columns, width, map.columns));
    }
    return map;
}

}  // namespace dmlconform::compare
