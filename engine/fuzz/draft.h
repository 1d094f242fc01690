// A case while it is made smaller: its descriptor, and the elements of its inputs where they can be changed.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::fuzz {

struct Draft {
    operators::Descriptor descriptor;
    /// In the order of descriptor.inputs(): packed elements in row-major order, empty for an absent tensor.
    std::vector<std::vector<std::byte>> inputs;
};

/// An error where the case's data cannot be read.
[[nodiscard]] core::Result<Draft> draft_of(const cases::Case& subject);

/// Half-open, along one dimension.
struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

/// Keeps only these elements of an input along a dimension, in data and sizes; the tensor becomes packed.
void keep(Draft& draft, std::size_t input, std::size_t dimension, Range range);

/// Makes what follows from inputs and attributes legal again where possible, and the data as large as the tensors:
/// an input whose sizes changed with that keeps its first elements, and repeats the last ones where it has too few.
void repair(Draft& draft);

/// The number of elements of an input, and one of them.
[[nodiscard]] std::size_t count_of(const Draft& draft, std::size_t input);

/// The description of an input, to be changed; null when it is absent.
[[nodiscard]] core::TensorDesc* input_desc(Draft& draft, std::size_t input);

}  // namespace dmlconform::fuzz
