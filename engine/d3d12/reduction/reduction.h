// Reductions as dispatches of shaders/reduction/reduction.hlsl: splits dimensions into those of lines and those within
// lines, and divides the work among thread groups.
//
// A line is a slice of the tensor that is reduced to one result. Its items are what a thread reads at once: one element
// or four.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
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

/// The strides by which an element's coordinates give the index of its line.
[[nodiscard]] core::Strides line_strides(const Reduction& reduction);

/// The dimensions of lines and items, innermost first. Lines are numbered in their order.
[[nodiscard]] ReductionShape split(const Reduction& reduction);

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

/// Adds the dispatches of a reduction to a plan.
class ReductionPlanner {
public:
    ReductionPlanner(DispatchPlan& plan, Reduction reduction);

    /// Writes one result for each line to the output.
    void to_results();
    /// Computes each element of the output from its line's result.
    void to_elements();
    /// Writes the intermediate state of each line to a temporary. `sums`: the result of another reduction of the same
    /// lines.
    [[nodiscard]] BufferRef to_parts(BufferRef sums = {});
    /// Like to_parts, but separately for each chunk of this many items.
    [[nodiscard]] BufferRef to_chunks(std::uint64_t items_per_chunk);
    /// CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT: each element becomes the result of all elements up to it.
    void to_cumulated();

private:
    struct Pass {
        std::uint32_t vector = 1;
        ReductionParameters parameters;
        ReductionDivision division;
        std::uint64_t group_size = d3d12::group_size;
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
    [[nodiscard]] bool has_only(core::DataType type) const;
    [[nodiscard]] bool can_spread() const;
    [[nodiscard]] bool spreads_pairs() const;
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

/// Says why the shaders cannot index the elements of a valid descriptor; empty if they can.
[[nodiscard]] std::optional<std::string> too_many_elements(const operators::Descriptor& descriptor);

/// All shader variants that a planner may use for reductions that end in results, in elements, or in parts.
struct ReductionVariants {
    std::uint32_t combine = 0;
    std::uint32_t numbers = 0;
    bool results = true;
    bool elements = false;
};
[[nodiscard]] std::vector<ShaderVariant> variants_of(const ReductionVariants& wanted);
/// The variants of to_cumulated.
[[nodiscard]] std::vector<ShaderVariant> cumulative_variants(std::uint32_t combine);

}  // namespace dmlconform::d3d12
