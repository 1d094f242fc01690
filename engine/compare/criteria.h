// What a comparison goes by: a tolerance, and what the case file says besides.
#pragma once

#include "engine/core/tolerance.h"

namespace dmlconform::compare {

/// Implicit, so that a tolerance alone can be given.
struct Criteria : core::Tolerance {
    Criteria() = default;
    Criteria(const core::Tolerance& tolerance) : core::Tolerance(tolerance) {}

    /// An expected -0.0 does not match +0.0, whatever else is accepted. Set if the case file spells -0.0.
    bool zero_signs = false;
};

}  // namespace dmlconform::compare
