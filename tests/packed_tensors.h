// Packed tensors of common types, constructed from their sizes.
#pragma once

#include <utility>

#include "tests/descriptor_builder.h"

namespace dmlconform::tests {

[[nodiscard]] inline core::TensorDesc real(core::Dimensions sizes) {
    return tensor(core::DataType::float32, std::move(sizes));
}

[[nodiscard]] inline core::TensorDesc bytes(core::Dimensions sizes) {
    return tensor(core::DataType::uint8, std::move(sizes));
}

}  // namespace dmlconform::tests
