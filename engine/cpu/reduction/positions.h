// Where the least or the greatest element of each set is: ARGMIN and ARGMAX, by themselves and as functions of REDUCE.
#pragma once

#include "engine/cpu/kernel.h"

namespace dmlconform::cpu::reduction {

/// Which element's position is asked for.
struct Wanted {
    bool greatest = false;
    /// Of equal elements the last instead of the first.
    bool last = false;
};

/// From the first input along "Axes" to the first output. A position is the row-major number of the element among the
/// reduced dimensions.
void find_positions(const KernelArguments& arguments, Wanted wanted);

/// Exact, but where subnormals of FLOAT32 decide, as right is the position that is found if they count as zero.
[[nodiscard]] core::Tolerance tolerance_of_positions(const operators::Descriptor& descriptor);

}  // namespace dmlconform::cpu::reduction
