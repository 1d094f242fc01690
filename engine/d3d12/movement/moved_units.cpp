// Arranges and widens the units of a copy.
#include "engine/d3d12/movement/moved_units.h"

#include <algorithm>

namespace dmlconform::d3d12 {
namespace {

bool is_even(std::int64_t number) {
    return number % 2 == 0;
}

}  // namespace

MovedUnits::MovedUnits(core::DataType type) : bytes(core::bytes_of(type)) {}

void MovedUnits::arrange() {
    std::erase_if(dimensions, [](const auto& dimension) { return dimension.size == 1; });
    std::stable_sort(dimensions.begin(), dimensions.end(),
                     [](const auto& a, const auto& b) { return a.strides[target] < b.strides[target]; });
    dimensions = merged(dimensions);
}

void MovedUnits::widen() {
    while (bytes < most_bytes && can_widen()) {
        bytes *= 2;
        dimensions.front().size /= 2;
        for (const std::size_t a : {source, target}) {
            starts[a] /= 2;
            for (std::size_t d = 1; d < dimensions.size(); ++d) {
                dimensions[d].strides[a] /= 2;
            }
        }
        for (std::int64_t& step : source_steps) {
            step /= 2;
        }
    }
}

bool MovedUnits::packed() const {
    std::int64_t expected = 1;
    for (const auto& dimension : dimensions) {
        if (dimension.size != 1 && dimension.strides[target] != expected) {
            return false;
        }
        expected *= static_cast<std::int64_t>(dimension.size);
    }
    return starts[target] * static_cast<std::int64_t>(bytes) % static_cast<std::int64_t>(most_bytes) == 0;
}

bool MovedUnits::can_widen() const {
    const auto& inner = dimensions.front();
    bool even = inner.strides[source] == 1 && inner.strides[target] == 1 && inner.size % 2 == 0;
    even = even && is_even(starts[source]) && is_even(starts[target]);
    even = even && std::all_of(source_steps.begin(), source_steps.end(), is_even);
    for (std::size_t a = target + 1; a < arrays; ++a) {
        even = even && inner.strides[a] == 0;
    }
    for (std::size_t d = 1; d < dimensions.size(); ++d) {
        even = even && is_even(dimensions[d].strides[source]) && is_even(dimensions[d].strides[target]);
    }
    return even;
}

}  // namespace dmlconform::d3d12
