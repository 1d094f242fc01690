// Default tolerances, which every kernel's entry must state.
#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "engine/core/tolerance.h"
#include "engine/operators/descriptor.h"

namespace dmlconform::cpu {

/// The default tolerance of an output of a valid descriptor. Has no default constructor, so that an entry without a
/// tolerance does not compile.
class StatedTolerance {
public:
    template <std::invocable<const operators::Descriptor&, const operators::TensorSlot&> Function>
    requires(!std::same_as<Function, StatedTolerance>)
        StatedTolerance(Function function)  // NOLINT(google-explicit-constructor): entries name functions
        : function_(std::move(function)) {}

    [[nodiscard]] core::Tolerance operator()(const operators::Descriptor& descriptor,
                                             const operators::TensorSlot& output) const {
        return function_(descriptor, output);
    }

private:
    std::function<core::Tolerance(const operators::Descriptor&, const operators::TensorSlot&)> function_;
};

/// For operators that copy elements, write constants of the descriptor or compute integers: bits must be equal.
[[nodiscard]] core::Tolerance exact_tolerance(const operators::Descriptor& descriptor,
                                              const operators::TensorSlot& output);

/// For operators whose result is an element of an input, 0 or 1. Nothing is rounded, but no source specifies whether
/// the maximum of 0 and -0 is 0 or -0.
[[nodiscard]] core::Tolerance selected_tolerance(const operators::Descriptor& descriptor,
                                                 const operators::TensorSlot& output);

}  // namespace dmlconform::cpu
