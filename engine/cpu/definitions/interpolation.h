// Linear interpolation between the elements around a position.
#pragma once

#include "engine/cpu/definitions/call.h"

namespace dmlconform::cpu::definitions {

/// An element of the input, and its share of an output.
template <class Real>
struct Share {
    std::int64_t element = 0;
    Real weight = 0;
};
template <class Real>
using Shares = std::vector<Share<Real>>;

/// The two neighbours of a position, by their distance. Beyond the outermost elements the input is constant.
template <class Real>
Shares<Real> linear(const Real& position, std::int64_t size) {
    const Real inside = min(max(position, Real(0)), Real(static_cast<double>(size - 1)));
    const Real first = floor(inside);
    const auto element = static_cast<std::int64_t>(as_double(first));
    const Real distance = inside - Real(as_double(first));
    if (distance == Real(0)) {
        return {{element, Real(1)}};
    }
    return {{element, Real(1) - distance}, {std::min(element + 1, size - 1), distance}};
}

}  // namespace dmlconform::cpu::definitions
