// Reductions as dispatches of shaders/reduction/reduction.hlsl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/d3d12/reduction/reduction_shape.h"
#include "engine/d3d12/reduction/reduction_variants.h"

namespace dmlconform::d3d12 {

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

}  // namespace dmlconform::d3d12
