// Regions of interest: ROI_POOLING, ROI_ALIGN and its gradient. Each thread computes one element of the output.
// Gradients of regions are sums over all outputs; a reduction computes them from a temporary.
#include <iterator>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/made_elements.h"
#include "engine/d3d12/planning/strided_dimensions.h"
#include "engine/d3d12/planning/words.h"
#include "engine/d3d12/reduction/reduction.h"
#include "engine/operators/enumerators.h"
#include "shaders/regions/region_parameters.hlsli"

namespace dmlconform::d3d12::region_bindings {
namespace {

using core::DataType;
using core::TensorDesc;
using operators::Descriptor;

using Parameters = RegionParameters;

/// In the order of the shader's rows.
enum Array : std::size_t { made, numbers, array_count = numbers + REGION_DIMENSIONS };

/// In the order of the shader's buffers; null for absent ones.
enum Slot : std::size_t { source, regions, target, batch_indices, gradients, chosen, slot_count };

float number_or(const Descriptor& descriptor, std::string_view field, float otherwise) {
    return descriptor.has_field(field) ? descriptor.number(field) : otherwise;
}

ConstantBuffer::uint4 strides_of(const TensorDesc& desc) {
    ConstantBuffer::uint4 result;
    const auto strides = core::effective_strides(desc);
    for (std::size_t d = 0; d < strides.size(); ++d) {
        result.words[d] = static_cast<std::uint32_t>(strides[d]);
    }
    return result;
}

/// The last two dimensions of the regions tensor are the region and its coordinates; the last one of batch indices is
/// the region.
ConstantBuffer::uint4 region_strides(const TensorDesc& desc, const TensorDesc* batches) {
    const auto strides = core::effective_strides(desc);
    ConstantBuffer::uint4 result;
    result.words[0] = static_cast<std::uint32_t>(strides[strides.size() - 2]);
    result.words[1] = static_cast<std::uint32_t>(strides[strides.size() - 1]);
    if (batches != nullptr) {
        result.words[2] = static_cast<std::uint32_t>(core::effective_strides(*batches).back());
    }
    return result;
}

/// Parameters that all shaders of an operator need: of the input, and of the outputs of its regions.
Parameters parameters_of(const TensorDesc& image, const TensorDesc& outputs, const TensorDesc& region_desc,
                         const TensorDesc* batches) {
    Parameters parameters{};
    parameters.packing = packing_of(region_desc.data_type);
    parameters.region_count = outputs.sizes[0];
    parameters.batches = image.sizes[0];
    parameters.channels = image.sizes[1];
    parameters.height = image.sizes[2];
    parameters.width = image.sizes[3];
    parameters.pooled_height = outputs.sizes[2];
    parameters.pooled_width = outputs.sizes[3];
    parameters.image_strides = strides_of(image);
    parameters.gradient_strides = strides_of(outputs);
    parameters.region_strides = region_strides(region_desc, batches);
    return parameters;
}

void put_samples(Parameters& parameters, const Descriptor& descriptor) {
    using operators::InterpolationMode;
    using operators::ReduceFunction;
    parameters.takes_largest = enumerator<ReduceFunction>(descriptor, "ReductionFunction") == ReduceFunction::max;
    parameters.interpolates =
        enumerator<InterpolationMode>(descriptor, "InterpolationMode") != InterpolationMode::nearest_neighbor;
    parameters.aligns_corners =
        descriptor.has_field("AlignRegionsToCorners") && descriptor.uint("AlignRegionsToCorners") != 0 ? 1 : 0;
    parameters.index_words = core::bits_of(descriptor.tensor("BatchIndicesTensor")->data_type) / 32;
    parameters.scale_x = descriptor.number("SpatialScaleX");
    parameters.scale_y = descriptor.number("SpatialScaleY");
    parameters.input_offset = number_or(descriptor, "InputPixelOffset", 0.5F);
    parameters.output_offset = number_or(descriptor, "OutputPixelOffset", -0.5F);
    parameters.outside_value = number_or(descriptor, "OutOfBoundsInputValue", 0);
    parameters.least_samples = descriptor.uint("MinimumSamplesPerOutput");
    parameters.most_samples = descriptor.uint("MaximumSamplesPerOutput");
}

/// Computes the elements of a tensor with four dimensions. `words`: writes words of a temporary instead, which is
/// packed.
Dispatch dispatch_of(std::uint32_t makes, Parameters parameters, const TensorDesc& made_desc, DataType type, bool words,
                     std::vector<BufferRef> buffers) {
    const core::Strides strides = core::signed_strides(made_desc);
    StridedDimensions<array_count> dimensions;
    for (std::size_t d = REGION_DIMENSIONS; d-- > 0;) {
        SharedDimension<array_count> here;
        here.size = made_desc.sizes[d];
        here.strides[made] = strides[d];
        here.strides[numbers + d] = 1;
        dimensions.push_back(here);
    }
    dimensions = merged(dimensions);
    put_rows(strided_rows(dimensions, array_count), parameters.dimensions);
    const std::uint64_t count = count_of(dimensions);
    parameters.element_count = static_cast<std::uint32_t>(count);
    parameters.dimension_count = static_cast<std::uint32_t>(dimensions.size());
    const std::uint32_t layout = layout_of(type, !words && core::is_packed(made_desc));
    return {{"region", {{"MAKES", makes}, {"ELEMENTS", layout}}},
            std::move(buffers),
            parameters_from(parameters),
            groups_for(count, layout, type)};
}

DispatchPlan plan_pooling(const Descriptor& descriptor) {
    const TensorDesc& image = *descriptor.tensor("InputTensor");
    const TensorDesc& outputs = *descriptor.tensor("OutputTensor");
    Parameters parameters = parameters_of(image, outputs, *descriptor.tensor("ROITensor"), nullptr);
    parameters.scale_x = descriptor.number("SpatialScale");
    const std::uint32_t infinity = infinity_of(image.data_type);
    parameters.sign_mask = 0xffffffff;
    parameters.key_offset = 0x7fffffff - infinity;
    return {{},
            {dispatch_of(MAKES_POOLED, parameters, outputs, image.data_type, false,
                         {input(0), input(1), output(0), {}, {}, {}})}};
}

DispatchPlan plan_align(const Descriptor& descriptor) {
    const TensorDesc& image = *descriptor.tensor("InputTensor");
    const TensorDesc& outputs = *descriptor.tensor("OutputTensor");
    Parameters parameters =
        parameters_of(image, outputs, *descriptor.tensor("ROITensor"), descriptor.tensor("BatchIndicesTensor"));
    put_samples(parameters, descriptor);
    return {{},
            {dispatch_of(MAKES_ALIGNED, parameters, outputs, image.data_type, false,
                         {input(0), input(1), output(0), input(2), {}, {}})}};
}

/// Sums over all outputs of each region. The temporary has one row of summands for each coordinate.
void sum_up_regions(DispatchPlan& plan, const TensorDesc& result, std::uint64_t outputs_of_region, BufferRef terms) {
    const std::size_t rank = result.sizes.size();
    const std::uint32_t count = result.sizes[rank - 2];
    const std::uint32_t coordinates = result.sizes[rank - 1];
    const auto strides = core::effective_strides(result);
    const TensorDesc lines =
        TensorDesc::packed(DataType::float32, {count, coordinates, static_cast<std::uint32_t>(outputs_of_region)});
    TensorDesc sums = result;
    sums.sizes = {count, coordinates, 1};
    sums.strides = core::Dimensions{static_cast<std::uint32_t>(strides[rank - 2]),
                                    static_cast<std::uint32_t>(strides[rank - 1]), 0};
    Reduction reduction;
    reduction.tensors[reduction_input] = {&lines, terms};
    reduction.tensors[reduction_output] = {&sums, output(1)};
    reduction.reduced = {false, false, true};
    ReductionPlanner(plan, reduction).to_results();
}

DispatchPlan plan_gradient(const Descriptor& descriptor) {
    const TensorDesc& outputs = *descriptor.tensor("InputGradientTensor");
    const TensorDesc* image_gradient = descriptor.tensor("OutputGradientTensor");
    const TensorDesc* region_gradient = descriptor.tensor("OutputROIGradientTensor");
    const TensorDesc* image = descriptor.tensor("InputTensor");
    Parameters parameters = parameters_of(image != nullptr ? *image : *image_gradient, outputs,
                                          *descriptor.tensor("ROITensor"), descriptor.tensor("BatchIndicesTensor"));
    put_samples(parameters, descriptor);
    const std::uint64_t count = *core::element_count(outputs.sizes);
    const DataType type = outputs.data_type;
    DispatchPlan plan;
    std::vector<BufferRef> buffers{image != nullptr ? input(0) : BufferRef{}, input(2), {}, input(3), input(1), {}};
    if (parameters.takes_largest != 0) {
        plan.temporaries.push_back(count * word_bytes);
        buffers[target] = temporary(0);
        plan.dispatches.push_back(dispatch_of(MAKES_CHOSEN, parameters, outputs, type, true, buffers));
        buffers[chosen] = temporary(0);
    }
    if (image_gradient != nullptr) {
        buffers[target] = output(0);
        plan.dispatches.push_back(dispatch_of(MAKES_GRADIENT, parameters, *image_gradient, type, false, buffers));
    }
    if (region_gradient != nullptr) {
        constexpr std::uint64_t coordinates = 4;
        const BufferRef terms = temporary(plan.temporaries.size());
        plan.temporaries.push_back(count * coordinates * word_bytes);
        buffers[target] = terms;
        plan.dispatches.push_back(dispatch_of(MAKES_REGION_GRADIENT, parameters, outputs, type, true, buffers));
        sum_up_regions(plan, *region_gradient, count / outputs.sizes[0], terms);
    }
    return plan;
}

std::vector<ShaderVariant> variants(std::uint32_t makes) {
    return all_variants("region", {{"MAKES", {makes}}, {"ELEMENTS", layouts_of({32, 16})}});
}

std::vector<ShaderVariant> gradient_variants() {
    return joined({variants(MAKES_GRADIENT),
                   all_variants("region", {{"MAKES", {MAKES_CHOSEN, MAKES_REGION_GRADIENT}},
                                           {"ELEMENTS", {ELEMENTS_WORDS, ELEMENTS_NARROW}}}),
                   variants_of({.combine = COMBINE_SUM, .numbers = NUMBERS_REAL})});
}

/// Element indices have 32 bits, and coordinates in the input are FP32 numbers.
std::optional<std::string> too_many(const Descriptor& descriptor) {
    constexpr std::uint64_t limit = std::uint64_t{1} << 32;
    constexpr std::uint32_t most_positions = std::uint32_t{1} << 24;
    constexpr std::uint32_t most_outputs = 0xffff;
    for (const auto& slots : {descriptor.inputs(), descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            if (slot.desc == nullptr) {
                continue;
            }
            // Gradients of regions have four numbers for each element.
            if (*core::element_count(slot.desc->sizes) >= limit / 4) {
                return "the shader does not count 2^30 elements";
            }
            const core::Dimensions& sizes = slot.desc->sizes;
            if (sizes.size() == REGION_DIMENSIONS && (sizes[2] > most_positions || sizes[3] > most_positions)) {
                return "the shader does not tell more than 2^24 positions in an image apart";
            }
        }
    }
    if (descriptor.has_field("PooledSize")) {
        const auto& pooled = descriptor.get<operators::Size2D>("PooledSize");
        if (pooled.width > most_outputs || pooled.height > most_outputs) {
            return "the shader does not divide regions into more than 65535 parts";
        }
    }
    return std::nullopt;
}

}  // namespace

Bindings bindings() {
    Bindings rows{
        {.name = "ROI_POOLING",
         .plan = plan_pooling,
         .variants = [] { return variants(MAKES_POOLED); },
         .unsupported = too_many},
        {.name = "ROI_ALIGN_GRAD", .plan = plan_gradient, .variants = gradient_variants, .unsupported = too_many}};
    for (const std::string_view name : {"ROI_ALIGN", "ROI_ALIGN1"}) {
        rows.push_back({.name = name,
                        .plan = plan_align,
                        .variants = [] { return variants(MAKES_ALIGNED); },
                        .unsupported = too_many});
    }
    return rows;
}

}  // namespace dmlconform::d3d12::region_bindings
