// ONNX operators that read or write at indices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/element.h"
#include "engine/core/utf8.h"
#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

Mapped map_gather_elements(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", 0), node.input(0)->sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    return OnnxCase("GATHER_ELEMENTS")
        .input("InputTensor", *node.input(0))
        .input("IndicesTensor", *node.input(1))
        .output("OutputTensor", *node.output(0))
        .set("Axis", *axis)
        .take();
}

Mapped map_gather_nd(const OnnxNode& node) {
    const OnnxTensor& input = *node.input(0);
    const OnnxTensor& indices = *node.input(1);
    const OnnxTensor& output = *node.output(0);
    // All three tensors get the same number of dimensions.
    const std::size_t rank = std::max({input.sizes.size(), indices.sizes.size(), output.sizes.size()});
    const std::int64_t batches = node.integer("batch_dims", 0);
    if (batches < 0 || batches >= static_cast<std::int64_t>(std::min(input.sizes.size(), indices.sizes.size()))) {
        return core::fail("batch_dims is not less than the dimensions of data and indices");
    }
    return OnnxCase("GATHER_ND1")
        .input("InputTensor", input, padded(input.sizes, rank))
        .input("IndicesTensor", indices, padded(indices.sizes, rank))
        .output("OutputTensor", output, padded(output.sizes, rank))
        .set("InputDimensionCount", input.sizes.size())
        .set("IndicesDimensionCount", indices.sizes.size())
        .set("BatchDimensionCount", batches)
        .take();
}

/// Why DirectML does not support a scatter; empty if it does.
std::string difference_of_scatter(const OnnxNode& node) {
    if (node.input(2) == nullptr) {
        return fmt::format("{} has no updates", node.type);
    }
    const std::string reduction = node.text("reduction", "none");
    return reduction == "none"
               ? ""
               : fmt::format("DirectML's scatters have no reduction (\"{}\")", core::shortened(reduction));
}

Mapped map_scatter(const OnnxNode& node) {
    const auto axis = axis_of(node.integer("axis", 0), node.input(0)->sizes.size());
    if (std::string difference = difference_of_scatter(node); !difference.empty() || !axis) {
        return core::fail(difference.empty() ? "there is no such axis" : std::move(difference));
    }
    return OnnxCase("SCATTER")
        .input("InputTensor", *node.input(0))
        .input("IndicesTensor", *node.input(1))
        .input("UpdatesTensor", *node.input(2))
        .output("OutputTensor", *node.output(0))
        .set("Axis", *axis)
        .take();
}

Mapped map_scatter_nd(const OnnxNode& node) {
    if (std::string difference = difference_of_scatter(node); !difference.empty()) {
        return core::fail(std::move(difference));
    }
    const OnnxTensor& input = *node.input(0);
    const OnnxTensor& indices = *node.input(1);
    const OnnxTensor& updates = *node.input(2);
    const std::size_t rank = std::max({input.sizes.size(), indices.sizes.size(), updates.sizes.size()});
    return OnnxCase("SCATTER_ND")
        .input("InputTensor", input, padded(input.sizes, rank))
        .input("IndicesTensor", indices, padded(indices.sizes, rank))
        .input("UpdatesTensor", updates, padded(updates.sizes, rank))
        .output("OutputTensor", *node.output(0), padded(node.output(0)->sizes, rank))
        .set("InputDimensionCount", input.sizes.size())
        .set("IndicesDimensionCount", indices.sizes.size())
        .take();
}

/// ONNX's indices may have any number type; DirectML's are integers.
core::Result<OnnxTensor> as_integers(const OnnxTensor& tensor) {
    if (!tensor.has_elements()) {
        return core::is_floating_point(tensor.type) ? core::Result<OnnxTensor>(core::fail("indices are not integers"))
                                                    : tensor;
    }
    OnnxTensor result{core::DataType::int64, tensor.sizes,
                      std::vector<std::byte>(tensor.count() * sizeof(std::int64_t))};
    constexpr double limit = 0x1p53;
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        const double value = core::decode_element(tensor.type, core::load_element(tensor.elements, tensor.type, i));
        if (!(std::abs(value) <= limit) || value != std::trunc(value)) {
            return core::fail("an index is not a whole number, or has more than 53 bits");
        }
        core::store_element(result.elements, result.type, i, static_cast<std::uint64_t>(tensor.integer(i)));
    }
    return result;
}

/// In both, the values are "off" and "on".
Mapped map_one_hot(const OnnxNode& node) {
    const OnnxTensor& output = *node.output(0);
    const OnnxTensor* values = node.input(2);
    const std::size_t rank = output.sizes.size();
    const auto axis = axis_of(node.integer("axis", -1), rank);
    if (!axis || values == nullptr || values->count() != 2) {
        return core::fail("OneHot without an axis or without two values");
    }
    if (node.input(1)->count() != 1 || node.input(1)->integer(0) != std::int64_t{output.sizes[*axis]}) {
        return core::fail("the depth is not the output's size along the axis");
    }
    const auto indices = as_integers(*node.input(0));
    if (!indices) {
        return tl::unexpected(indices.error());
    }
    core::Dimensions sizes = output.sizes;
    sizes[*axis] = 1;
    if (core::element_count(sizes) != indices->count()) {
        return core::fail("the output's sizes do not follow from those of the indices");
    }
    return OnnxCase("ONE_HOT")
        .input("IndicesTensor", *indices, sizes)
        .input("ValuesTensor", *values, padded({2}, rank))
        .output("OutputTensor", output)
        .set("Axis", *axis)
        .take();
}

/// Gathers the selected elements: their positions are the indices. Without an axis the data are flattened.
Mapped map_compress(const OnnxNode& node) {
    core::Dimensions sizes = node.input(0)->sizes;
    const bool whole = node.attribute("axis") == nullptr;
    if (whole) {
        sizes = {static_cast<std::uint32_t>(node.input(0)->count())};
    }
    const auto axis = axis_of(node.integer("axis", 0), sizes.size());
    if (!axis) {
        return core::fail("there is no such axis");
    }
    const OnnxTensor& condition = *node.input(1);
    if (!condition.is_bool || condition.sizes.size() != 1 || condition.count() > sizes[*axis]) {
        return core::fail("the condition is not a list of BOOL, at most as long as the data along the axis");
    }
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t i = 0; i < condition.count(); ++i) {
        if (condition.integer(i) != 0) {
            chosen.push_back(i);
        }
    }
    if (chosen.empty()) {
        return core::fail("the condition chooses nothing");
    }
    const core::Dimensions indices_sizes = padded({static_cast<std::uint32_t>(chosen.size())}, sizes.size());
    return OnnxCase("GATHER")
        .input("InputTensor", *node.input(0), sizes)
        .input("IndicesTensor", whole_numbers(chosen, indices_sizes))
        .output("OutputTensor", *node.output(0))
        .set("Axis", *axis)
        .set("IndexDimensions", 1)
        .take();
}

/// Maps a node that has its first two inputs.
template <Mapped (*map)(const OnnxNode&)>
Mapped with_two_inputs(const OnnxNode& node) {
    return node.input(0) == nullptr || node.input(1) == nullptr
               ? Mapped(core::fail(fmt::format("{} has not its first two inputs", node.type)))
               : map(node);
}

}  // namespace

std::span<const OnnxMapping> indexing_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"GatherElements", with_two_inputs<map_gather_elements>, "GATHER_ELEMENTS"},
        {"GatherND", with_two_inputs<map_gather_nd>, "GATHER_ND1"},
        {"Scatter", with_two_inputs<map_scatter>, "SCATTER"},
        {"ScatterElements", with_two_inputs<map_scatter>, "SCATTER"},
        {"ScatterND", with_two_inputs<map_scatter_nd>, "SCATTER_ND"},
        {"OneHot", with_two_inputs<map_one_hot>, "ONE_HOT", "indices of any type become INT64"},
        {"Compress", with_two_inputs<map_compress>, "GATHER",
         "by the positions that the condition, which must be known, chooses"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
