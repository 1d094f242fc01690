// Attributes that are written into outputs as elements.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::movement {

/// The bits of an element of that type with the attribute's value. A scalar union holds the type's own bits; a float is
/// converted: rounded to nearest even for FLOAT16, truncated and clamped for integers, with 0 for NaN.
[[nodiscard]] std::uint64_t constant_of(const operators::Descriptor& descriptor, std::string_view field,
                                        core::DataType type);

}  // namespace dmlconform::cpu::movement
