// Maps the quantised convolution.
#include <iterator>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

/// Two entries for height and width; empty if there are others.
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
    if (node.inputs.size() < 8 || node.input(0) == nullptr || node.input(0)->sizes.size() != 4 ||
        node.input(3) == nullptr) {
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

std::span<const OnnxMapping> quantised_convolution_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"QLinearConv", map_quantized_convolution, "QUANTIZED_LINEAR_CONVOLUTION",
         "two spatial dimensions, without auto_pad"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
