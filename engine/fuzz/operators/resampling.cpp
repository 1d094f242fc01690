// Resampling: generic descriptors, adapted with scales and offsets that frameworks use, and outputs that mostly match
// them.
#include <algorithm>
#include <array>

#include "engine/fuzz/descriptor_builder.h"
#include "engine/fuzz/fitting.h"

namespace dmlconform::fuzz {
namespace {

using core::Dimensions;
using operators::Descriptor;

/// Integers, their reciprocals, numbers that FP32 rounds, and random ones.
float draw_scale(Random& random) {
    constexpr std::array<float, 9> usual{1, 1, 2, 3, 0.5F, 0.25F, 1.5F, 0.75F, 0.3F};
    return random.chance(3, 4) ? random.one_of(usual) : static_cast<float>(random.pick(1, 24)) / 8;
}

struct Offsets {
    float input = 0;
    float output = 0;
};

/// Offsets for aligned corners, for centres, for centres on one side only, or random ones.
Offsets draw_offsets(Random& random) {
    switch (random.below(4)) {
        case 0:
            return {0, 0};
        case 1:
            return {0.5F, -0.5F};
        case 2:
            return {0, -0.5F};
        default:
            return {static_cast<float>(random.below(7)) / 8 - 0.375F, static_cast<float>(random.below(17)) / 8 - 1};
    }
}

Dimensions scaled(Random& random, const Dimensions& sizes, const std::vector<float>& scales) {
    Dimensions result;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const auto size = static_cast<std::uint32_t>(static_cast<float>(sizes[d]) * scales[d]);
        result.push_back(random.chance(7, 8) ? std::clamp(size, 1U, 64U) : random.pick(1, 6));
    }
    return result;
}

Descriptor make(Random& random, const operators::OperatorSchema& schema, core::FeatureLevel level) {
    Descriptor descriptor = generic_fuzz.make(random, schema, level);
    const bool gradient = schema.find_field("InputGradientTensor") != nullptr;
    // The input of the forward pass.
    const Dimensions input = sizes_of(descriptor, gradient ? "OutputGradientTensor" : "InputTensor");
    std::vector<float> scales;
    std::vector<float> input_offsets;
    std::vector<float> output_offsets;
    std::uint64_t elements = 1;
    for (const std::uint32_t size : input) {
        // Keeps tensors small: most dimensions of a large tensor keep their sizes.
        scales.push_back(elements * size > 1024 ? 1 : draw_scale(random));
        elements *= static_cast<std::uint64_t>(static_cast<float>(size) * std::max(1.0F, scales.back())) + 1;
        const Offsets offsets = draw_offsets(random);
        input_offsets.push_back(offsets.input);
        output_offsets.push_back(offsets.output);
    }
    resize(descriptor, gradient ? "InputGradientTensor" : "OutputTensor", scaled(random, input, scales));
    field_of(descriptor, "Scales") = scales;
    if (schema.find_field("InputPixelOffsets") != nullptr) {
        field_of(descriptor, "InputPixelOffsets") = input_offsets;
        field_of(descriptor, "OutputPixelOffsets") = output_offsets;
    }
    set_counts(descriptor);
    return descriptor;
}

}  // namespace

const OperatorFuzz resampling_fuzz{make, kind_by_catalogue, generic_fuzz.repair};

}  // namespace dmlconform::fuzz
