// UPSAMPLE_2D: a copy that repeats elements, or an interpolation with one thread for each element.
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/movement/movement.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/operators/enumerators.h"
#include "shaders/resampling/upsample_2d_parameters.hlsli"

namespace dmlconform::d3d12::upsample_2d_bindings {
namespace {

using core::TensorDesc;
using operators::Descriptor;

using Parameters = Upsample2dParameters;

/// 1 for dimensions that keep their size.
std::uint32_t scale_of(const Descriptor& descriptor, std::size_t d, std::size_t rank) {
    const auto& scale = descriptor.get<operators::Size2D>("ScaleSize");
    return d + 1 == rank ? scale.width : d + 2 == rank ? scale.height : 1;
}

DispatchPlan plan_nearest(const Descriptor& descriptor) {
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    Movement copy(&source, *descriptor.tensor("OutputTensor"));
    for (std::size_t d = 0; d < source.sizes.size(); ++d) {
        const std::uint32_t scale = scale_of(descriptor, d, source.sizes.size());
        copy.along(scale, 0, copy.target_strides()[d]);
        copy.along(source.sizes[d], copy.source_strides()[d], copy.target_strides()[d] * scale);
    }
    return {{}, {std::move(copy).dispatch(input(0), output(0))}};
}

DispatchPlan plan_linear(const Descriptor& descriptor) {
    const TensorDesc& source = *descriptor.tensor("InputTensor");
    const TensorDesc& target = *descriptor.tensor("OutputTensor");
    const core::Strides source_strides = core::signed_strides(source);
    const core::Strides target_strides = core::signed_strides(target);
    const std::size_t rank = source.sizes.size();
    const std::size_t height = rank - 2;
    const std::size_t width = rank - 1;
    // Strides in the input and the output, and the output's row and column.
    StridedDimensions<4> dimensions;
    for (std::size_t d = rank; d-- > 0;) {
        const bool scaled = d >= height;
        dimensions.push_back(
            {target.sizes[d],
             {scaled ? 0 : source_strides[d], target_strides[d], d == height ? 1 : 0, d == width ? 1 : 0}});
    }
    dimensions = merged(dimensions);
    const std::uint64_t count = count_of(dimensions);
    Parameters parameters{};
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    parameters.packing = core::bits_of(source.data_type) == 16 ? 1 : 0;
    parameters.scale.words = {scale_of(descriptor, height, rank), scale_of(descriptor, width, rank),
                              source.sizes[height], source.sizes[width]};
    parameters.stride.words = {static_cast<std::uint32_t>(source_strides[height]),
                               static_cast<std::uint32_t>(source_strides[width]), 0, 0};
    return {{},
            {{{"upsample_2d", {}},
              {input(0), output(0)},
              words_with(parameters, dimensions, 4),
              groups_of(count, group_size)}}};
}

DispatchPlan plan(const Descriptor& descriptor) {
    using operators::InterpolationMode;
    const auto mode = enumerator<InterpolationMode>(descriptor, "InterpolationMode");
    return mode == InterpolationMode::nearest_neighbor ? plan_nearest(descriptor) : plan_linear(descriptor);
}

std::vector<ShaderVariant> variants() {
    return joined({movement_variants(), all_variants("upsample_2d", {})});
}

/// Positions between elements are 32-bit numbers of half elements.
std::optional<std::string> too_large(const Descriptor& descriptor) {
    constexpr std::uint32_t most = std::uint32_t{1} << 30;
    for (const std::uint32_t size : descriptor.sizes("OutputTensor")) {
        if (size > most) {
            return "the shader does not count more than 2^30 positions in a dimension";
        }
    }
    return std::nullopt;
}

}  // namespace

Bindings bindings() {
    return {{.name = "UPSAMPLE_2D", .plan = plan, .variants = variants, .unsupported = too_large}};
}

}  // namespace dmlconform::d3d12::upsample_2d_bindings
