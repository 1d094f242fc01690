// What a reduction is: the tensors and their dimensions, split into those of lines and those within lines.
//
// A line is a slice of the tensor that is reduced to one result. Its items are what a thread reads at once: one element
// or four.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/planning/dispatch_plan.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/operators/descriptor.h"
#include "shaders/reduction/reduction_parameters.hlsli"

namespace dmlconform::d3d12 {

/// Arrays of the iteration, in the order of the shaders' rows. `line` is the index of the result.
enum ReductionArray : std::size_t {
    reduction_input,
    reduction_output,
    reduction_line,
    reduction_second,
    reduction_mean,
    reduction_arrays
};

using ReductionDimensions = StridedDimensions<reduction_arrays>;

/// A tensor and its buffer. Null if there is none. Sizes of 1 are broadcast.
struct ReductionTensor {
    const core::TensorDesc* desc = nullptr;
    BufferRef buffer;
};

/// What is reduced, and how: see shaders/reduction/reduction_parameters.hlsli.
struct Reduction {
    std::uint32_t combine = COMBINE_SUM;
    std::uint32_t numbers = NUMBERS_REAL;
    /// Map, finish, and all other parameters that do not depend on the tensors' shapes.
    ReductionParameters parameters{};
    std::array<ReductionTensor, reduction_arrays> tensors{};
    /// One flag for each dimension of the input.
    std::vector<bool> reduced;
    /// True if indices along a line matter: items are numbered like its elements.
    bool in_order = false;
    /// Lines, which then have one dimension, are traversed from the last element to the first.
    bool is_backwards = false;
};

/// A reduction whose dimensions are split.
struct ReductionShape {
    ReductionDimensions lines;
    ReductionDimensions items;
};

/// How the threads of a group are divided among lines, and the items of a line among groups.
struct ReductionDivision {
    std::uint64_t threads_per_line = 1;
    std::uint64_t lines_per_group = 1;
    std::uint64_t items_per_chunk = 1;
    std::uint64_t chunks = 1;
    std::uint64_t groups = 1;
};

/// Elements of an item that is a vector.
inline constexpr std::uint64_t reduction_vector_size = 4;

/// Items per thread, since waiting for other threads takes longer than reading memory. Fewer if the thread keeps them
/// in registers.
inline constexpr std::uint64_t few_items = 4;
inline constexpr std::uint64_t many_items = 16;

/// The strides by which an element's coordinates give the index of its line.
[[nodiscard]] core::Strides line_strides(const Reduction& reduction);

/// The dimensions of lines and items, innermost first. Lines are numbered in their order.
[[nodiscard]] ReductionShape split(const Reduction& reduction);

/// True if vectors along the first dimension of `along` are adjacent and aligned in these arrays.
[[nodiscard]] bool are_adjacent(const ReductionDimensions& along, const ReductionDimensions& others,
                                const std::vector<ReductionArray>& arrays);

/// VECTOR_…: whether four elements can form an item, of one line or of four lines. `writes`: in the output as well.
[[nodiscard]] std::uint32_t vector_of(const ReductionShape& shape, std::uint32_t numbers, bool writes);

/// The size of thread groups, and the number that keeps a large GPU busy.
struct ReductionGroups {
    std::uint64_t size = 256;
    std::uint64_t enough = 1024;
};

/// `wanted_items`: items per thread, unless that leads to too few threads.
[[nodiscard]] ReductionDivision divide(std::uint64_t lines, std::uint64_t items, bool side_by_side,
                                       std::uint64_t wanted_items, const ReductionGroups& size_and_number = {});

/// For each dimension, whether the operator reduces it: by its Axes, or the last dimension if it has no such field.
[[nodiscard]] std::vector<bool> reduced_by(const operators::Descriptor& descriptor, std::size_t rank);

}  // namespace dmlconform::d3d12
