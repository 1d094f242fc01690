// Shared helpers for tests of matrix products and convolutions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/d3d12/against_reference.h"
#include "tests/descriptor_builder.h"

namespace dmlconform::tests {

inline constexpr std::array real_types{core::DataType::float32, core::DataType::float16};
inline constexpr std::array byte_types{core::DataType::int8, core::DataType::uint8};

/// A packed layout, or a random one.
inline core::TensorDesc source_of(Random* layout, core::DataType type, const core::Dimensions& sizes) {
    return layout == nullptr ? tensor(type, sizes) : random_input(*layout, type, sizes);
}

inline core::TensorDesc target_of(Random* layout, core::DataType type, const core::Dimensions& sizes) {
    return layout == nullptr ? tensor(type, sizes) : random_output(*layout, type, sizes);
}

inline bool is_tiled(const operators::Descriptor& descriptor) {
    const auto plan = d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor);
    const auto& shader = plan.dispatches[0].shader.shader;
    return shader == "product_tiled" || shader == "product_parted";
}

/// Formats as "SIDE=128 WHOLE=1": the side of the tiles, and whether the depth is a multiple of a k-step.
inline std::string tiles_of(const operators::Descriptor& descriptor) {
    const auto plan = d3d12::find_binding(descriptor.schema->short_name())->plan(descriptor);
    const std::string key = plan.dispatches[0].shader.key();
    return key.substr(std::min(key.find("SIDE="), key.size()));
}

/// Small numbers of any type, whose sums fit FLOAT16.
inline std::vector<core::Tensor> random_factors(Random& random, const operators::Descriptor& descriptor) {
    std::vector<core::Tensor> inputs;
    for (const operators::TensorSlot& slot : descriptor.inputs()) {
        if (slot.desc == nullptr) {
            inputs.emplace_back();
        } else if (slot.name == "OutputScaleTensor") {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(100, 1000); }));
        } else if (slot.name.ends_with("ScaleTensor")) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(0.25, 1); }));
        } else if (core::is_floating_point(slot.desc->data_type)) {
            inputs.push_back(drawn(*slot.desc, [&] { return random.between_reals(-2, 2); }));
        } else if (core::bits_of(slot.desc->data_type) == 8) {
            inputs.push_back(random_bits(random, *slot.desc));
        } else {
            const double low = core::is_signed_integer(slot.desc->data_type) ? -9 : 0;
            inputs.push_back(drawn(*slot.desc, [&] { return std::floor(random.between_reals(low, 9)); }));
        }
    }
    return inputs;
}

inline void expect_product_like_reference(Engine& engine, Random& random, const operators::Descriptor& descriptor) {
    expect_like_reference(engine, descriptor, random_factors(random, descriptor));
}

}  // namespace dmlconform::tests
