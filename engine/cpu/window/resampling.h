// Where the outputs of resampling lie along a dimension, and what of its elements is in each.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/window/interpolation.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::window {

/// A dimension of the forward pass.
struct Line {
    std::size_t dimension = 0;
    std::int64_t size = 1;
    std::int64_t outputs = 1;
};

[[nodiscard]] bool is_linear(const operators::Descriptor& descriptor);

/// The place of each output: (output - output offset) / scale - input offset.
[[nodiscard]] std::vector<Sample> samples_along(const operators::Descriptor& descriptor, const Line& line,
                                                bool bounded);

/// The weights of the elements in each output, which antialiasing spreads over more of them.
[[nodiscard]] std::vector<std::vector<Weight>> weights_along(const operators::Descriptor& descriptor, const Line& line,
                                                             bool bounded);

/// Whether some dimension is antialiased.
[[nodiscard]] bool is_antialiased(const operators::Descriptor& descriptor);

}  // namespace dmlconform::cpu::window
