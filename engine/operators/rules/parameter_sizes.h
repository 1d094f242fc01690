// Sizes of parameter tensors that are broadcast: along dimensions of size 1, or as a single element.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "engine/operators/rules.h"

namespace dmlconform::operators {

/// Requires each size of the tensor to be 1 or InputTensor's size. Absent tensors are ignored. Both must have the same
/// number of dimensions.
[[nodiscard]] inline Verdict check_parameter_sizes(const Descriptor& descriptor, std::string_view field) {
    const core::TensorDesc* parameter = descriptor.tensor(field);
    const core::Dimensions& input = descriptor.sizes("InputTensor");
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

/// Requires one element, or `count` elements along one dimension, which is counted from the end: 1 is the last one; 0
/// means that only one element is allowed. Absent tensors are ignored.
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
