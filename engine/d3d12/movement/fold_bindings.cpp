// FOLD: each thread computes one element of the output, as the sum of the block elements that overlap there.
#include <cstddef>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "shaders/movement/fold_parameters.hlsli"

namespace dmlconform::d3d12::fold_bindings {
namespace {

using operators::Descriptor;

using Parameters = FoldParameters;

/// Dimensions before this one are batch and channel.
constexpr std::size_t first_spatial = 2;

/// Describes the windows, last dimension first, because block indices advance fastest along it.
void describe_windows(Parameters& parameters, const Descriptor& descriptor, const core::TensorDesc& target) {
    const auto& windows = descriptor.uints("WindowSizes");
    std::uint64_t count = 1;
    std::uint64_t block_pitch = 1;
    for (std::size_t w = windows.size(); w-- > 0;) {
        const std::uint64_t padding = descriptor.uints("StartPadding")[w];
        const std::uint64_t dilation = descriptor.uints("Dilations")[w];
        const std::uint64_t stride = descriptor.uints("Strides")[w];
        const std::uint64_t room = target.sizes[first_spatial + w] + padding + descriptor.uints("EndPadding")[w];
        const std::uint64_t blocks = (room - dilation * (windows[w] - 1) - 1) / stride + 1;
        parameters.windows[2 * w].words = {windows[w], static_cast<std::uint32_t>(dilation),
                                           static_cast<std::uint32_t>(stride), static_cast<std::uint32_t>(blocks)};
        parameters.windows[2 * w + 1].words = {static_cast<std::uint32_t>(padding),
                                               static_cast<std::uint32_t>(block_pitch), 0, 0};
        count *= windows[w];
        block_pitch *= blocks;
    }
    parameters.window_dimension_count = static_cast<std::uint32_t>(windows.size());
    parameters.window_count = static_cast<std::uint32_t>(count);
}

DispatchPlan plan(const Descriptor& descriptor) {
    const core::TensorDesc& source = *descriptor.tensor("InputTensor");
    const core::TensorDesc& target = *descriptor.tensor("OutputTensor");
    const core::Strides source_strides = core::signed_strides(source);
    const core::Strides target_strides = core::signed_strides(target);
    Parameters parameters{};
    describe_windows(parameters, descriptor, target);
    parameters.kind = kind_of(target.data_type);
    parameters.packing = packing_of(target.data_type);
    parameters.window_stride = static_cast<std::uint32_t>(source_strides[1]);
    parameters.block_stride = static_cast<std::uint32_t>(source_strides[2]);
    parameters.dimension_count = static_cast<std::uint32_t>(target.sizes.size());
    std::uint64_t count = 1;
    for (std::size_t d = 0; d < target.sizes.size(); ++d) {
        const std::int64_t from = d == 0 ? source_strides[0] : d == 1 ? source_strides[1] * parameters.window_count : 0;
        const std::size_t window = d < first_spatial ? MOST_WINDOW_DIMENSIONS : d - first_spatial;
        parameters.dimensions[target.sizes.size() - 1 - d].words = {target.sizes[d], static_cast<std::uint32_t>(from),
                                                                    static_cast<std::uint32_t>(target_strides[d]),
                                                                    static_cast<std::uint32_t>(window)};
        count *= target.sizes[d];
    }
    parameters.element_count = static_cast<std::uint32_t>(count);
    return {{}, {{{"fold", {}}, {input(0), output(0)}, parameters_from(parameters), groups_of(count, group_size)}}};
}

/// Coordinates in and around the output are signed 32-bit numbers.
std::optional<std::string> too_far(const Descriptor& descriptor) {
    const core::TensorDesc& target = *descriptor.tensor("OutputTensor");
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    for (std::size_t w = 0; w < descriptor.uints("WindowSizes").size(); ++w) {
        if (std::uint64_t{target.sizes[first_spatial + w]} + descriptor.uints("StartPadding")[w] +
                descriptor.uints("EndPadding")[w] >=
            most) {
            return "the shader does not count 2^31 positions in a padded dimension";
        }
    }
    return std::nullopt;
}

}  // namespace

Bindings bindings() {
    return {{.name = "FOLD",
             .plan = plan,
             .variants =
                 [] {
                     return std::vector<ShaderVariant>{{"fold", {}}};
                 },
             .unsupported = too_far}};
}

}  // namespace dmlconform::d3d12::fold_bindings
