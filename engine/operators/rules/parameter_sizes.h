// Tensors whose elements are repeated along dimensions where they have one, or everywhere.
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

/// The tensor has one element, or `count` along the dimension that is this many from the end, 1 being the last; 0: one
/// element only. An absent tensor is passed over.
[[nodiscard]] inline Verdict check_one_or_each(const Descriptor& descriptor, std::string_view field,
                                               std::size_t from_end, std::uint32_t count) {
    const core::TensorDesc* parameter = descriptor.tensor(field);
    if (parameter == nullptr || *core::element_count(parameter->sizes) == 1) {
        return {};
    }
    const core::Dimensions& sizes = parameter->sizes;
    core::Dimensions each(sizes.size(), 1);
    const bool fits = from_end > 0 && from_end <= sizes.size();
    if (fits) {
        each[sizes.size() - from_end] = count;
    }
    if (fits && sizes == each) {
        return {};
    }
    return broken_rule(descriptor, "parameterSizes",
                       fmt::format("{} has sizes {}; it must have one element{}", field, core::to_string(sizes),
                                   fits ? fmt::format(", or sizes {}", core::to_string(each)) : ""));
}

}  // namespace dmlconform::operators
