// Recognises nodes that only change sizes.
#include "engine/interop/model/aliases.h"

#include <algorithm>
#include <array>

namespace dmlconform::interop {
namespace {

constexpr std::array<std::string_view, 5> reshapes{"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};

/// Nothing is dropped except in training, or with a ratio of 0. The mask is not an alias.
bool drops_nothing(const OnnxNode& node) {
    if (node.output(1) != nullptr) {
        return false;
    }
    if (node.opset < 7) {
        return node.integer("is_test", 0) != 0;
    }
    const OnnxTensor* ratio = node.input(1);
    const OnnxTensor* training = node.input(2);
    const bool in_training = training != nullptr && !training->is_zero();
    return !in_training || (ratio != nullptr && ratio->is_zero());
}

/// True if the permutation keeps the order of the dimensions with more than one element.
bool keeps_order(const OnnxNode& node) {
    const auto order = transposed_order(node);
    std::size_t last = 0;
    return order && std::ranges::all_of(*order, [&](std::size_t d) {
               const bool kept = node.input(0)->sizes[d] == 1 || d >= last;
               last = node.input(0)->sizes[d] == 1 ? last : d;
               return kept;
           });
}

bool changes_only_sizes(const OnnxNode& node) {
    if (std::ranges::find(reshapes, node.type) != reshapes.end()) {
        return true;
    }
    if (node.type == "Dropout") {
        return drops_nothing(node);
    }
    if (node.type == "Transpose") {
        return keeps_order(node);
    }
    return node.type == "Concat" && node.inputs.size() == 1;
}

}  // namespace

std::optional<OnnxTensor> alias_of(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    const bool candidate = input != nullptr && (changes_only_sizes(node) || node.type == "Cast" ||
                                                node.type == "CastLike" || node.type == "Expand");
    if (!candidate) {
        return std::nullopt;
    }
    const auto result = node.type == "Dropout" ? core::Result<OnnxTensor>(*input) : first_result(node);
    if (!result || result->type != input->type || result->is_bool != input->is_bool ||
        result->count() != input->count()) {
        return std::nullopt;
    }
    OnnxTensor alias = *input;
    alias.sizes = result->sizes;
    alias.is_scalar = result->is_scalar;
    return alias;
}

}  // namespace dmlconform::interop
