// The input positions of resampled outputs along a dimension, and the weights of the input's elements.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/resampling/interpolation.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::window {

/// A dimension of the forward pass.
struct Line {
    std::size_t dimension = 0;
    std::int64_t size = 1;
    std::int64_t outputs = 1;
};

[[nodiscard]] bool is_linear(const operators::Descriptor& descriptor);

/// The position of each output: (output - output offset) / scale - input offset.
[[nodiscard]] std::vector<Sample> samples_along(const operators::Descriptor& descriptor, const Line& line,
                                                bool bounded);

/// The same, but for NEAREST_NEIGHBOR the element below a position, as DirectML 1.15.4 was measured to take it of
/// bytes.
[[nodiscard]] std::vector<Sample> samples_below(const operators::Descriptor& descriptor, const Line& line,
                                                bool bounded);

/// The same for LINEAR as DirectML 1.15.4 was measured to compute it: the elements are chosen by an input offset that
/// is clamped to 0 and 1, but weighted by the given one. For some outputs it chooses as it should, and where each
/// position is an element, it takes the first of the two.
[[nodiscard]] std::vector<Sample> samples_with_clamped_offset(const operators::Descriptor& descriptor, const Line& line,
                                                              bool bounded);

/// The weights of the elements for each output. Antialiasing spreads them over more elements.
[[nodiscard]] std::vector<std::vector<Weight>> weights_along(const operators::Descriptor& descriptor, const Line& line,
                                                             bool bounded);

/// True if a dimension is antialiased.
[[nodiscard]] bool is_antialiased(const operators::Descriptor& descriptor);

}  // namespace dmlconform::cpu::window
