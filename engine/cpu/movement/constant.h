// Attributes whose values are written to outputs as elements.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/operators/descriptor.h"

namespace dmlconform::cpu::movement {

/// The bits of the attribute's value as an element of that type. A scalar union has the type's bits already. A float is
/// converted: rounded to nearest even for FLOAT16; truncated and clamped for integers, with 0 for NaN.
[[nodiscard]] std::uint64_t constant_of(const operators::Descriptor& descriptor, std::string_view field,
                                        core::DataType type);

}  // namespace dmlconform::cpu::movement
