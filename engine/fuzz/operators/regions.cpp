// Regions of interest: generic descriptors, adapted with matching regions, batches and outputs. Batch indices are 0 to
// 2, so inputs have at least three batches.
#include <algorithm>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;
using operators::ReduceFunction;

constexpr std::uint32_t most_indexed = 3;
constexpr std::uint32_t most_regions = 4;

/// Prepends ones to these sizes.
Dimensions with_leading_ones(std::size_t rank, const Dimensions& innermost) {
    Dimensions sizes(rank, 1);
    std::copy(innermost.begin(), innermost.end(), sizes.end() - static_cast<std::ptrdiff_t>(innermost.size()));
    return sizes;
}

/// A random element; all are equally likely.
template <class T>
T one_of(Random& random, std::initializer_list<T> choices) {
    return *(choices.begin() + random.below(static_cast<std::uint32_t>(choices.size())));
}

void fit_pooling(Random& random, Descriptor& descriptor) {
    const std::uint32_t count = random.pick(1, most_regions);
    resize(descriptor, "ROITensor", {1, 1, count, 5});
    field_of(descriptor, "SpatialScale") = one_of(random, {1.0F, 0.5F, 0.125F, 0.3F, 2.0F});
    generic_fuzz.repair(descriptor);
}

/// The gradient has one or both outputs, and the input if it needs it.
void fit_tensors_of_grad(Random& random, Descriptor& descriptor) {
    const core::TensorDesc regions = *tensor_of(descriptor, "ROITensor");
    const core::TensorDesc gradients = *tensor_of(descriptor, "InputGradientTensor");
    const bool with_output = random.chance(3, 4);
    const bool with_regions = !with_output || random.chance(1, 2);
    const auto drop_or_add = [&](std::string_view field, bool wanted, const core::TensorDesc& like) {
        if (!wanted) {
            field_of(descriptor, field) = operators::Null{};
        } else if (tensor_of(descriptor, field) == nullptr) {
            field_of(descriptor, field) = core::TensorDesc::packed(like.data_type, like.sizes);
        }
    };
    drop_or_add("OutputGradientTensor", with_output, gradients);
    drop_or_add("OutputROIGradientTensor", with_regions, regions);
    const bool is_maximum = enumerator<ReduceFunction>(descriptor, "ReductionFunction") == ReduceFunction::max;
    drop_or_add("InputTensor", with_regions || is_maximum || random.chance(1, 4), gradients);
}

void fit_sampling(Random& random, Descriptor& descriptor) {
    const ReduceFunction function = one_of(random, {ReduceFunction::average, ReduceFunction::max});
    field_of(descriptor, "ReductionFunction") = static_cast<std::uint32_t>(function);
    const std::uint32_t least = random.chance(1, 2) ? 1 : random.pick(1, 3);
    field_of(descriptor, "MinimumSamplesPerOutput") = least;
    field_of(descriptor, "MaximumSamplesPerOutput") = least + (random.chance(1, 2) ? 0 : random.pick(0, 4));
    for (const std::string_view scale : {"SpatialScaleX", "SpatialScaleY"}) {
        field_of(descriptor, scale) = one_of(random, {1.0F, 0.5F, 0.25F, 0.3F, 2.0F});
    }
    if (descriptor.has_field("InputPixelOffset")) {
        const bool centres = random.chance(1, 2);
        field_of(descriptor, "InputPixelOffset") = centres ? 0.5F : one_of(random, {0.0F, 0.25F, -1.0F});
        field_of(descriptor, "OutputPixelOffset") = centres ? -0.5F : one_of(random, {0.0F, -0.25F, 1.0F});
        field_of(descriptor, "AlignRegionsToCorners") = std::uint32_t{random.chance(1, 3) ? 1U : 0U};
    }
}

void fit_align(Random& random, Descriptor& descriptor) {
    fit_sampling(random, descriptor);
    const bool gradient = descriptor.has_field("InputGradientTensor");
    if (gradient) {
        fit_tensors_of_grad(random, descriptor);
    }
    const std::string_view outputs = gradient ? "InputGradientTensor" : "OutputTensor";
    const std::uint32_t count = random.pick(1, most_regions);
    Dimensions image = tensor_of(descriptor, outputs)->sizes;
    image[0] = std::max(image[0], most_indexed);
    for (const std::string_view field : {"InputTensor", "OutputGradientTensor"}) {
        resize(descriptor, field, image);
    }
    resize(descriptor, outputs, {count, image[1], random.pick(1, 4), random.pick(1, 4)});
    for (const std::string_view field : {"ROITensor", "OutputROIGradientTensor"}) {
        if (tensor_of(descriptor, field) != nullptr) {
            resize(descriptor, field, with_leading_ones(tensor_of(descriptor, "ROITensor")->sizes.size(), {count, 4}));
        }
    }
    resize(descriptor, "BatchIndicesTensor",
           with_leading_ones(tensor_of(descriptor, "BatchIndicesTensor")->sizes.size(), {count}));
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    if (schema.find_field("PooledSize") != nullptr) {
        fit_pooling(random, descriptor);
    } else {
        fit_align(random, descriptor);
    }
    return descriptor;
}

}  // namespace

const OperatorFuzz regions_fuzz{make, kind_by_catalogue, generic_fuzz.repair};

}  // namespace dmlconform::fuzz
