// Rules of SLICE1, from its documentation. What comments say about DirectML 1.15.4 was measured on it.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/operators/rules.h"

namespace dmlconform::operators::slice1_rules {
namespace {

struct Slice1 {
    explicit Slice1(const Descriptor& descriptor);

    const core::TensorDesc& input;
    const core::TensorDesc& output;
    std::span<const std::uint32_t> offsets;
    std::span<const std::uint32_t> window_sizes;
    std::span<const std::int32_t> window_strides;
};

Slice1::Slice1(const Descriptor& descriptor)
    : input(*descriptor.tensor("InputTensor")),
      output(*descriptor.tensor("OutputTensor")),
      offsets(descriptor.uints("InputWindowOffsets")),
      window_sizes(descriptor.uints("InputWindowSizes")),
      window_strides(descriptor.get<std::vector<std::int32_t>>("InputWindowStrides")) {}

ExplainedRules explained() {
    return {{"dimensionCount", "DimensionCount is the number of dimensions of InputTensor."},
            {"windowSize", "Each of InputWindowSizes is at least 1."},
            {"windowInBounds",
             "The window is inside the input: InputWindowOffsets[d] + InputWindowSizes[d] <= "
             "InputTensor[d]."},
            {"windowStride", "No stride is 0. A negative one starts at the end of the window."},
            {"outputSize",
             "The output has at most as many elements along each dimension as the strides select.",
             {"OutputTensor[d] <= floor((InputWindowSizes[d] - 1) / |InputWindowStrides[d]|) + 1"}}};
}

Verdict reject(std::string_view rule, std::string message) {
    return Rejection{.rule = fmt::format("SLICE1.{}", rule), .message = std::move(message), .legal_from = {}};
}

Verdict check_dimension(const Slice1& op, std::size_t d) {
    const std::uint64_t offset = op.offsets[d];
    const std::uint64_t size = op.window_sizes[d];
    const std::int64_t stride = op.window_strides[d];
    if (size == 0) {
        return reject("windowSize", fmt::format("InputWindowSizes[{}] is 0; it must be at least 1", d));
    }
    // Measured on DirectML 1.15.4: rejected even if the output would fit. The sum has 64 bits, because in 32 bits it
    // can wrap to a legal value.
    if (offset + size > op.input.sizes[d]) {
        return reject(
            "windowInBounds",
            fmt::format("InputWindowOffsets[{0}] + InputWindowSizes[{0}] is {1} + {2} = {3}, but the input has "
                        "{4} elements along that dimension",
                        d, offset, size, offset + size, op.input.sizes[d]));
    }
    if (stride == 0) {
        return reject("windowStride", fmt::format("InputWindowStrides[{}] is 0", d));
    }
    const std::uint64_t most = 1 + (size - 1) / static_cast<std::uint64_t>(stride < 0 ? -stride : stride);
    if (op.output.sizes[d] > most) {
        return reject("outputSize", fmt::format("OutputTensor has {} elements along dimension {}; a window of {} with "
                                                "stride {} has {}",
                                                op.output.sizes[d], d, size, stride, most));
    }
    return {};
}

Verdict validate_slice1(const Descriptor& descriptor, core::FeatureLevel /*level*/) {
    const Slice1 op(descriptor);
    const std::size_t rank = op.input.sizes.size();
    if (descriptor.uint("DimensionCount") != rank) {
        return reject("dimensionCount", fmt::format("DimensionCount is {}, but InputTensor has {} dimensions",
                                                    descriptor.uint("DimensionCount"), rank));
    }
    for (std::size_t d = 0; d < rank; ++d) {
        if (auto rejection = check_dimension(op, d)) {
            return rejection;
        }
    }
    return {};
}

/// Only the elements that the strides select.
double slice_bytes(const Descriptor& descriptor, const TensorSlot& input) {
    return std::min(element_bytes(*input.desc), element_bytes(*descriptor.tensor("OutputTensor")));
}

}  // namespace

RulesRows rules() {
    return {{.name = "SLICE1",
             .validate = validate_slice1,
             .rules = explained(),
             .operations = no_operations,
             .bytes_read = slice_bytes}};
}

}  // namespace dmlconform::operators::slice1_rules
