// Tensors whose elements are repeated along dimensions where they have one.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Each size of the tensor is 1 or InputTensor's. An absent tensor is passed over. Both have as many dimensions.
[[nodiscard]] inline Verdict check_parameter_sizes(const Descriptor& descriptor, std::string_view field) {
    const core::TensorDesc* parameter = descriptor.tensor(field);
    const core::Dimensions& input = descriptor.tensor("InputTensor")->sizes;
    for (std::size_t d = 0; parameter != nullptr && d < input.size(); ++d) {
        const std::uint32_t size = parameter->sizes[d];
        if (size != 1 && size != input[d]) {
            return broken_rule(descriptor, "parameterSizes",
                               fmt::format("{} has {} elements along dimension {}, InputTensor {}; it must have as "
                                           "many, or one",
                                           field, size, d, input[d]));
        }
    }
    return {};
}

}  // namespace dmlconform::operators
