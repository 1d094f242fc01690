// A case that is being reduced: its descriptor, and the elements of its inputs if they can be changed.
#pragma once

#include <cstddef>
#include <vector>

#include "engine/cases/case.h"
#include "engine/core/error.h"

namespace dmlconform::fuzz {

struct Draft {
    operators::Descriptor descriptor;
    /// For each of descriptor.inputs(): packed elements in row-major order, empty for an absent tensor.
    std::vector<std::vector<std::byte>> inputs;
};

/// Makes a draft of a case. Fails if the case's data cannot be read.
[[nodiscard]] core::Result<Draft> draft_of(const cases::Case& subject);

/// A half-open range along one dimension.
struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

/// Keeps only these elements of an input along a dimension, in data and sizes. The tensor becomes packed.
void keep(Draft& draft, std::size_t input, std::size_t dimension, Range range);

/// Makes everything that depends on inputs and attributes legal again if possible, and adjusts the data: an input whose
/// sizes changed keeps its first elements, and repeats the last ones if it has too few.
void repair(Draft& draft);

/// The number of elements of an input, and one of them.
[[nodiscard]] std::size_t count_of(const Draft& draft, std::size_t input);

/// The descriptor of an input, which may be changed; null if it is absent.
[[nodiscard]] core::TensorDesc* input_desc(Draft& draft, std::size_t input);

}  // namespace dmlconform::fuzz
