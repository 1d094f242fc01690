// A fused activation, in the form that shaders/common/activation.hlsli takes.
#pragma once

#include <cstdint>
#include <variant>

#include "engine/operators/descriptor.h"

namespace dmlconform::d3d12 {

/// Activations have at most two attributes, which are FLOATs.
struct FusedActivation {
    /// The number of the activation operator; 0 for none.
    std::uint32_t number = 0;
    /// The attributes in the order of the struct; 0 if unused.
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

template <class Parameters>
void put_activation(Parameters& parameters, const operators::Descriptor* descriptor) {
    const FusedActivation fused = fused_activation(descriptor);
    parameters.activation = fused.number;
    parameters.activation_first = fused.first;
    parameters.activation_second = fused.second;
}

}  // namespace dmlconform::d3d12
