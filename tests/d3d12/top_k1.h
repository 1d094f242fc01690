// Descriptors of TOP_K1 with packed tensors.
#pragma once

#include "tests/descriptor_builder.h"

namespace dmlconform::tests {

/// `direction` is 1 for the largest elements, 0 for the smallest.
inline operators::Descriptor top_k1(core::DataType type, const core::Dimensions& sizes, std::uint32_t axis,
                                    std::uint32_t k, std::uint32_t direction = 1) {
    core::Dimensions output = sizes;
    output[axis] = k;
    return describe("TOP_K1", {{"InputTensor", tensor(type, sizes)},
                               {"OutputValueTensor", tensor(type, output)},
                               {"OutputIndexTensor", tensor(core::DataType::uint32, output)},
                               {"Axis", axis},
                               {"K", k},
                               {"AxisDirection", direction}});
}

}  // namespace dmlconform::tests
