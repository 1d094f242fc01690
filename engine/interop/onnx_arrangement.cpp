// ONNX operators that rearrange elements: blocks, padding, repetition, reversal, diagonals.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/core/utf8.h"
#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

/// Limit for UINT fields.
constexpr std::int64_t most = 0x7fffffff;

Mapped map_blocks(const OnnxNode& node) {
    const bool to_space = node.type == "DepthToSpace";
    const std::string mode = to_space ? node.text("mode", "DCR") : "DCR";
    const std::int64_t block = node.integer("blocksize", 0);
    if ((mode != "DCR" && mode != "CRD") || block < 1 || block > most) {
        return core::fail("the mode is not DCR or CRD, or the blocksize is not a size");
    }
    return OnnxCase(to_space ? "DEPTH_TO_SPACE1" : "SPACE_TO_DEPTH1")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("BlockSize", block)
        .set("Order", mode == "DCR" ? "DEPTH_COLUMN_ROW" : "COLUMN_ROW_DEPTH")
        .take();
}

/// The padding before each dimension, then the padding after each.
core::Result<std::array<std::vector<std::int64_t>, 2>> padding_of(const OnnxNode& node) {
    const std::size_t rank = node.input(0)->sizes.size();
    const auto pads = node.list(1, node.opset < 2 ? "paddings" : "pads");
    std::vector<std::int64_t> axes = node.list(3, "axes");
    if (axes.empty()) {
        for (std::size_t d = 0; d < rank; ++d) {
            axes.push_back(static_cast<std::int64_t>(d));
        }
    }
    if (pads.size() != 2 * axes.size()) {
        return core::fail("there are not two paddings for each axis");
    }
    std::array<std::vector<std::int64_t>, 2> padding;
    for (std::size_t end = 0; end < 2; ++end) {
        padding[end].assign(rank, 0);
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const auto axis = axis_of(axes[i], rank);
            const std::int64_t pad = pads[end * axes.size() + i];
            if (!axis) {
                return core::fail("there is no such axis");
            }
            if (pad < 0 || pad > most) {
                return core::fail("a negative padding, which cuts off elements, is not one of DirectML's");
            }
            padding[end][*axis] = pad;
        }
    }
    return padding;
}

Mapped map_pad(const OnnxNode& node) {
    constexpr std::pair<std::string_view, std::string_view> modes[] = {
        {"constant", "CONSTANT"}, {"edge", "EDGE"}, {"reflect", "REFLECTION"}, {"wrap", "WRAP"}};
    const std::string written = node.text("mode", "constant");
    const auto* const mode =
        std::find_if(std::begin(modes), std::end(modes), [&](const auto& row) { return row.first == written; });
    if (mode == std::end(modes)) {
        return core::fail(fmt::format("\"{}\" is not a mode of Pad", core::shortened(written)));
    }
    const auto padding = padding_of(node);
    if (!padding) {
        return tl::unexpected(padding.error());
    }
    // An attribute before opset 11.
    const OnnxTensor written_value = one_number(node.number("value", 0));
    const OnnxTensor& value = node.input(2) == nullptr ? written_value : *node.input(2);
    if (value.count() != 1) {
        return core::fail("the value to pad with is not one number");
    }
    return OnnxCase("PADDING1")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("PaddingMode", mode->second)
        .set("PaddingValueDataType", core::name(node.input(2) == nullptr ? node.output(0)->type : value.type))
        .set("PaddingValue", value.list().front())
        .set("StartPadding", (*padding)[0])
        .set("EndPadding", (*padding)[1])
        .take();
}

Mapped map_tile(const OnnxNode& node) {
    const auto repeats = node.list(1, "");
    const auto possible = [](std::int64_t repeat) { return repeat >= 1 && repeat <= most; };
    if (repeats.size() != node.input(0)->sizes.size() || !std::all_of(repeats.begin(), repeats.end(), possible)) {
        return core::fail("there is not one repeat, at least 1, for each dimension");
    }
    return OnnxCase("TILE")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("Repeats", repeats)
        .take();
}

/// Converts to UINT64, which DirectML uses where ONNX has INT64.
core::Result<OnnxTensor> as_unsigned(const OnnxTensor& tensor) {
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        if (tensor.type != core::DataType::int64 || tensor.integer(i) < 0) {
            return core::fail("indices or lengths are not of type INT64, or negative");
        }
    }
    OnnxTensor result = tensor;
    result.type = core::DataType::uint64;
    return result;
}

/// There is one length per batch; strides of 0 repeat it along the other dimensions.
Mapped map_reverse_sequence(const OnnxNode& node) {
    const OnnxTensor& input = *node.input(0);
    const OnnxTensor* given = node.input(1);
    const std::size_t rank = input.sizes.size();
    const auto time = axis_of(node.integer("time_axis", 0), rank);
    const auto batch = axis_of(node.integer("batch_axis", 1), rank);
    if (!time || !batch || *time == *batch) {
        return core::fail("time_axis and batch_axis are not two axes");
    }
    if (given == nullptr || given->sizes != core::Dimensions{input.sizes[*batch]}) {
        return core::fail("there is not one length for each batch");
    }
    auto lengths = as_unsigned(*given);
    if (!lengths) {
        return tl::unexpected(lengths.error());
    }
    lengths->sizes = along(*given, rank, *batch);
    core::Dimensions sizes = input.sizes;
    sizes[*time] = 1;
    OnnxCase result("REVERSE_SUBSEQUENCES");
    result.input("InputTensor", input).output("OutputTensor", *node.output(0)).set("Axis", *time);
    const auto done = result.broadcast_input("SequenceLengthsTensor", *lengths, sizes);
    return done ? Mapped(result.take()) : tl::unexpected(done.error());
}

/// The input size that leads to the pooled size.
std::int64_t unpooled(std::int64_t size, std::size_t d, const OnnxNode& node) {
    const auto entry = [&](const char* name, std::size_t index, std::int64_t otherwise) {
        const auto list = node.integers(name);
        return index < list.size() ? std::clamp<std::int64_t>(list[index], 0, most) : otherwise;
    };
    const std::size_t dimensions = node.input(0)->sizes.size() - 2;
    return (size - 1) * entry("strides", d, 1) + entry("kernel_shape", d, 1) - entry("pads", d, 0) -
           entry("pads", d + dimensions, 0);
}

/// Both use indices of the flat output, unless output_shape requests a size other than that of the windows.
Mapped map_max_unpool(const OnnxNode& node) {
    constexpr std::size_t rank = 4;
    const core::Dimensions& sizes = node.input(0)->sizes;
    const OnnxTensor& output = *node.output(0);
    if (node.input(1) == nullptr || sizes.size() < 3 || output.sizes.size() != sizes.size()) {
        return core::fail("MaxUnpool without indices, or without a spatial dimension");
    }
    for (std::size_t d = 2; d < sizes.size(); ++d) {
        if (unpooled(sizes[d], d - 2, node) != std::int64_t{output.sizes[d]}) {
            return core::fail("MaxUnpool with an output_shape counts its indices in another output than this one");
        }
    }
    const auto indices = as_unsigned(*node.input(1));
    if (!indices) {
        return tl::unexpected(indices.error());
    }
    return OnnxCase("MAX_UNPOOLING")
        .input("InputTensor", *node.input(0), padded(sizes, rank))
        .input("IndicesTensor", *indices, padded(indices->sizes, rank))
        .output("OutputTensor", output, padded(output.sizes, rank))
        .take();
}

/// Parses labels, such as "iijj" for "...ii->...i": one label for each dimension, with digits for the ellipsis.
std::string labels_of(std::string_view term, std::size_t rank) {
    std::string labels;
    for (const char c : term) {
        labels += c == ' ' ? "" : std::string(1, c);
    }
    const std::size_t dots = labels.find("...");
    if (dots == std::string::npos) {
        return labels;
    }
    std::string digits;
    for (std::size_t d = labels.size() - 3; d < rank && digits.size() < 8; ++d) {
        digits += static_cast<char>('0' + digits.size());
    }
    return labels.replace(dots, 3, digits);
}

/// A single tensor read with other strides: permutations and diagonals.
Mapped map_einsum(const OnnxNode& node) {
    const std::string equation = node.text("equation", "");
    const std::size_t arrow = equation.find("->");
    const OnnxTensor& input = *node.input(0);
    const core::Dimensions sizes = node.output(0)->onnx_sizes();
    if (node.inputs.size() != 1 || arrow == std::string::npos) {
        return core::fail("Einsum of several inputs, or without \"->\", is not mapped");
    }
    const std::string from = labels_of(equation.substr(0, arrow), input.sizes.size());
    const std::string to = labels_of(equation.substr(arrow + 2), sizes.size());
    if (from.size() != input.sizes.size() || to.size() != sizes.size()) {
        return core::fail("Einsum's labels are not those of the dimensions");
    }
    const auto packed = core::packed_strides(input.sizes);
    core::Dimensions strides(sizes.size(), 0);
    for (std::size_t d = 0; d < from.size(); ++d) {
        const std::size_t target = to.find(from[d]);
        if (target == std::string::npos) {
            return core::fail("Einsum that sums is not mapped");
        }
        if (to.find(from[d], target + 1) != std::string::npos || sizes[target] != input.sizes[d]) {
            return core::fail("Einsum's labels are not those of the dimensions");
        }
        strides[target] += static_cast<std::uint32_t>(packed[d]);
    }
    for (const char label : to) {
        if (from.find(label) == std::string::npos) {
            return core::fail("Einsum's labels are not those of the dimensions");
        }
    }
    return OnnxCase("ELEMENT_WISE_IDENTITY")
        .strided_input("InputTensor", gathered(input, sizes, strides), strides)
        .output("OutputTensor", *node.output(0))
        .take();
}

/// Sums of the windows that overlap.
Mapped map_columns(const OnnxNode& node) {
    const auto image = node.list(1, "");
    const auto window = node.list(2, "");
    const std::size_t rank = image.size();
    const auto complete = [&](const char* name, std::size_t size, std::int64_t otherwise) {
        auto list = node.integers(name);
        list.resize(list.empty() ? size : list.size(), otherwise);
        return list;
    };
    const auto pads = complete("pads", 2 * rank, 0);
    if (rank == 0 || window.size() != rank || pads.size() != 2 * rank) {
        return core::fail("the windows or pads of Col2Im are not those of the image");
    }
    return OnnxCase("FOLD")
        .input("InputTensor", *node.input(0))
        .output("OutputTensor", *node.output(0))
        .set("WindowSizes", window)
        .set("Strides", complete("strides", rank, 1))
        .set("Dilations", complete("dilations", rank, 1))
        .set("StartPadding", std::vector<std::int64_t>(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank)))
        .set("EndPadding", std::vector<std::int64_t>(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end()))
        .take();
}

/// Maps a node that has its first input.
template <Mapped (*map)(const OnnxNode&)>
Mapped arranged(const OnnxNode& node) {
    return node.input(0) == nullptr ? Mapped(core::fail(fmt::format("{} has no data", node.type))) : map(node);
}

}  // namespace

std::span<const OnnxMapping> arrangement_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"DepthToSpace", arranged<map_blocks>, "DEPTH_TO_SPACE1"},
        {"SpaceToDepth", arranged<map_blocks>, "SPACE_TO_DEPTH1"},
        {"Pad", arranged<map_pad>, "PADDING1", "negative numbers: SLICE1 before it"},
        {"Tile", arranged<map_tile>, "TILE"},
        {"MaxUnpool", arranged<map_max_unpool>, "MAX_UNPOOLING", "without another output_shape than its windows make"},
        {"ReverseSequence", arranged<map_reverse_sequence>, "REVERSE_SUBSEQUENCES"},
        {"Col2Im", arranged<map_columns>, "FOLD"},
        {"Einsum", arranged<map_einsum>, "ELEMENT_WISE_IDENTITY",
         "one input: also REDUCE; two without repeated labels: GEMM between copies with permuted strides"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
