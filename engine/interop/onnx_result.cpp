// Derives types and sizes of a node's outputs before they are computed. onnx_window_result.cpp does so for windows,
// products and recurrent networks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "engine/core/element.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using Result = core::Result<OnnxTensor>;

using Results = core::Result<std::vector<OnnxTensor>>;

/// A tensor of these sizes, which are empty for a scalar, with the type of another tensor.
Result sized(const core::Dimensions& sizes, const OnnxTensor& like) {
    return unknown_tensor(like.type, sizes, like.is_bool);
}

/// The same with a given type.
Result sized(const core::Dimensions& sizes, core::DataType type) {
    return unknown_tensor(type, sizes);
}

Result like_first(const OnnxNode& node) {
    return sized(node.input(0)->onnx_sizes(), *node.input(0));
}

/// All inputs broadcast to each other, with the type of input `typed`.
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
    return node.input(typed) == nullptr ? Result(core::fail("an input is absent")) : sized(sizes, *node.input(typed));
}

Result broadcast_first(const OnnxNode& node) {
    return broadcast_result(node, 0);
}

Result chosen(const OnnxNode& node) {
    return broadcast_result(node, 1);
}

Result compared(const OnnxNode& node) {
    const OnnxTensor boolean{core::DataType::uint8, {1}, {}, true, false};
    const auto sizes = broadcast_result(node, 0);
    return sizes ? sized(sizes->onnx_sizes(), boolean) : sizes;
}

Result cast(const OnnxNode& node) {
    constexpr std::int64_t onnx_bool = 9;
    const std::int64_t to = node.integer("to", 0);
    const auto type = onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(to, 0, 0xffff)));
    return type ? sized(node.input(0)->onnx_sizes(), OnnxTensor{*type, {1}, {}, to == onnx_bool, false})
                : tl::unexpected(type.error());
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
    return sized(sizes, *node.input(0));
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
    return sized({product(sizes, 0, split), product(sizes, split, sizes.size())}, *node.input(0));
}

/// 0 keeps the input's size, -1 is the remaining size.
Result reshaped(const OnnxNode& node) {
    const OnnxTensor& input = *node.input(0);
    const auto shape = node.list(1, "shape");
    core::Dimensions sizes;
    std::optional<std::size_t> open;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        const bool same = shape[d] == 0 && node.integer("allowzero", 0) == 0 && d < input.sizes.size();
        const bool left_open = shape[d] == -1 && !open;
        if (!same && !left_open &&
            (shape[d] < (node.integer("allowzero", 0) != 0 ? 0 : 1) || shape[d] > std::int64_t{0xffffffff})) {
            return core::fail("Reshape to a size that is not one");
        }
        open = left_open ? d : open;
        sizes.push_back(same ? input.sizes[d] : left_open ? 1 : static_cast<std::uint32_t>(shape[d]));
    }
    const std::uint64_t count = core::element_count(sizes).value_or(0);
    if (open && count != 0) {
        sizes[*open] = static_cast<std::uint32_t>(input.count() / count);
    }
    const auto result = sized(sizes, input);
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
    return axes ? sized(sizes, *node.input(0)) : Result(core::fail("there is no such axis"));
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

Result permuted(const OnnxNode& node) {
    const auto order = transposed_order(node);
    if (!order) {
        return core::fail("\"perm\" is not a permutation");
    }
    core::Dimensions sizes;
    for (const std::size_t d : *order) {
        sizes.push_back(node.input(0)->sizes[d]);
    }
    return sized(sizes, *node.input(0));
}

Result sliced(const OnnxNode& node) {
    const auto sizes = slice_sizes(node);
    return sizes ? sized(*sizes, *node.input(0)) : tl::unexpected(sizes.error());
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
    if (!(count < 0x1p32)) {
        return core::fail("Range has no elements, or too many");
    }
    return sized({static_cast<std::uint32_t>(std::max(count, 0.0))}, *node.input(0));
}

/// One size for each dimension, from an input of INT64.
Result of_shape(const OnnxNode& node, const std::vector<std::int64_t>& shape, const OnnxTensor& like) {
    core::Dimensions sizes;
    for (const std::int64_t size : shape) {
        if (size < 0 || size > std::int64_t{0xffffffff}) {
            return core::fail(fmt::format("{} asks for the size {}", node.type, size));
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    return sized(sizes, like);
}

/// The shape may have ones, and fewer dimensions than the data.
Result expanded_result(const OnnxNode& node) {
    const auto shape = node.input(1) == nullptr ? Result(core::fail("Expand without a shape"))
                                                : of_shape(node, node.list(1, ""), *node.input(0));
    if (!shape) {
        return shape;
    }
    OnnxNode pair = node;
    pair.inputs = {*node.input(0), *shape};
    return broadcast_result(pair, 0);
}

Result filled(const OnnxNode& node) {
    OnnxTensor like{core::DataType::float32, {1}, {}, false, false};
    if (const onnx::AttributeProto* given = node.attribute("value")) {
        auto read = onnx_tensor(given->t());
        if (!read) {
            return read;
        }
        like = std::move(*read);
    }
    return of_shape(node, node.list(0, ""), like);
}

Result boolean_like_first(const OnnxNode& node) {
    return unknown_tensor(core::DataType::uint8, node.input(0)->onnx_sizes(), true);
}

Result cast_like(const OnnxNode& node) {
    return node.input(1) == nullptr ? Result(core::fail("CastLike without a type"))
                                    : sized(node.input(0)->onnx_sizes(), *node.input(1));
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

Result tiled(const OnnxNode& node) {
    const auto repeats = node.list(1, "");
    std::vector<std::int64_t> shape;
    for (std::size_t d = 0; d < node.input(0)->sizes.size(); ++d) {
        const std::int64_t repeat = d < repeats.size() ? repeats[d] : -1;
        shape.push_back(repeat < 0 || repeat > 0xffffffff ? -1 : repeat * std::int64_t{node.input(0)->sizes[d]});
    }
    return of_shape(node, shape, *node.input(0));
}

Result padded_result(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const auto pads = node.list(1, node.opset < 2 ? "paddings" : "pads");
    std::vector<std::int64_t> axes = node.list(3, "axes");
    for (std::size_t d = 0; axes.size() < sizes.size() && node.input(3) == nullptr; ++d) {
        axes.push_back(static_cast<std::int64_t>(d));
    }
    if (pads.size() != 2 * axes.size()) {
        return core::fail("there are not two paddings for each axis");
    }
    std::vector<std::int64_t> shape(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_of(axes[i], sizes.size());
        constexpr std::int64_t most = 0x7fffffff;
        if (!axis || std::abs(pads[i]) > most || std::abs(pads[i + axes.size()]) > most) {
            return core::fail("Pad along an axis that is not there, or by too much");
        }
        shape[*axis] += pads[i] + pads[i + axes.size()];
    }
    return of_shape(node, shape, *node.input(0));
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

Result typed_like(const OnnxNode& node) {
    if (node.attribute("dtype") == nullptr) {
        return like_first(node);
    }
    const auto type = onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(node.integer("dtype", 0), 0, 0xffff)));
    return type ? sized(node.input(0)->onnx_sizes(), *type) : tl::unexpected(type.error());
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

Result in_blocks(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const std::int64_t block = node.integer("blocksize", 0);
    if (sizes.size() != 4 || block < 1 || block > 0xffff) {
        return core::fail(node.type + " without four dimensions and a blocksize");
    }
    const auto size = static_cast<std::uint32_t>(block);
    if (node.type == "DepthToSpace") {
        return of_shape(node, {sizes[0], sizes[1] / (size * size), sizes[2] * block, sizes[3] * block}, *node.input(0));
    }
    return of_shape(node, {sizes[0], sizes[1] * block * block, sizes[2] / size, sizes[3] / size}, *node.input(0));
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

/// UINT8 unless the zero point or an attribute specifies another type.
Result quantised(const OnnxNode& node) {
    const OnnxTensor* zero_point = node.input(2);
    if (zero_point != nullptr) {
        return sized(node.input(0)->onnx_sizes(), *zero_point);
    }
    const std::int64_t given = node.integer("output_dtype", 0);
    const auto type = given == 0 ? core::Result<core::DataType>(core::DataType::uint8)
                                 : onnx_data_type(static_cast<int>(std::clamp<std::int64_t>(given, 0, 0xffff)));
    return type ? sized(node.input(0)->onnx_sizes(), *type) : tl::unexpected(type.error());
}

Result dequantised(const OnnxNode& node) {
    return node.input(1) == nullptr ? Result(core::fail("DequantizeLinear without a scale"))
                                    : sized(node.input(0)->onnx_sizes(), *node.input(1));
}

struct Rule {
    Result (*result)(const OnnxNode& node);
    std::initializer_list<std::string_view> types;
};

const Rule rules[] = {
    {like_first,
     {"Abs",
      "Acos",
      "Acosh",
      "Asin",
      "Asinh",
      "Atan",
      "Atanh",
      "BatchNormalization",
      "BitwiseNot",
      "Ceil",
      "Celu",
      "Clip",
      "Cos",
      "Cosh",
      "CumProd",
      "CumSum",
      "Elu",
      "Erf",
      "Exp",
      "Floor",
      "Gelu",
      "GroupNormalization",
      "HardSigmoid",
      "HardSwish",
      "Hardmax",
      "Identity",
      "LRN",
      "InstanceNormalization",
      "LeakyRelu",
      "LayerNormalization",
      "Log",
      "LogSoftmax",
      "LpNormalization",
      "MeanVarianceNormalization",
      "Mish",
      "Neg",
      "Not",
      "PRelu",
      "RMSNormalization",
      "Reciprocal",
      "Relu",
      "ReverseSequence",
      "Round",
      "Scatter",
      "ScatterElements",
      "ScatterND",
      "Selu",
      "Shrink",
      "Sigmoid",
      "Sign",
      "Sin",
      "Sinh",
      "Softmax",
      "Softplus",
      "Softsign",
      "Sqrt",
      "Swish",
      "Tan",
      "Tanh",
      "ThresholdedRelu",
      "Trilu"}},
    {broadcast_first,
     {"Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Max", "Mean", "Min", "Mod", "Mul",
      "Or", "Pow", "Sub", "Sum", "Xor"}},
    {compared, {"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"}},
    {boolean_like_first, {"IsNaN", "IsInf"}},
    {chosen, {"Where"}},
    {cast, {"Cast"}},
    {cast_like, {"CastLike"}},
    {reduced,
     {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
      "ReduceSum", "ReduceSumSquare"}},
    {position_result, {"ArgMax", "ArgMin"}},
    {flattened, {"Flatten"}},
    {reshaped, {"Reshape"}},
    {squeezed, {"Squeeze"}},
    {unsqueezed, {"Unsqueeze"}},
    {expanded_result, {"Expand"}},
    {filled, {"ConstantOfShape"}},
    {joined, {"Concat"}},
    {tiled, {"Tile"}},
    {padded_result, {"Pad"}},
    {one_hot, {"OneHot"}},
    {typed_like, {"EyeLike"}},
    {gathered_along, {"Gather"}},
    {gathered_elements, {"GatherElements"}},
    {gathered_nd, {"GatherND"}},
    {compressed, {"Compress"}},
    {einsum, {"Einsum"}},
    {in_blocks, {"DepthToSpace", "SpaceToDepth"}},
    {quantised, {"QuantizeLinear"}},
    {dequantised, {"DequantizeLinear"}},
    {permuted, {"Transpose"}},
    {sliced, {"Slice"}},
    {counted, {"Range"}},
};

Results split(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const auto axis = axis_of(node.integer("axis", 0), sizes.size());
    auto parts = node.list(1, "split");
    const std::int64_t outputs = node.proto->output_size();
    if (!axis || outputs == 0) {
        return core::fail("Split without an axis or without outputs");
    }
    if (parts.empty()) {
        const std::int64_t size = sizes[*axis];
        const std::int64_t part = (size + outputs - 1) / outputs;
        for (std::int64_t i = 0; i < outputs; ++i) {
            parts.push_back(std::clamp<std::int64_t>(size - i * part, 0, part));
        }
    }
    std::vector<OnnxTensor> results;
    std::int64_t sum = 0;
    for (const std::int64_t part : parts) {
        core::Dimensions own = sizes;
        if (part < 0 || part > std::int64_t{sizes[*axis]} - sum) {
            return core::fail("Split into parts that are not those of the size");
        }
        sum += part;
        own[*axis] = static_cast<std::uint32_t>(part);
        results.push_back(*sized(own, *node.input(0)));
    }
    return sum == std::int64_t{sizes[*axis]} ? Results(std::move(results))
                                             : core::fail("Split into parts that are not those of the size");
}

Results top_k(const OnnxNode& node) {
    core::Dimensions sizes = node.input(0)->sizes;
    const auto axis = axis_of(node.integer("axis", -1), sizes.size());
    const auto k = node.opset < 10 ? std::vector{node.integer("k", 0)} : node.list(1, "");
    if (!axis || k.size() != 1 || k[0] < 0 || k[0] > std::int64_t{sizes[*axis]}) {
        return core::fail("TopK without an axis, or with a k that is not one of its sizes");
    }
    sizes[*axis] = static_cast<std::uint32_t>(k[0]);
    return std::vector{*sized(sizes, *node.input(0)), *sized(sizes, core::DataType::int64)};
}

Results dynamically_quantised(const OnnxNode& node) {
    return std::vector{*sized(node.input(0)->onnx_sizes(), core::DataType::uint8), *sized({}, core::DataType::float32),
                       *sized({}, core::DataType::uint8)};
}

}  // namespace

Result first_result(const OnnxNode& node) {
    const auto all = results(node);
    return all ? Result(all->front()) : tl::unexpected(all.error());
}

Results results(const OnnxNode& node) {
    if (node.inputs.empty() || node.input(0) == nullptr) {
        return core::fail("the first input is absent");
    }
    static const std::vector<std::pair<std::string_view, Results (*)(const OnnxNode&)>> several{
        {"Split", split}, {"TopK", top_k}, {"DynamicQuantizeLinear", dynamically_quantised}};
    for (const auto& [type, rule] : several) {
        if (node.type == type) {
            return rule(node);
        }
    }
    for (const Rule& rule : rules) {
        if (std::find(rule.types.begin(), rule.types.end(), node.type) != rule.types.end()) {
            auto result = rule.result(node);
            return result ? Results(std::vector{std::move(*result)}) : tl::unexpected(result.error());
        }
    }
    if (auto made = window_results(node)) {
        return std::move(*made);
    }
    return core::fail(fmt::format("the sizes of what {} computes are not known", core::shortened(node.type)));
}

}  // namespace dmlconform::interop
