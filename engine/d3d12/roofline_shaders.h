// The shaders that measure what the device can do: they belong to no operator's binding.
#pragma once

#include <vector>

#include "engine/d3d12/dispatch_plan.h"

namespace dmlconform::d3d12 {

[[nodiscard]] inline ShaderVariant roofline_copy_shader() {
    return {"roofline_copy", {}};
}
[[nodiscard]] inline ShaderVariant roofline_multiply_add_shader() {
    return {"roofline_multiply_add", {}};
}

/// Whether it converts as shaders need it.
[[nodiscard]] inline ShaderVariant half_conversions_shader() {
    return {"half_conversions", {}};
}

/// All, so that they can be compiled when the program is built.
[[nodiscard]] inline std::vector<ShaderVariant> roofline_variants() {
    return {roofline_copy_shader(), roofline_multiply_add_shader(), half_conversions_shader()};
}

}  // namespace dmlconform::d3d12
