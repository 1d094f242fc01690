// RESAMPLE, its successors and their gradients: which dimensions are scaled, and how positions between elements are
// interpolated.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/made_elements.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/operators/enumerators.h"
#include "shaders/resampling/resample_parameters.hlsli"

namespace dmlconform::d3d12::resample_bindings {
namespace {

using core::TensorDesc;
using operators::Descriptor;

using Parameters = ResampleParameters;

/// In the order of the shader's rows.
enum Array : std::size_t { read, made, numbers, array_count = numbers + MOST_SCALED };

/// The position of an output element along a dimension of the input: (number - output) / scale - input.
struct Scaling {
    float scale;
    float input = 0.5F;
    float output = -0.5F;

    /// By default, positions refer to the centres of elements.
    Scaling(const Descriptor& descriptor, std::size_t d) : scale(descriptor.get<std::vector<float>>("Scales")[d]) {
        if (descriptor.has_field("InputPixelOffsets")) {
            input = descriptor.get<std::vector<float>>("InputPixelOffsets")[d];
            output = descriptor.get<std::vector<float>>("OutputPixelOffsets")[d];
        }
    }

    /// True if elements keep their positions.
    [[nodiscard]] bool keeps(std::uint32_t from, std::uint32_t to) const {
        return scale == 1 && input == -output && to <= from;
    }
};

bool interpolates(const Descriptor& descriptor) {
    using operators::InterpolationMode;
    return enumerator<InterpolationMode>(descriptor, "InterpolationMode") != InterpolationMode::nearest_neighbor;
}

std::uint32_t nearest_of(const Descriptor& descriptor) {
    if (!descriptor.has_field("RoundingDirection")) {
        return NEAREST_HALF_UP;
    }
    const auto direction = enumerator<operators::AxisDirection>(descriptor, "RoundingDirection");
    return direction == operators::AxisDirection::decreasing ? NEAREST_BELOW : NEAREST_ABOVE;
}

/// The dimensions of a dispatch that computes one tensor from another, and those that are scaled.
struct Geometry {
    StridedDimensions<array_count> dimensions;
    std::array<ConstantBuffer::uint4, 2 * MOST_SCALED> scaled{};
    std::uint32_t scaled_count = 0;
};

/// The tensors that the forward pass reads and writes; the gradient writes and reads them.
struct Tensors {
    const TensorDesc& from;
    const TensorDesc& to;
};

/// All scales of at least 1 have the filter of this slope.
constexpr float whole_slope = 1;

Geometry geometry_of(const Descriptor& descriptor, const Tensors& forward, bool is_gradient,
                     const std::function<float(float scale)>& slope_of) {
    const core::Strides read_strides = core::signed_strides(is_gradient ? forward.to : forward.from);
    const core::Strides made_strides = core::signed_strides(is_gradient ? forward.from : forward.to);
    Geometry geometry;
    for (std::size_t d = forward.from.sizes.size(); d-- > 0;) {
        const std::uint32_t from = forward.from.sizes[d];
        const std::uint32_t to = forward.to.sizes[d];
        SharedDimension<array_count> here;
        here.size = is_gradient ? from : to;
        here.strides[made] = made_strides[d];
        const Scaling scaling(descriptor, d);
        if (scaling.keeps(from, to) && (from == to || !is_gradient)) {
            here.strides[read] = read_strides[d];
        } else {
            const std::uint32_t number = geometry.scaled_count++;
            here.strides[numbers + number] = 1;
            geometry.scaled[2 * number].words = {from, static_cast<std::uint32_t>(read_strides[d]),
                                                 std::bit_cast<std::uint32_t>(scaling.scale),
                                                 std::bit_cast<std::uint32_t>(scaling.output)};
            geometry.scaled[2 * number + 1].words = {std::bit_cast<std::uint32_t>(scaling.input),
                                                     std::bit_cast<std::uint32_t>(slope_of(scaling.scale)), to, 0};
        }
        geometry.dimensions.push_back(here);
    }
    // The remaining dimensions have size 1 and position 0.
    for (std::uint32_t number = geometry.scaled_count; number < MOST_SCALED; ++number) {
        const auto one = std::bit_cast<std::uint32_t>(1.0F);
        geometry.scaled[2 * number].words = {1, 0, one, 0};
        geometry.scaled[2 * number + 1].words = {0, one, 1, 0};
    }
    geometry.dimensions = merged(geometry.dimensions);
    return geometry;
}

DispatchPlan plan_of(const Descriptor& descriptor, const Geometry& geometry, const TensorDesc& target,
                     std::pair<std::string_view, std::pair<std::string_view, std::uint32_t>> shader) {
    Parameters parameters{};
    const std::uint64_t count = count_of(geometry.dimensions);
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(geometry.dimensions.size());
    parameters.kind = kind_of(target.data_type);
    parameters.packing = packing_of(target.data_type);
    parameters.nearest = nearest_of(descriptor);
    parameters.scaled_count = geometry.scaled_count;
    parameters.interpolates = interpolates(descriptor) ? 1 : 0;
    std::copy(geometry.scaled.begin(), geometry.scaled.end(), parameters.scaled);
    put_rows(strided_rows(geometry.dimensions, array_count), parameters.dimensions);
    const std::uint32_t layout = layout_of(target.data_type, core::is_packed(target));
    return {{},
            {{{shader.first, {shader.second, {"ELEMENTS", layout}}},
              {input(0), output(0)},
              parameters_from(parameters),
              groups_for(count, layout, target.data_type)}}};
}

DispatchPlan plan(const Descriptor& descriptor) {
    const Tensors tensors{*descriptor.tensor("InputTensor"), *descriptor.tensor("OutputTensor")};
    const Geometry geometry = geometry_of(descriptor, tensors, false, [](float) { return whole_slope; });
    const std::uint32_t takes = !interpolates(descriptor)            ? TAKES_NEAREST
                                : geometry.scaled_count <= TAKES_TWO ? TAKES_TWO
                                                                     : TAKES_FOUR;
    return plan_of(descriptor, geometry, tensors.to, {"resample", {"TAKES", takes}});
}

/// If more than two elements contribute to one, the filter is wider.
bool widens_filter(float scale) {
    return scale < 0.5F;
}

bool filters(const Descriptor& descriptor) {
    const auto& scales = descriptor.get<std::vector<float>>("Scales");
    return descriptor.has_field("Antialiased") && descriptor.uint("Antialiased") != 0 && interpolates(descriptor) &&
           std::any_of(scales.begin(), scales.end(), widens_filter);
}

DispatchPlan plan_filter(const Descriptor& descriptor) {
    if (!filters(descriptor)) {
        return plan(descriptor);
    }
    const Tensors tensors{*descriptor.tensor("InputTensor"), *descriptor.tensor("OutputTensor")};
    const auto slope_of = [](float scale) { return widens_filter(scale) ? scale : whole_slope; };
    return plan_of(descriptor, geometry_of(descriptor, tensors, false, slope_of), tensors.to,
                   {"resample_weighted", {"WEIGHTS", WEIGHTS_FILTER}});
}

DispatchPlan plan_gradient(const Descriptor& descriptor) {
    const Tensors tensors{*descriptor.tensor("OutputGradientTensor"), *descriptor.tensor("InputGradientTensor")};
    const Geometry geometry = geometry_of(descriptor, tensors, true, [](float) { return whole_slope; });
    return plan_of(descriptor, geometry, tensors.from, {"resample_weighted", {"WEIGHTS", WEIGHTS_GRADIENT}});
}

std::vector<ShaderVariant> variants() {
    return all_variants("resample",
                        {{"TAKES", {TAKES_NEAREST, TAKES_TWO, TAKES_FOUR}}, {"ELEMENTS", layouts_of({32, 16, 8})}});
}

std::vector<ShaderVariant> weighted_variants(std::uint32_t weights) {
    return all_variants("resample_weighted", {{"WEIGHTS", {weights}}, {"ELEMENTS", layouts_of({32, 16, 8})}});
}

std::vector<ShaderVariant> filter_variants() {
    return joined({variants(), weighted_variants(WEIGHTS_FILTER)});
}

/// Positions are FP32 numbers, and element indices have 32 bits.
std::optional<std::string> too_many(const Descriptor& descriptor) {
    constexpr std::uint32_t most = std::uint32_t{1} << 24;
    constexpr float shortest = 1.0F / 65536;
    const bool is_gradient = descriptor.has_field("OutputGradientTensor");
    const core::Dimensions& from = descriptor.tensor(is_gradient ? "OutputGradientTensor" : "InputTensor")->sizes;
    const core::Dimensions& to = descriptor.tensor(is_gradient ? "InputGradientTensor" : "OutputTensor")->sizes;
    for (const core::Dimensions* sizes : {&from, &to}) {
        if (*core::element_count(*sizes) >= std::uint64_t{1} << 32) {
            return "the shader does not count 2^32 elements";
        }
    }
    for (std::size_t d = 0; d < from.size(); ++d) {
        const Scaling scaling(descriptor, d);
        if (std::max(from[d], to[d]) > most && !scaling.keeps(from[d], to[d])) {
            return "the shader does not tell more than 2^24 positions in a scaled dimension apart";
        }
        if (filters(descriptor) && scaling.scale < shortest) {
            return "the shader's filter does not reach over more than 2^17 elements";
        }
    }
    return std::nullopt;
}

}  // namespace

Bindings bindings() {
    Bindings rows;
    for (const std::string_view name : {"RESAMPLE", "RESAMPLE1", "RESAMPLE2"}) {
        rows.push_back({.name = name, .plan = plan, .variants = variants, .unsupported = too_many});
    }
    rows.push_back({.name = "RESAMPLE3", .plan = plan_filter, .variants = filter_variants, .unsupported = too_many});
    for (const std::string_view name : {"RESAMPLE_GRAD", "RESAMPLE_GRAD1"}) {
        rows.push_back({.name = name,
                        .plan = plan_gradient,
                        .variants = [] { return weighted_variants(WEIGHTS_GRADIENT); },
                        .unsupported = too_many});
    }
    return rows;
}

}  // namespace dmlconform::d3d12::resample_bindings
