// Poolings and local response normalisation: generic descriptors, adapted with matching windows and sizes.
#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"
#include "engine/fuzz/windows.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

/// As large as a window, so that some windows see only padding.
constexpr std::uint32_t most_padding = 3;

/// Scales and zero points with one element, or one for each channel. Mostly both have the same sizes, because some
/// implementations require it.
void fit_parameters(Random& random, Descriptor& descriptor, const core::TensorDesc& input) {
    const bool alike = !random.chance(1, 4);
    const bool all_per_channel = random.chance(1, 2);
    for (const std::string_view field :
         {"InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor", "OutputZeroPointTensor"}) {
        if (core::TensorDesc* const desc = tensor_of(descriptor, field)) {
            Dimensions sizes(input.sizes.size(), 1);
            if (alike ? all_per_channel : random.chance(1, 2)) {
                sizes[1] = input.sizes[1];
            }
            set_sizes(*desc, sizes);
            if (alike && field == "OutputZeroPointTensor") {
                *desc = core::TensorDesc::packed(input.data_type, sizes);
            }
        }
    }
    if (core::TensorDesc* const output = tensor_of(descriptor, "OutputTensor");
        output != nullptr && alike && output->data_type != input.data_type) {
        *output = core::TensorDesc::packed(input.data_type, output->sizes);
    }
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    if (schema.find_field("WindowSize") != nullptr) {
        core::TensorDesc* const gradient = tensor_of(descriptor, "OutputGradientTensor");
        const Dimensions image = gradient != nullptr ? gradient->sizes : tensor_of(descriptor, "InputTensor")->sizes;
        const Dimensions stops = draw_windows(random, descriptor, image, most_padding);
        Dimensions sizes{image[0], image[1]};
        sizes.insert(sizes.end(), stops.begin(), stops.end());
        // The output of the forward pass, or the tensor with its gradient.
        resize(descriptor, descriptor.has_field("InputGradientTensor") ? "InputGradientTensor" : "OutputTensor", sizes);
        if (schema.find_field("InputScaleTensor") != nullptr) {
            fit_parameters(random, descriptor, *tensor_of(descriptor, "InputTensor"));
        }
    }
    set_counts(descriptor);
    generic_fuzz.repair(descriptor);
    return descriptor;
}

ElementKind element_kind(const Descriptor& descriptor, std::string_view input) {
    return input.ends_with("ScaleTensor") ? ElementKind::scale : kind_by_catalogue(descriptor, input);
}

}  // namespace

const OperatorFuzz window_fuzz{make, element_kind, generic_fuzz.repair};

}  // namespace dmlconform::fuzz
