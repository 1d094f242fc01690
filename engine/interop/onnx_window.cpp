// Poolings and local response normalisation.
#include <algorithm>
#include <numeric>

#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;
using Numbers = std::vector<std::int64_t>;

/// DirectML's tensors have two or three spatial dimensions.
core::Dimensions image_of(core::Dimensions sizes) {
    if (sizes.size() == 3) {
        sizes.insert(sizes.begin() + 2, 1);
    }
    return sizes;
}

/// Batches, channels, and all spatial dimensions merged into one.
core::Dimensions flattened(const core::Dimensions& sizes) {
    const std::uint32_t rest = std::accumulate(sizes.begin() + 2, sizes.end(), 1U, std::multiplies<>());
    return {sizes[0], sizes[1], 1, rest};
}

/// A node's windows, with the padding for which DirectML's formula gives the output's sizes.
struct Windows {
    Numbers sizes;
    Numbers strides;
    Numbers dilations;
    Numbers start_padding;
    Numbers end_padding;
    bool is_dilated = false;
    /// True if windows reach beyond the node's padding, which ceil_mode allows.
    bool goes_beyond_padding = false;
};

/// Limit for which products of two numbers and a size fit 64 bits.
constexpr std::int64_t largest_window_number = 0x3fffffff;

/// One number for each spatial dimension; `otherwise` if the node has none, and 0 for an inserted dimension.
core::Result<Numbers> numbers_of(const Numbers& given, std::size_t count, std::size_t spatial, std::int64_t otherwise,
                                 std::int64_t inserted) {
    Numbers numbers = given.empty() ? Numbers(count, otherwise) : given;
    const bool legal = numbers.size() == count && std::all_of(numbers.begin(), numbers.end(), [](std::int64_t number) {
                           return number >= 0 && number <= largest_window_number;
                       });
    if (!legal) {
        return core::fail("sizes, strides, dilations or padding of the window are not those of the spatial dimensions");
    }
    numbers.insert(numbers.begin(), spatial - count, inserted);
    return numbers;
}

/// The starts or the ends in "pads", which lists first all starts, then all ends.
Numbers half_of(const Numbers& pads, bool second) {
    const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
    return second ? Numbers(pads.begin() + half, pads.end()) : Numbers(pads.begin(), pads.begin() + half);
}

/// Determines the padding along a dimension of `in` elements with `out` window positions.
void settle_padding(Windows& windows, std::size_t d, std::int64_t in, std::int64_t out, const std::string& automatic) {
    const std::int64_t reach = (windows.sizes[d] - 1) * windows.dilations[d] + 1;
    const std::int64_t needed = (out - 1) * windows.strides[d] + reach - in;
    if (automatic.starts_with("SAME")) {
        const std::int64_t total = std::max<std::int64_t>(needed, 0);
        windows.start_padding[d] = automatic == "SAME_LOWER" ? total - total / 2 : total / 2;
        windows.end_padding[d] = total - windows.start_padding[d];
    } else if (needed - windows.start_padding[d] > windows.end_padding[d]) {
        windows.end_padding[d] = needed - windows.start_padding[d];
        windows.goes_beyond_padding = true;
    }
}

core::Result<Windows> windows_of(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const core::Dimensions in = image_of(sizes);
    const core::Dimensions out = image_of(node.output(0)->sizes);
    const std::size_t count = sizes.size() - 2;
    const std::size_t spatial = in.size() - 2;
    const Numbers pads = node.integers("pads");
    const auto window = numbers_of(node.integers("kernel_shape"), count, spatial, 0, 1);
    const auto strides = numbers_of(node.integers("strides"), count, spatial, 1, 1);
    const auto dilations = numbers_of(node.integers("dilations"), count, spatial, 1, 1);
    const auto starts = numbers_of(half_of(pads, false), count, spatial, 0, 0);
    const auto ends = numbers_of(half_of(pads, true), count, spatial, 0, 0);
    for (const auto* list : {&window, &strides, &dilations, &starts, &ends}) {
        if (!*list) {
            return tl::unexpected(list->error());
        }
    }
    Windows windows{*window, *strides, *dilations, *starts, *ends};
    windows.is_dilated =
        std::any_of(windows.dilations.begin(), windows.dilations.end(), [](std::int64_t step) { return step != 1; });
    for (std::size_t d = 0; d < spatial; ++d) {
        settle_padding(windows, d, in[d + 2], out[d + 2], node.text("auto_pad", "NOTSET"));
    }
    return windows;
}

/// Why DirectML does not support a pooling; empty if it does.
std::string difference_of_pooling(const OnnxNode& node) {
    if (node.input(0) == nullptr) {
        return node.type + " has no data";
    }
    const std::size_t rank = node.input(0)->sizes.size();
    if (rank < 3 || rank > 5 || node.output(0)->sizes.size() != rank) {
        return "DirectML's poolings have two or three spatial dimensions";
    }
    return "";
}

/// The operator with the node's windows. Older versions of some operators have no dilations.
core::Result<OnnxCase> pooling_case(const OnnxNode& node, const Windows& windows, const std::string& directml,
                                    bool has_dilations) {
    OnnxCase result(directml);
    result.input("InputTensor", *node.input(0), image_of(node.input(0)->sizes))
        .output("OutputTensor", *node.output(0), image_of(node.output(0)->sizes))
        .set("Strides", windows.strides)
        .set("WindowSize", windows.sizes)
        .set("StartPadding", windows.start_padding)
        .set("EndPadding", windows.end_padding);
    if (has_dilations) {
        result.set("Dilations", windows.dilations);
    }
    return result;
}

Mapped map_average_pool(const OnnxNode& node) {
    const auto windows = windows_of(node);
    if (!windows) {
        return tl::unexpected(windows.error());
    }
    const bool counts_padding = node.integer("count_include_pad", 0) != 0;
    if (counts_padding && windows->goes_beyond_padding) {
        return core::fail("ONNX does not count what ceil_mode adds to the padding, and DirectML does");
    }
    auto result =
        pooling_case(node, *windows, windows->is_dilated ? "AVERAGE_POOLING1" : "AVERAGE_POOLING", windows->is_dilated);
    return result->set("IncludePadding", counts_padding).take();
}

Mapped map_lp_pool(const OnnxNode& node) {
    const auto windows = windows_of(node);
    if (!windows) {
        return tl::unexpected(windows.error());
    }
    auto result = pooling_case(node, *windows, windows->is_dilated ? "LP_POOLING1" : "LP_POOLING", windows->is_dilated);
    return result->set("P", node.integer("p", 2)).take();
}

Mapped map_max_pool(const OnnxNode& node) {
    const auto windows = windows_of(node);
    if (!windows) {
        return tl::unexpected(windows.error());
    }
    auto result = pooling_case(node, *windows, "MAX_POOLING2", true);
    if (const OnnxTensor* indices = node.output(1)) {
        if (node.integer("storage_order", 0) != 0) {
            return core::fail("DirectML counts indices of MaxPool row by row, not column by column");
        }
        // DirectML's indices are unsigned; ONNX's are never negative here.
        OnnxTensor positions = *indices;
        positions.type = core::DataType::uint64;
        result->output("OutputIndicesTensor", positions, image_of(positions.sizes));
    }
    return result->take();
}

/// One window over all spatial dimensions.
Mapped map_global_pool(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    if (input == nullptr || input->sizes.size() < 3) {
        return core::fail(node.type + " has no spatial dimensions");
    }
    const core::Dimensions sizes = flattened(input->sizes);
    if (node.output(0)->count() != std::size_t{sizes[0]} * sizes[1]) {
        return core::fail(node.type + " has not one element for each batch and channel");
    }
    const std::string directml = node.type == "GlobalAveragePool" ? "AVERAGE_POOLING"
                                 : node.type == "GlobalLpPool"    ? "LP_POOLING"
                                                                  : "MAX_POOLING";
    OnnxCase result(directml);
    result.input("InputTensor", *input, sizes)
        .output("OutputTensor", *node.output(0), {sizes[0], sizes[1], 1, 1})
        .set("Strides", {1, 1})
        .set("WindowSize", {1, sizes[3]})
        .set("StartPadding", {0, 0})
        .set("EndPadding", {0, 0});
    if (node.type == "GlobalAveragePool") {
        result.set("IncludePadding", false);
    } else if (node.type == "GlobalLpPool") {
        result.set("P", node.integer("p", 2));
    }
    return result.take();
}

Mapped map_lrn(const OnnxNode& node) {
    const OnnxTensor* input = node.input(0);
    if (input == nullptr || input->sizes.size() < 2 || node.output(0)->sizes != input->sizes) {
        return core::fail("LRN has no data with channels");
    }
    return OnnxCase("LOCAL_RESPONSE_NORMALIZATION")
        .input("InputTensor", *input, flattened(input->sizes))
        .output("OutputTensor", *node.output(0), flattened(input->sizes))
        .set("CrossChannel", true)
        .set("LocalSize", node.integer("size", 0))
        .set("Alpha", node.number("alpha", 0.0001F))
        .set("Beta", node.number("beta", 0.75F))
        .set("Bias", node.number("bias", 1))
        .take();
}

/// Maps a pooling if ONNX and DirectML agree about it.
template <Mapped (*map)(const OnnxNode&)>
Mapped pooled(const OnnxNode& node) {
    std::string difference = difference_of_pooling(node);
    return difference.empty() ? map(node) : Mapped(core::fail(std::move(difference)));
}

}  // namespace

std::span<const OnnxMapping> window_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"AveragePool", pooled<map_average_pool>, "AVERAGE_POOLING, AVERAGE_POOLING1",
         "one to three spatial dimensions; not with padding that ceil_mode adds and count_include_pad counts"},
        {"LpPool", pooled<map_lp_pool>, "LP_POOLING, LP_POOLING1", "one to three spatial dimensions"},
        {"MaxPool", pooled<map_max_pool>, "MAX_POOLING2",
         "one to three spatial dimensions; without column-major indices"},
        {"GlobalAveragePool", map_global_pool, "AVERAGE_POOLING", "one window"},
        {"GlobalLpPool", map_global_pool, "LP_POOLING", "one window"},
        {"GlobalMaxPool", map_global_pool, "MAX_POOLING", "one window"},
        {"LRN", map_lrn, "LOCAL_RESPONSE_NORMALIZATION", "across channels"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
