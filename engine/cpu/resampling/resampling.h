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

/// The weights of the elements for each output. Antialiasing spreads them over more elements.
[[nodiscard]] std::vector<std::vector<Weight>> weights_along(const operators::Descriptor& descriptor, const Line& line,
                                                             bool bounded);

/// True if a dimension is antialiased.
[[nodiscard]] bool is_antialiased(const operators::Descriptor& descriptor);

}  // namespace dmlconform::cpu::window
