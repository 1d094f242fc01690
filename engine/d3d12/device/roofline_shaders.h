// The shaders that measure the device's abilities. They belong to no operator.
#pragma once

#include <vector>

#include "engine/d3d12/planning/dispatch_plan.h"

namespace dmlconform::d3d12 {

[[nodiscard]] inline ShaderVariant roofline_copy_shader() {
    return {"roofline_copy", {}};
}
[[nodiscard]] inline ShaderVariant roofline_multiply_add_shader() {
    return {"roofline_multiply_add", {}};
}

/// Tests the device's conversions of FLOAT16.
[[nodiscard]] inline ShaderVariant half_conversions_shader() {
    return {"half_conversions", {}};
}

/// All of these shaders, so that they can be compiled with the program.
[[nodiscard]] inline std::vector<ShaderVariant> roofline_variants() {
    return {roofline_copy_shader(), roofline_multiply_add_shader(), half_conversions_shader()};
}

}  // namespace dmlconform::d3d12
