// Types and sizes of selections and combinations: gathers, joins, reductions, Einsum.
#include "engine/interop/onnx_result_rules.h"

#include <algorithm>
#include <array>

#include "engine/core/element.h"
#include "engine/core/utf8.h"

namespace dmlconform::interop {
namespace {

using Result = core::Result<OnnxTensor>;

Result reduced(const OnnxNode& node) {
    const auto axes = reduction_axes(node);
    if (!axes) {
        return core::fail("there is no such axis");
    }
    const bool none = axes->empty() && node.integer("noop_with_empty_axes", 0) != 0;
    core::Dimensions sizes;
    for (std::uint32_t d = 0; d < node.input(0)->sizes.size(); ++d) {
        const bool over = !none && (axes->empty() || std::find(axes->begin(), axes->end(), d) != axes->end());
        if (!over) {
            sizes.push_back(node.input(0)->sizes[d]);
        } else if (node.integer("keepdims", 1) != 0) {
            sizes.push_back(1);
        }
    }
    return sized(sizes, *node.input(0));
}

Result gathered_along(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", 0), node.input(0)->sizes.size());
    if (!axis || node.input(1) == nullptr) {
        return core::fail("Gather without an axis or without indices");
    }
    core::Dimensions sizes = node.input(0)->sizes;
    const core::Dimensions indices = node.input(1)->onnx_sizes();
    sizes.erase(sizes.begin() + *axis);
    sizes.insert(sizes.begin() + *axis, indices.begin(), indices.end());
    return sized(sizes, *node.input(0));
}

Result gathered_elements(const OnnxNode& node) {
    return node.input(1) == nullptr ? Result(core::fail("there are no indices"))
                                    : sized(node.input(1)->onnx_sizes(), *node.input(0));
}

Result joined(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", node.opset < 4 ? 1 : 0), node.input(0)->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    core::Dimensions sizes = node.input(0)->sizes;
    std::uint64_t size = 0;
    for (const auto& input : node.inputs) {
        if (!input || input->sizes.size() != sizes.size()) {
            return core::fail("Concat of tensors with different numbers of dimensions");
        }
        size += input->sizes[*axis];
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            if (d != *axis && input->sizes[d] != sizes[d]) {
                return core::fail("Concat of tensors whose sizes do not fit together");
            }
        }
    }
    if (size > 0xffffffff) {
        return core::fail("Concat makes too many elements");
    }
    sizes[*axis] = static_cast<std::uint32_t>(size);
    return sized(sizes, *node.input(0));
}

Result one_hot(const OnnxNode& node) {
    const OnnxTensor* depth = node.input(1);
    const OnnxTensor* values = node.input(2);
    core::Dimensions sizes = node.input(0)->onnx_sizes();
    const auto axis = axis_of(node.integer("axis", -1), sizes.size() + 1);
    if (!axis || depth == nullptr || values == nullptr || depth->integer(0) < 1 || depth->integer(0) > 0xffffffff) {
        return core::fail("OneHot without an axis, a depth or values");
    }
    sizes.insert(sizes.begin() + *axis, static_cast<std::uint32_t>(depth->integer(0)));
    return sized(sizes, *values);
}

Result gathered_nd(const OnnxNode& node) {
    if (node.input(1) == nullptr) {
        return core::fail("GatherND without indices");
    }
    const core::Dimensions& data = node.input(0)->sizes;
    const core::Dimensions& indices = node.input(1)->sizes;
    const std::int64_t batches = node.integer("batch_dims", 0);
    if (batches < 0 || batches >= static_cast<std::int64_t>(indices.size()) ||
        static_cast<std::size_t>(batches) + indices.back() > data.size()) {
        return core::fail("GatherND with indices of more entries than dimensions");
    }
    core::Dimensions sizes(indices.begin(), indices.end() - 1);
    sizes.insert(sizes.end(), data.begin() + batches + static_cast<std::ptrdiff_t>(indices.back()), data.end());
    return sized(sizes, *node.input(0));
}

Result position_result(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", 0), node.input(0)->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    core::Dimensions sizes = node.input(0)->sizes;
    if (node.integer("keepdims", 1) != 0) {
        sizes[*axis] = 1;
    } else {
        sizes.erase(sizes.begin() + *axis);
    }
    return sized(sizes, core::DataType::int64);
}

/// The elements that the condition, which must be known, selects.
Result compressed(const OnnxNode& node) {
    const OnnxTensor* condition = node.input(1);
    core::Dimensions sizes = node.input(0)->sizes;
    if (node.attribute("axis") == nullptr) {
        sizes = {static_cast<std::uint32_t>(node.input(0)->count())};
    }
    const auto axis = axis_of(node.integer("axis", 0), sizes.size());
    if (!axis || condition == nullptr || !condition->has_elements()) {
        return core::fail("Compress without an axis or a condition");
    }
    std::uint32_t chosen = 0;
    for (std::size_t i = 0; i < condition->count(); ++i) {
        chosen += condition->integer(i) != 0 ? 1 : 0;
    }
    sizes[*axis] = chosen;
    return sized(sizes, *node.input(0));
}

/// The sizes of the output's labels follow from the inputs. Without an ellipsis.
Result einsum(const OnnxNode& node) {
    std::string equation = node.text("equation", "");
    std::erase(equation, ' ');
    const std::size_t arrow = equation.find("->");
    if (arrow == std::string::npos || equation.find('.') != std::string::npos) {
        return core::fail("Einsum without \"->\", or with \"...\", is not mapped");
    }
    std::array<std::optional<std::uint32_t>, 256> size_of{};
    std::size_t input = 0;
    std::size_t d = 0;
    for (const char c : equation.substr(0, arrow) + ",") {
        const OnnxTensor* tensor = node.input(input);
        if (tensor == nullptr || (c == ',' ? d != tensor->onnx_sizes().size() : d >= tensor->sizes.size())) {
            return core::fail("Einsum's labels are not those of the dimensions");
        }
        if (c == ',') {
            ++input;
            d = 0;
        } else {
            size_of[static_cast<unsigned char>(c)] = tensor->sizes[d++];
        }
    }
    core::Dimensions sizes;
    for (const char c : equation.substr(arrow + 2)) {
        if (!size_of[static_cast<unsigned char>(c)]) {
            return core::fail("Einsum's labels are not those of the dimensions");
        }
        sizes.push_back(*size_of[static_cast<unsigned char>(c)]);
    }
    return sized(sizes, *node.input(0));
}

/// com.microsoft's product with packed weights says how many rows these have.
Result packed_product(const OnnxNode& node) {
    core::Dimensions sizes = node.input(0)->onnx_sizes();
    const std::int64_t rows = node.integer("N", 0);
    if (sizes.empty() || rows < 1 || rows > 0xffffffff) {
        return core::fail("N is no number of rows");
    }
    sizes.back() = static_cast<std::uint32_t>(rows);
    return sized(sizes, *node.input(0));
}

}  // namespace

std::span<const OnnxResultRule> selection_result_rules() {
    static const OnnxResultRule rules[] = {
        {reduced,
         {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
          "ReduceProd", "ReduceSum", "ReduceSumSquare"}},
        {gathered_along, {"Gather"}},
        {gathered_elements, {"GatherElements"}},
        {joined, {"Concat"}},
        {one_hot, {"OneHot"}},
        {gathered_nd, {"GatherND"}},
        {position_result, {"ArgMax", "ArgMin"}},
        {compressed, {"Compress"}},
        {einsum, {"Einsum"}},
        {packed_product, {"com.microsoft.MatMulNBits"}},
    };
    return rules;
}

}  // namespace dmlconform::interop
