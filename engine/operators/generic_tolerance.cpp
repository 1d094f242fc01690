// The generic tolerances and where they come from.
#include "engine/operators/generic_tolerance.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/operators/rules.h"

namespace dmlconform::operators {
namespace {

/// Operators that move elements, or write constants of the descriptor: the bits arrive as they are.
constexpr std::array<std::string_view, 28> moving{"SLICE",
                                                  "SLICE1",
                                                  "SLICE_GRAD",
                                                  "SPLIT",
                                                  "JOIN",
                                                  "PADDING",
                                                  "PADDING1",
                                                  "GATHER",
                                                  "GATHER_ELEMENTS",
                                                  "GATHER_ND",
                                                  "GATHER_ND1",
                                                  "SCATTER",
                                                  "SCATTER_ND",
                                                  "SPACE_TO_DEPTH",
                                                  "SPACE_TO_DEPTH1",
                                                  "DEPTH_TO_SPACE",
                                                  "DEPTH_TO_SPACE1",
                                                  "TILE",
                                                  "ONE_HOT",
                                                  "DIAGONAL_MATRIX",
                                                  "DIAGONAL_MATRIX1",
                                                  "FILL_VALUE_CONSTANT",
                                                  "REVERSE_SUBSEQUENCES",
                                                  "MAX_UNPOOLING",
                                                  "UNFOLD",
                                                  "ELEMENT_WISE_IF",
                                                  "TOP_K",
                                                  "TOP_K1"};

/// Operators whose result is an element of an input, its negative, 0 or 1. Nothing is rounded, but no source says which
/// of the two zeros max(0, -0) and the like give.
constexpr std::array<std::string_view, 18> selecting{"MAX_POOLING",
                                                     "MAX_POOLING1",
                                                     "MAX_POOLING2",
                                                     "ROI_POOLING",
                                                     "ELEMENT_WISE_MAX",
                                                     "ELEMENT_WISE_MIN",
                                                     "ELEMENT_WISE_NEGATE",
                                                     "ELEMENT_WISE_SIGN",
                                                     "ELEMENT_WISE_CLIP_GRAD",
                                                     "ELEMENT_WISE_CLIP_GRAD1",
                                                     "ELEMENT_WISE_LOGICAL_AND",
                                                     "ELEMENT_WISE_LOGICAL_OR",
                                                     "ELEMENT_WISE_LOGICAL_XOR",
                                                     "ELEMENT_WISE_LOGICAL_NOT",
                                                     "ACTIVATION_RELU",
                                                     "ACTIVATION_RELU_GRAD",
                                                     "ACTIVATION_HARDMAX",
                                                     "ACTIVATION_HARDMAX1"};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

core::Tolerance ulps(std::uint64_t count) {
    core::Tolerance tolerance;
    tolerance.ulp = count;
    return tolerance;
}

}  // namespace

core::Tolerance generic_tolerance(const Descriptor& descriptor, const TensorSlot& output) {
    const core::DataType type = output.desc == nullptr ? core::DataType::unknown : output.desc->data_type;
    const std::string_view op = descriptor.schema->short_name();
    if (!core::is_floating_point(type) || contains(moving, op)) {
        core::Tolerance exact;
        exact.exact = true;
        return exact;
    }
    if (contains(selecting, op)) {
        return ulps(0);
    }
    if (type == core::DataType::float16) {
        // In FP32 with one rounding at the end it would be 1; an implementation that works in FP16 rounds after each of
        // a few operations.
        return ulps(4);
    }
    // Direct3D lets exp2 and log2 be off by 2^-21, relative: up to 8 ULPs of FLOAT32 at the upper end of a binade. As
    // much again for the scaling of arguments and the roundings around it. Implementations may compute FLOAT64 with
    // correctly rounded operations only, but the same count is no more lenient there.
    return ulps(16);
}

}  // namespace dmlconform::operators
