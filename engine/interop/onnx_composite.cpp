// Normalisations and the quantised convolution.
#include <fmt/format.h>

#include <numeric>

#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

OnnxCase normalization(const OnnxNode& node, const std::vector<std::uint32_t>& axes, float epsilon) {
    OnnxCase result("MEAN_VARIANCE_NORMALIZATION1");
    result.input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("Axes", axes)
        .set("NormalizeVariance", true)
        .set("Epsilon", epsilon);
    return result;
}

Mapped map_mean_variance(const OnnxNode& node) {
    std::vector<std::uint32_t> axes;
    auto written = node.integers("axes");
    if (written.empty()) {
        written = {0, 2, 3};
    }
    for (const std::int64_t axis : written) {
        const auto d = axis_of(axis, node.input(0)->sizes.size());
        if (!d) {
            return core::fail("there is no such axis");
        }
        axes.push_back(*d);
    }
    return normalization(node, axes, 1e-9F).take();
}

/// Over the spatial dimensions, or from an axis on.
Mapped map_scaled(const OnnxNode& node, std::uint32_t first_axis, std::size_t parameter_dimension) {
    const std::size_t rank = node.input(0)->sizes.size();
    if (first_axis >= rank) {
        return core::fail("there is no dimension to normalise over");
    }
    std::vector<std::uint32_t> axes(rank - first_axis);
    std::iota(axes.begin(), axes.end(), first_axis);
    OnnxCase result = normalization(node, axes, node.number("epsilon", 1e-5F));
    std::size_t index = 1;
    for (const char* field : {"ScaleTensor", "BiasTensor"}) {
        if (const OnnxTensor* parameter = node.input(index++)) {
            if (parameter->sizes.size() + parameter_dimension > rank) {
                return core::fail("scale or bias has too many dimensions");
            }
            result.input(field, *parameter, along(*parameter, rank, parameter_dimension));
        }
    }
    return result.take();
}

Mapped map_layer(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", -1), node.input(0)->sizes.size());
    return axis ? map_scaled(node, *axis, *axis) : Mapped(core::fail("there is no such axis"));
}

Mapped map_softmax(const OnnxNode& node) {
    // Before opset 13 the input was taken as a matrix: another function, for more than one dimension after the axis.
    const std::size_t rank = node.input(0)->sizes.size();
    const auto axis = axis_of(node.integer("axis", node.opset < 13 ? 1 : -1), rank);
    if (!axis || (node.opset < 13 && *axis + 1 != rank)) {
        return core::fail("Softmax over several dimensions at once");
    }
    return OnnxCase(node.type == "LogSoftmax" ? "ACTIVATION_LOG_SOFTMAX1" : "ACTIVATION_SOFTMAX1")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("Axes", std::vector<std::uint32_t>{*axis})
        .take();
}

/// Two entries, for height and width; nothing when there are others.
std::optional<std::vector<std::uint32_t>> pair_of(const std::vector<std::int64_t>& list, std::size_t first,
                                                  std::uint32_t otherwise) {
    if (list.empty()) {
        return std::vector<std::uint32_t>{otherwise, otherwise};
    }
    std::vector<std::uint32_t> pair;
    for (std::size_t i = first; i < first + 2; ++i) {
        if (i >= list.size() || list[i] < 0 || list[i] > 0x7fffffff) {
            return std::nullopt;
        }
        pair.push_back(static_cast<std::uint32_t>(list[i]));
    }
    return pair;
}

Mapped map_quantized_convolution(const OnnxNode& node) {
    if (node.inputs.size() < 8 || node.input(0)->sizes.size() != 4 || node.input(3) == nullptr) {
        return core::fail("only QLinearConv with two spatial dimensions and all its inputs is mapped");
    }
    const onnx::AttributeProto* automatic = node.attribute("auto_pad");
    if (automatic != nullptr && automatic->s() != "NOTSET" && automatic->s() != "VALID") {
        return core::fail("auto_pad is not mapped");
    }
    const auto strides = pair_of(node.integers("strides"), 0, 1);
    const auto dilations = pair_of(node.integers("dilations"), 0, 1);
    const auto start = pair_of(node.integers("pads"), 0, 0);
    const auto end = pair_of(node.integers("pads"), 2, 0);
    if (!strides || !dilations || !start || !end) {
        return core::fail("strides, dilations or pads are not those of two dimensions");
    }
    OnnxCase result("QUANTIZED_LINEAR_CONVOLUTION");
    constexpr const char* fields[] = {"InputTensor",       "InputScaleTensor",      "InputZeroPointTensor",
                                      "FilterTensor",      "FilterScaleTensor",     "FilterZeroPointTensor",
                                      "OutputScaleTensor", "OutputZeroPointTensor", "BiasTensor"};
    for (std::size_t i = 0; i < node.inputs.size() && i < std::size(fields); ++i) {
        if (node.input(i) == nullptr) {
            continue;
        }
        const bool whole = i == 0 || i == 3;
        result.input(fields[i], *node.input(i), whole ? node.input(i)->sizes : along(*node.input(i), 4, 1));
    }
    return result.output("OutputTensor", *node.output(0))
        .set("Strides", *strides)
        .set("Dilations", *dilations)
        .set("StartPadding", *start)
        .set("EndPadding", *end)
        .set("GroupCount", node.integer("group", 1))
        .take();
}

}  // namespace

std::optional<Mapped> map_composite(const OnnxNode& node) {
    const bool known = node.type == "MeanVarianceNormalization" || node.type == "InstanceNormalization" ||
                       node.type == "LayerNormalization" || node.type == "Softmax" || node.type == "LogSoftmax" ||
                       node.type == "QLinearConv";
    if (!known) {
        return std::nullopt;
    }
    if (node.input(0) == nullptr) {
        return core::fail(fmt::format("{} has no data", node.type));
    }
    if (node.type == "MeanVarianceNormalization") {
        return map_mean_variance(node);
    }
    if (node.type == "InstanceNormalization") {
        return map_scaled(node, 2, 1);
    }
    if (node.type == "LayerNormalization") {
        return map_layer(node);
    }
    return node.type == "QLinearConv" ? map_quantized_convolution(node) : map_softmax(node);
}

}  // namespace dmlconform::interop
