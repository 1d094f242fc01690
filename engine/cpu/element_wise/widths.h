// How wide the ranges are that an element-wise operator's tolerance comes to: for documentation, and to see when a
// tolerance has grown out of proportion.
#pragma once

#include <optional>

#include "engine/operators/catalogue.h"

namespace dmlconform::cpu::element_wise {

/// From the least to the greatest number that is accepted, in places of the exact result's type (ULPs; for integers in
/// units).
struct Widths {
    double median = 0;
    double largest = 0;
};

/// Over a fixed set of random arguments, FLOAT32 where the operator takes it. Nothing for what is not a real-valued
/// operator of the family.
[[nodiscard]] std::optional<Widths> widths_of(const operators::OperatorSchema& schema);

}  // namespace dmlconform::cpu::element_wise
