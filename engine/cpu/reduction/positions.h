// Indices of the smallest or largest element of each slice: ARGMIN, ARGMAX, and the corresponding functions of REDUCE.
#pragma once

#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::reduction {

/// Which element's index is wanted.
struct Wanted {
    bool greatest = false;
    /// Selects the last of equal elements instead of the first.
    bool last = false;
};

/// Reduces the first input along "Axes" to the first output. The index is the row-major one among the reduced
/// dimensions.
void find_positions(const KernelArguments& arguments, Wanted wanted);

/// Exact, except where FLOAT32 subnormals decide: the index found with subnormals flushed to zero is accepted as well.
[[nodiscard]] core::Tolerance tolerance_of_positions(const operators::Descriptor& descriptor);

}  // namespace dmlconform::cpu::reduction
