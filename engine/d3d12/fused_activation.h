// An activation that is fused into another operator, as shaders/activation.hlsli takes it.
#pragma once

#include <cstdint>
#include <variant>

#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// No activation has more than two attributes, all of them FLOAT.
struct FusedActivation {
    /// The operator's; 0: none.
    std::uint32_t number = 0;
    /// Its attributes, in the order of its struct; unused ones are 0.
    float first = 0;
    float second = 0;
};

/// `descriptor` may be null.
[[nodiscard]] inline FusedActivation fused_activation(const operators::Descriptor* descriptor) {
    FusedActivation result;
    if (descriptor == nullptr) {
        return result;
    }
    result.number = descriptor->schema->number;
    float* next = &result.first;
    for (const operators::FieldValue& value : descriptor->values) {
        if (const auto* attribute = std::get_if<float>(&value)) {
            *next = *attribute;
            next = &result.second;
        }
    }
    return result;
}

}  // namespace dmlconform::d3d12
