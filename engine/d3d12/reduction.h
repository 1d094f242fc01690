// Reductions as dispatches of shaders/reduction.hlsl: dimensions are split into those of lines and those within them,
// and the work is divided among groups of threads.
//
// A line is what is reduced to one result. Its items are what a thread reads at once: an element, or four.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/tensor_desc.h"
#include "engine/d3d12/constant_buffer.h"
#include "engine/d3d12/dispatch_plan.h"
#include "engine/d3d12/strided_dimensions.h"
#include "engine/operators/descriptor.h"
#include "shaders/reduction_parameters.hlsli"

namespace dmlconform::d3d12 {

/// The constant buffer.
struct ReductionParameters : ConstantBuffer {
#include "shaders/reduction_members.hlsli"
};

/// Arrays that are walked together, in the order of the shaders' rows. The line is the number of the result.
enum ReductionArray : std::size_t {
    reduction_input,
    reduction_output,
    reduction_line,
    reduction_second,
    reduction_mean,
    reduction_arrays
};

using ReductionDimensions = StridedDimensions<reduction_arrays>;

/// A tensor and where it is bound. Null where there is none. Sizes of 1 are repeated.
struct ReductionTensor {
    const core::TensorDesc* desc = nullptr;
    BufferRef buffer;
};

/// What is reduced, and how: see shaders/reduction_parameters.hlsli.
struct Reduction {
    std::uint32_t combine = COMBINE_SUM;
    std::uint32_t numbers = NUMBERS_REAL;
    /// Map, finish, and whatever else does not come from the tensors' shapes.
    ReductionParameters parameters{};
    std::array<ReductionTensor, reduction_arrays> tensors{};
    /// One for each dimension of the input.
    std::vector<bool> reduced;
    /// Places along a line count: its items are numbered as its elements are.
    bool in_order = false;
    /// Lines, which have one dimension then, are walked from their last element to the first.
    bool is_backwards = false;
};

/// A reduction whose dimensions are split.
struct ReductionShape {
    ReductionDimensions lines;
    ReductionDimensions items;
};

/// How a group's threads share lines, and lines' items share groups.
struct ReductionDivision {
    std::uint64_t threads_per_line = 1;
    std::uint64_t lines_per_group = 1;
    std::uint64_t items_per_chunk = 1;
    std::uint64_t chunks = 1;
    std::uint64_t groups = 1;
};

/// What the number of an element's line grows by along each dimension of the input.
[[nodiscard]] core::Strides line_strides(const Reduction& reduction);

/// The dimensions of lines and items, innermost first. Lines are numbered in their order.
[[nodiscard]] ReductionShape split(const Reduction& reduction);

/// VECTOR_…: whether four elements can be one item, of one line or of four. `writes`: also in the output.
[[nodiscard]] std::uint32_t vector_of(const ReductionShape& shape, std::uint32_t numbers, bool writes);

/// Groups of threads: their size, and how many keep a large GPU busy.
struct ReductionGroups {
    std::uint64_t size = 256;
    std::uint64_t enough = 1024;
};

/// `wanted_items`: what a thread gets of a line, unless there are too few threads then.
[[nodiscard]] ReductionDivision divide(std::uint64_t lines, std::uint64_t items, bool side_by_side,
                                       std::uint64_t wanted_items, const ReductionGroups& size_and_number = {});

/// Which of so many dimensions an operator works on: its Axes, or the last one if it has no such field.
[[nodiscard]] std::vector<bool> reduced_by(const operators::Descriptor& descriptor, std::size_t rank);

/// Adds a reduction's dispatches to a plan.
class ReductionPlanner {
public:
    ReductionPlanner(DispatchPlan& plan, Reduction reduction);

    /// A result for each line, in the output.
    void to_results();
    /// The output's elements, each by its line's result.
    void to_elements();
    /// What is known of each line, in a temporary. `sums`: what another reduction of the same lines left.
    [[nodiscard]] BufferRef to_parts(BufferRef sums = {});
    /// As to_parts, but apart for each chunk of so many elements.
    [[nodiscard]] BufferRef to_chunks(std::uint64_t items_per_chunk);
    /// CUMULATIVE_SUMMATION and the like: each element becomes the result of all up to it.
    void to_cumulated();

private:
    struct Pass {
        std::uint32_t vector = 1;
        ReductionParameters parameters;
        ReductionDivision division;
        std::uint64_t group_size = 256;
    };

    [[nodiscard]] Pass pass(std::uint32_t vector, std::uint64_t wanted_items, const ReductionGroups& groups = {}) const;
    [[nodiscard]] std::uint32_t kept_items(const Pass& pass) const;
    void put(const Pass& pass, ShaderVariant shader, std::vector<BufferRef> buffers);
    [[nodiscard]] ShaderVariant variant(std::uint32_t vector, std::uint32_t source, std::uint32_t target,
                                        std::uint32_t kept = 0) const;
    [[nodiscard]] std::vector<BufferRef> buffers(BufferRef before, BufferRef after) const;
    [[nodiscard]] BufferRef new_parts(std::uint64_t chunks);
    [[nodiscard]] BufferRef chunks_of(const Pass& pass, BufferRef sums);
    [[nodiscard]] bool is_side_by_side() const;
    [[nodiscard]] bool can_spread() const;
    [[nodiscard]] bool spread_to_elements();
    void spread_to_results();
    void join(const Pass& pass);
    void finish(BufferRef before, BufferRef after, std::uint64_t chunks, std::uint32_t target);
    void apply(const Pass& pass, BufferRef parts);

    DispatchPlan& plan_;
    Reduction reduction_;
    ReductionShape shape_;
    std::uint64_t line_count_ = 1;
};

/// Why the shaders cannot count the elements of a valid descriptor's tensors; empty when they can.
[[nodiscard]] std::optional<std::string> too_many_elements(const operators::Descriptor& descriptor);

/// Every variant of the shaders that a planner may name for reductions that end in results, in elements, or in parts.
struct ReductionVariants {
    std::uint32_t combine = 0;
    std::uint32_t numbers = 0;
    bool results = true;
    bool elements = false;
};
[[nodiscard]] std::vector<ShaderVariant> variants_of(const ReductionVariants& wanted);
/// Those of to_cumulated.
[[nodiscard]] std::vector<ShaderVariant> cumulative_variants(std::uint32_t combine);

}  // namespace dmlconform::d3d12
