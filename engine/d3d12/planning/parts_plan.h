// Plans for tensors that may be larger than shaders can address.
//
// Work is cut into parts whose tensors and temporaries fit. The operator's binding plans each part as if it were
// everything. Parts are segments of memory if possible: cutting a dimension with large strides makes the parts of large
// tensors small in memory. Where that is impossible, as for a normalisation group of MEAN_VARIANCE_NORMALIZATION1 that
// is spread over the whole tensor, parts are copied to packed temporaries and back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/d3d12/device/adapters.h"
#include "engine/d3d12/planning/binding.h"

namespace dmlconform::d3d12 {

/// Plans a valid descriptor that the binding supports apart from its size. Empty if there is no plan within what a
/// shader can address.
[[nodiscard]] std::optional<DispatchPlan> plan_within(const Addressable& most, const Binding& binding,
                                                      const operators::Descriptor& descriptor);

/// Combines the plans of parts.
class PartsPlan {
public:
    explicit PartsPlan(const Addressable& most) : most_(most) {}

    /// Adds a part of the whole tensors. Returns false if something has to be copied that cannot be cut.
    [[nodiscard]] bool add(const Binding& binding, const Part& part, const std::vector<BufferRef>& tensors);
    /// Adds a temporary that later parts do not reuse.
    [[nodiscard]] BufferRef add_temporary(std::uint64_t bytes);

    [[nodiscard]] DispatchPlan plan() && { return std::move(plan_); }

private:
    [[nodiscard]] bool copy(const core::TensorDesc& from, BufferRef source, const core::TensorDesc& to,
                            const BufferRef& target);
    [[nodiscard]] bool copy_back(const core::TensorDesc& from, const BufferRef& source, const core::TensorDesc& to,
                                 BufferRef target);
    void append(DispatchPlan plan, const std::vector<BufferRef>& tensors, std::size_t inputs);
    BufferRef take_temporary(std::uint64_t bytes);

    const Addressable& most_;
    DispatchPlan plan_;
    /// Temporaries that parts reuse, and how many of them are in use.
    std::vector<std::size_t> shared_;
    std::size_t taken_ = 0;
};

}  // namespace dmlconform::d3d12
