// Plans for tensors that may be larger than what shaders address.
//
// Work is cut into parts whose tensors and temporaries fit, and each part is planned by the operator's binding as if it
// were all. Parts are stretches of memory first of all: a dimension is cut whose elements are far apart, so that each
// part of a large tensor is small as it lies. Where that is not possible, as where each set of
// MEAN_VARIANCE_NORMALIZATION1 is spread over the whole tensor, parts of large tensors are moved to temporaries without
// gaps, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/d3d12/adapters.h"
#include "engine/d3d12/binding.h"

namespace dmlconform::d3d12 {

/// The plan of a valid descriptor that the binding supports as far as sizes go. Empty if there is none within what a
/// shader addresses.
[[nodiscard]] std::optional<DispatchPlan> plan_within(const Addressable& most, const Binding& binding,
                                                      const operators::Descriptor& descriptor);

/// The plans of parts, put together one after the other.
class PartsPlan {
public:
    explicit PartsPlan(const Addressable& most) : most_(most) {}

    /// A part, whose tensors are parts of these. False if what has to be moved cannot be cut.
    [[nodiscard]] bool add(const Binding& binding, const Part& part, const std::vector<BufferRef>& tensors);
    /// A temporary that later parts do not use for anything else.
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
    /// Temporaries that parts take in turn, and how many of them are taken.
    std::vector<std::size_t> shared_;
    std::size_t taken_ = 0;
};

}  // namespace dmlconform::d3d12
