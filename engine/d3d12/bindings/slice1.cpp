// SLICE1 as a strided copy of units as large as the strides allow.
#include "engine/operators/rules/slice1.h"

#include <array>

#include "engine/core/tensor.h"
#include "engine/d3d12/binding.h"
#include "engine/d3d12/strided_dimensions.h"

namespace dmlconform::d3d12 {
namespace {

/// What threads of a group copy together.
constexpr std::uint64_t group_size = 256;
constexpr std::uint64_t bytes_per_thread = 16;

/// As the constant buffer in shaders/slice1.hlsl.
struct Parameters {
    std::uint32_t unit_count = 0;
    std::uint32_t dimension_count = 0;
    std::uint32_t from_start = 0;
    std::uint32_t to_start = 0;
    std::array<StridedDimension, max_strided_dimensions> dimensions{};
};

/// A strided copy of units of 2^n bytes.
struct Copy {
    std::uint64_t unit_bytes = 0;
    std::int64_t from_start = 0;
    StridedDimensions<2> dimensions;

    /// True when all of this is a whole number of units of twice the size.
    [[nodiscard]] bool can_widen() const {
        const auto& inner = dimensions.front();
        bool even = inner.strides[0] == 1 && inner.strides[1] == 1 && inner.size % 2 == 0 && from_start % 2 == 0;
        for (std::size_t d = 1; d < dimensions.size(); ++d) {
            even = even && dimensions[d].strides[0] % 2 == 0 && dimensions[d].strides[1] % 2 == 0;
        }
        return even;
    }

    void widen() {
        unit_bytes *= 2;
        from_start /= 2;
        dimensions.front().size /= 2;
        for (std::size_t d = 1; d < dimensions.size(); ++d) {
            dimensions[d].strides[0] /= 2;
            dimensions[d].strides[1] /= 2;
        }
    }

    /// Undoes a widening.
    void narrow() {
        unit_bytes /= 2;
        from_start *= 2;
        dimensions.front().size *= 2;
        for (std::size_t d = 1; d < dimensions.size(); ++d) {
            dimensions[d].strides[0] *= 2;
            dimensions[d].strides[1] *= 2;
        }
    }

    /// True when the output's units follow one another in memory.
    [[nodiscard]] bool packed() const {
        std::int64_t expected = 1;
        for (const auto& dimension : dimensions) {
            if (dimension.size != 1 && dimension.strides[1] != expected) {
                return false;
            }
            expected *= static_cast<std::int64_t>(dimension.size);
        }
        return true;
    }
};

Copy copy_of(const operators::Slice1& op) {
    core::Dimensions sizes = op.output.sizes;
    core::Strides from = core::signed_strides(op.input);
    core::Strides to = core::signed_strides(op.output);
    Copy copy;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        copy.from_start += from[d] * op.start(d);
        from[d] *= op.window_strides[d];
    }
    copy.unit_bytes = core::bytes_of(op.input.data_type);
    if (copy.unit_bytes == 8) {
        // Two words each.
        copy.unit_bytes = 4;
        copy.from_start *= 2;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            from[d] *= 2;
            to[d] *= 2;
        }
        sizes.push_back(2);
        from.push_back(1);
        to.push_back(1);
    }
    copy.dimensions = merge_dimensions<2>(sizes, {from, to});
    while (copy.unit_bytes < bytes_per_thread && copy.can_widen()) {
        copy.widen();
    }
    if (copy.unit_bytes == 8) {
        copy.narrow();  // there is no shader for that
    }
    return copy;
}

DispatchPlan plan_slice1(const operators::Descriptor& descriptor) {
    const Copy copy = copy_of(operators::Slice1(descriptor));
    Parameters parameters;
    parameters.unit_count = static_cast<std::uint32_t>(count_of(copy.dimensions));
    parameters.dimension_count = static_cast<std::uint32_t>(copy.dimensions.size());
    parameters.from_start = static_cast<std::uint32_t>(copy.from_start);
    parameters.dimensions = strided_parameters(copy.dimensions);

    const bool packed = copy.unit_bytes < bytes_per_thread && copy.packed();
    const std::uint64_t units_per_thread = packed ? bytes_per_thread / copy.unit_bytes : 1;
    Dispatch dispatch;
    dispatch.shader = {"slice1",
                       {{"WIDTH", static_cast<std::uint32_t>(copy.unit_bytes * 8)}, {"PACKED", packed ? 1u : 0u}}};
    dispatch.buffers = {input(0), output(0)};
    dispatch.parameters = parameters_from(parameters);
    dispatch.groups = groups_of(count_of(copy.dimensions), units_per_thread * group_size);
    return {{}, {dispatch}};
}

std::vector<ShaderVariant> slice1_variants() {
    auto variants = all_variants("slice1", {{"WIDTH", {8, 16, 32}}, {"PACKED", {0, 1}}});
    variants.push_back({"slice1", {{"WIDTH", 128}, {"PACKED", 0}}});
    return variants;
}

}  // namespace

Bindings slice1_bindings() {
    return {{.name = "SLICE1", .plan = plan_slice1, .variants = slice1_variants}};
}

}  // namespace dmlconform::d3d12
