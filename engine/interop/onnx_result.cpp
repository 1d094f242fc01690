// What the first output of a node is like before anybody computes it: its type and its sizes. For nodes between others,
// whose outputs no file has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/element.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using Result = core::Result<OnnxTensor>;

/// Beyond this a list in a case file is no use.
constexpr std::uint64_t most_elements = std::uint64_t{1} << 20;

/// Zeros of these sizes, which are none for a scalar, and of the type of another tensor.
Result zeros(const core::Dimensions& sizes, const OnnxTensor& like) {
    const auto count = core::element_count(sizes);
    if (!count || *count == 0 || *count > most_elements) {
        return core::fail("a result between nodes has no elements, or too many");
    }
    OnnxTensor result{like.type, sizes.empty() ? core::Dimensions{1} : sizes, {}, like.is_bool, sizes.empty()};
    result.elements.resize(static_cast<std::size_t>(*count) * core::bytes_of(like.type));
    return result;
}

Result like_first(const OnnxNode& node) {
    return zeros(node.input(0)->onnx_sizes(), *node.input(0));
}

/// All inputs broadcast to each other; of the type of input `typed`.
Result broadcast_result(const OnnxNode& node, std::size_t typed) {
    core::Dimensions sizes;
    for (const auto& input : node.inputs) {
        if (!input) {
            return core::fail("an input is absent");
        }
        const core::Dimensions own = input->onnx_sizes();
        sizes = padded(sizes, own.size());
        for (std::size_t back = 1; back <= own.size(); ++back) {
            const std::uint32_t size = own[own.size() - back];
            std::uint32_t& other = sizes[sizes.size() - back];
            if (size != other && size != 1 && other != 1) {
                return core::fail("the inputs cannot be broadcast to each other");
            }
            other = std::max(size, other);
        }
    }
    return node.input(typed) == nullptr ? Result(core::fail("an input is absent")) : zeros(sizes, *node.input(typed));
}

Result broadcast_first(const OnnxNode& node) {
    return broadcast_result(node, 0);
}

Result chosen(const OnnxNode& node) {
    return broadcast_result(node, 1);
}

Result compared(const OnnxNode& node) {
    const OnnxTensor boolean{core::DataType::uint8, {1}, {}, true};
    const auto sizes = broadcast_result(node, 0);
    return sizes ? zeros(sizes->onnx_sizes(), boolean) : sizes;
}

Result cast(const OnnxNode& node) {
    constexpr std::int64_t onnx_bool = 9;
    const std::int64_t to = node.integer("to", 0);
    const auto type = onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(to, 0, 0xffff)));
    return type ? zeros(node.input(0)->onnx_sizes(), {*type, {1}, {}, to == onnx_bool}) : tl::unexpected(type.error());
}

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
    return zeros(sizes, *node.input(0));
}

std::uint32_t product(const core::Dimensions& sizes, std::size_t from, std::size_t to) {
    std::uint32_t count = 1;
    for (std::size_t d = from; d < to; ++d) {
        count *= sizes[d];
    }
    return count;
}

Result flattened(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const std::int64_t written = node.integer("axis", 1);
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const std::int64_t axis = written < 0 ? written + rank : written;
    if (axis < 0 || axis > rank) {
        return core::fail("there is no such axis");
    }
    const auto split = static_cast<std::size_t>(axis);
    return zeros({product(sizes, 0, split), product(sizes, split, sizes.size())}, *node.input(0));
}

/// 0 is the input's size, -1 what is left.
Result reshaped(const OnnxNode& node) {
    const OnnxTensor& input = *node.input(0);
    const auto shape = node.list(1, "shape");
    core::Dimensions sizes;
    std::optional<std::size_t> open;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const bool same = shape[d] == 0 && node.integer("allowzero", 0) == 0 && d < input.sizes.size();
        const bool left_open = shape[d] == -1 && !open;
        if (!same && !left_open && (shape[d] < 1 || shape[d] > static_cast<std::int64_t>(most_elements))) {
            return core::fail("Reshape to a size that is not one");
        }
        open = left_open ? d : open;
        sizes.push_back(same ? input.sizes[d] : left_open ? 1 : static_cast<std::uint32_t>(shape[d]));
    }
    const std::uint64_t count = core::element_count(sizes).value_or(0);
    if (open && count != 0) {
        sizes[*open] = static_cast<std::uint32_t>(input.count() / count);
    }
    const auto result = zeros(sizes, input);
    return result && result->count() != input.count() ? Result(core::fail("Reshape to another number of elements"))
                                                      : result;
}

Result squeezed(const OnnxNode& node) {
    const auto axes = reduction_axes(node);
    core::Dimensions sizes;
    for (std::uint32_t d = 0; axes && d < node.input(0)->sizes.size(); ++d) {
        const bool named = std::find(axes->begin(), axes->end(), d) != axes->end();
        if ((axes->empty() || named) && node.input(0)->sizes[d] == 1) {
            continue;
        }
        sizes.push_back(node.input(0)->sizes[d]);
    }
    return axes ? zeros(sizes, *node.input(0)) : Result(core::fail("there is no such axis"));
}

Result unsqueezed(const OnnxNode& node) {
    const auto written = node.list(1, "axes");
    core::Dimensions sizes = node.input(0)->onnx_sizes();
    const std::size_t rank = sizes.size() + written.size();
    if (rank > most_onnx_dimensions) {
        return core::fail(fmt::format("a result between nodes has {} dimensions", rank));
    }
    std::vector<std::uint32_t> axes;
    for (const std::int64_t axis : written) {
        const auto found = axis_of(axis, rank);
        if (!found || std::find(axes.begin(), axes.end(), *found) != axes.end()) {
            return core::fail("there is no such axis");
        }
        axes.push_back(*found);
    }
    std::sort(axes.begin(), axes.end());
    for (const std::uint32_t axis : axes) {
        sizes.insert(sizes.begin() + axis, 1);
    }
    return zeros(sizes, *node.input(0));
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
    return zeros(sizes, *node.input(0));
}

Result gathered_elements(const OnnxNode& node) {
    return node.input(1) == nullptr ? Result(core::fail("there are no indices"))
                                    : zeros(node.input(1)->onnx_sizes(), *node.input(0));
}

Result permuted(const OnnxNode& node) {
    const auto order = transposed_order(node);
    if (!order) {
        return core::fail("\"perm\" is not a permutation");
    }
    core::Dimensions sizes;
    for (const std::size_t d : *order) {
        sizes.push_back(node.input(0)->sizes[d]);
    }
    return zeros(sizes, *node.input(0));
}

Result sliced(const OnnxNode& node) {
    const auto sizes = slice_sizes(node);
    return sizes ? zeros(*sizes, *node.input(0)) : tl::unexpected(sizes.error());
}

Result counted(const OnnxNode& node) {
    double numbers[3] = {};
    for (std::size_t i = 0; i < 3; ++i) {
        const OnnxTensor* given = node.input(i);
        if (given == nullptr || given->count() != 1) {
            return core::fail("start, limit and delta of Range are not numbers");
        }
        numbers[i] = core::decode_element(given->type, core::load_element(given->elements, given->type, 0));
    }
    const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
    if (!(count >= 1 && count <= static_cast<double>(most_elements))) {
        return core::fail("Range has no elements, or too many");
    }
    return zeros({static_cast<std::uint32_t>(count)}, *node.input(0));
}

struct Rule {
    Result (*result)(const OnnxNode& node);
    std::initializer_list<std::string_view> types;
};

const Rule rules[] = {
    {like_first,
     {"Abs", "Ceil", "Clip",       "Cos",  "Elu",   "Exp",     "Floor", "HardSigmoid", "Identity", "Log", "LogSoftmax",
      "Neg", "Not",  "Reciprocal", "Relu", "Round", "Sigmoid", "Sin",   "Softmax",     "Sqrt",     "Tanh"}},
    {broadcast_first, {"Add", "And", "Div", "Max", "Min", "Mul", "Or", "Pow", "Sub"}},
    {compared, {"Equal", "Greater", "Less"}},
    {chosen, {"Where"}},
    {cast, {"Cast"}},
    {reduced, {"ReduceL1", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum", "ReduceSumSquare"}},
    {flattened, {"Flatten"}},
    {reshaped, {"Reshape"}},
    {squeezed, {"Squeeze"}},
    {unsqueezed, {"Unsqueeze"}},
    {gathered_along, {"Gather"}},
    {gathered_elements, {"GatherElements"}},
    {permuted, {"Transpose"}},
    {sliced, {"Slice"}},
    {counted, {"Range"}},
};

}  // namespace

Result first_result(const OnnxNode& node) {
    for (const Rule& rule : rules) {
        if (std::find(rule.types.begin(), rule.types.end(), node.type) != rule.types.end()) {
            return node.input(0) == nullptr ? Result(core::fail("the first input is absent")) : rule.result(node);
        }
    }
    return core::fail(fmt::format("what {} computes for other nodes is not known", core::shortened(node.type)));
}

}  // namespace dmlconform::interop
