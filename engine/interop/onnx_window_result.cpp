// Types and sizes of the outputs of windows, products and recurrent networks.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/element.h"
#include "engine/interop/onnx_node.h"

namespace dmlconform::interop {
namespace {

using Results = core::Result<std::vector<OnnxTensor>>;
using Numbers = std::vector<std::int64_t>;
using core::DataType;

/// Limit for which products of two numbers fit 64 bits.
constexpr std::int64_t largest = 0x3fffffff;

Results one(DataType type, const Numbers& shape) {
    core::Dimensions sizes;
    for (const std::int64_t size : shape) {
        if (size < 0 || size > largest) {
            return core::fail(fmt::format("an output would have the size {}", size));
        }
        sizes.push_back(static_cast<std::uint32_t>(size));
    }
    auto made = unknown_tensor(type, sizes);
    return made ? Results(std::vector{std::move(*made)}) : tl::unexpected(made.error());
}

/// A node's geometry for each spatial dimension.
struct WindowGeometry {
    Numbers window;
    Numbers strides;
    Numbers dilations;
    Numbers pads;
    std::string automatic;
};

core::Result<WindowGeometry> window_geometry(const OnnxNode& node, Numbers window) {
    const std::size_t count = window.size();
    WindowGeometry geometry{std::move(window), node.integers("strides"), node.integers("dilations"),
                            node.integers("pads"), node.text("auto_pad", "NOTSET")};
    const auto complete = [&](Numbers& list, std::size_t size, std::int64_t otherwise) {
        list.resize(list.empty() ? size : list.size(), otherwise);
        return list.size() == size &&
               std::ranges::all_of(list, [](std::int64_t number) { return number >= 0 && number <= largest; });
    };
    const bool legal = complete(geometry.window, count, 1) && complete(geometry.strides, count, 1) &&
                       complete(geometry.dilations, count, 1) && complete(geometry.pads, 2 * count, 0);
    if (!legal || std::ranges::count(geometry.strides, 0) != 0 || std::ranges::count(geometry.window, 0) != 0) {
        return core::fail("windows, strides, dilations or padding are not those of the spatial dimensions");
    }
    return geometry;
}

/// The number of windows along a spatial dimension.
std::int64_t windows_along(const WindowGeometry& geometry, std::size_t d, std::int64_t size, bool ceil_mode) {
    const std::int64_t stride = geometry.strides[d];
    if (geometry.automatic.starts_with("SAME")) {
        return (size + stride - 1) / stride;
    }
    const std::size_t count = geometry.window.size();
    const std::int64_t padded =
        geometry.automatic == "VALID" ? size : size + geometry.pads[d] + geometry.pads[d + count];
    const std::int64_t room = padded - (geometry.window[d] - 1) * geometry.dilations[d] - 1;
    if (room < 0) {
        return -1;
    }
    std::int64_t windows = room / stride + 1;
    // A window that would start in the padding at the end does not count.
    if (ceil_mode && room % stride != 0 && windows * stride < size + geometry.pads[d]) {
        ++windows;
    }
    return windows;
}

Numbers spatial_sizes(const OnnxTensor& filter) {
    return {filter.sizes.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(filter.sizes.size())),
            filter.sizes.end()};
}

core::Result<Numbers> convolved(const OnnxNode& node, const OnnxTensor& filter) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    if (sizes.size() < 3 || filter.sizes.size() != sizes.size()) {
        return core::fail(node.type + " has no spatial dimensions, or a filter of others");
    }
    const auto geometry = window_geometry(node, spatial_sizes(filter));
    if (!geometry) {
        return tl::unexpected(geometry.error());
    }
    Numbers shape{sizes[0], filter.sizes[0]};
    for (std::size_t d = 0; d + 2 < sizes.size(); ++d) {
        shape.push_back(windows_along(*geometry, d, sizes[d + 2], false));
    }
    return shape;
}

Results convolution(const OnnxNode& node) {
    const bool quantised = node.type == "QLinearConv";
    const OnnxTensor* filter = node.input(quantised ? 3 : 1);
    if (filter == nullptr || (quantised && node.input(7) == nullptr)) {
        return core::fail(node.type + " without a filter, or without a zero point");
    }
    const DataType type = quantised                    ? node.input(7)->type
                          : node.type == "ConvInteger" ? DataType::int32
                                                       : node.input(0)->type;
    const auto shape = convolved(node, *filter);
    return shape ? one(type, *shape) : tl::unexpected(shape.error());
}

Results transposed_convolution(const OnnxNode& node) {
    const OnnxTensor* filter = node.input(1);
    const core::Dimensions& sizes = node.input(0)->sizes;
    if (filter == nullptr || sizes.size() < 3 || filter->sizes.size() != sizes.size()) {
        return core::fail("ConvTranspose has no spatial dimensions, or a filter of others");
    }
    const auto geometry = window_geometry(node, spatial_sizes(*filter));
    if (!geometry) {
        return tl::unexpected(geometry.error());
    }
    const std::size_t count = sizes.size() - 2;
    Numbers added = node.integers("output_padding");
    const Numbers wanted = node.integers("output_shape");
    added.resize(added.empty() ? count : added.size());
    const std::int64_t groups = node.integer("group", 1);
    if (added.size() != count || (!wanted.empty() && wanted.size() < count) || groups < 1 || groups > largest) {
        return core::fail("output_padding or output_shape are not those of the spatial dimensions");
    }
    Numbers shape{sizes[0], filter->sizes[1] * groups};
    for (std::size_t d = 0; d < count; ++d) {
        const std::int64_t stride = geometry->strides[d];
        const std::int64_t size = sizes[d + 2];
        const std::int64_t reach = (geometry->window[d] - 1) * geometry->dilations[d] + 1;
        const std::int64_t written = stride * (size - 1) + reach + std::clamp<std::int64_t>(added[d], 0, largest);
        shape.push_back(!wanted.empty() ? wanted[wanted.size() - count + d]
                        : geometry->automatic.starts_with("SAME")
                            ? size * stride
                            : written - geometry->pads[d] - geometry->pads[d + count]);
    }
    return one(node.input(0)->type, shape);
}

Results pooling(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const Numbers window = node.integers("kernel_shape");
    if (sizes.size() < 3 || window.size() + 2 != sizes.size()) {
        return core::fail(node.type + " has no spatial dimensions, or windows of others");
    }
    const auto geometry = window_geometry(node, window);
    if (!geometry) {
        return tl::unexpected(geometry.error());
    }
    Numbers shape{sizes[0], sizes[1]};
    for (std::size_t d = 0; d < window.size(); ++d) {
        shape.push_back(windows_along(*geometry, d, sizes[d + 2], node.integer("ceil_mode", 0) != 0));
    }
    auto results = one(node.input(0)->type, shape);
    if (results && node.type == "MaxPool") {
        OnnxTensor indices = results->front();
        indices.type = DataType::int64;
        results->push_back(std::move(indices));
    }
    return results;
}

Results global_pooling(const OnnxNode& node) {
    Numbers shape(node.input(0)->sizes.begin(), node.input(0)->sizes.end());
    std::fill(shape.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(shape.size())), shape.end(), 1);
    return one(node.input(0)->type, shape);
}

Results unpooling(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const Numbers window = node.integers("kernel_shape");
    if (node.input(2) != nullptr) {
        return one(node.input(0)->type, node.list(2, ""));
    }
    const auto geometry = window_geometry(node, window);
    if (!geometry || window.size() + 2 != sizes.size()) {
        return core::fail("MaxUnpool has windows of other dimensions than its data");
    }
    Numbers shape{sizes[0], sizes[1]};
    for (std::size_t d = 0; d < window.size(); ++d) {
        shape.push_back((std::int64_t{sizes[d + 2]} - 1) * geometry->strides[d] + window[d] - geometry->pads[d] -
                        geometry->pads[d + window.size()]);
    }
    return one(node.input(0)->type, shape);
}

Results gemm(const OnnxNode& node) {
    if (node.input(1) == nullptr || node.input(0)->sizes.size() != 2 || node.input(1)->sizes.size() != 2) {
        return core::fail("Gemm has not two matrices");
    }
    const bool a = node.integer("transA", 0) != 0;
    const bool b = node.integer("transB", 0) != 0;
    return one(node.input(0)->type, {node.input(0)->sizes[a ? 1 : 0], node.input(1)->sizes[b ? 0 : 1]});
}

Results product(const OnnxNode& node) {
    const bool quantised = node.type == "QLinearMatMul";
    const OnnxTensor* second = node.input(quantised ? 3 : 1);
    if (second == nullptr || (quantised && node.input(7) == nullptr)) {
        return core::fail(node.type + " has not two factors, or no zero point");
    }
    Numbers a(node.input(0)->sizes.begin(), node.input(0)->sizes.end());
    Numbers b(second->sizes.begin(), second->sizes.end());
    const bool row = a.size() == 1;
    const bool column = b.size() == 1;
    a.insert(a.begin(), row ? 1 : 0, 1);
    b.insert(b.end(), column ? 1 : 0, 1);
    if (a.back() != b[b.size() - 2]) {
        return core::fail(node.type + " has factors that do not fit each other");
    }
    const std::size_t rank = std::max(a.size(), b.size());
    Numbers wide_a = a;
    Numbers wide_b = b;
    wide_a.insert(wide_a.begin(), rank - a.size(), 1);
    wide_b.insert(wide_b.begin(), rank - b.size(), 1);
    Numbers shape;
    for (std::size_t d = 0; d + 2 < rank; ++d) {
        if (wide_a[d] != wide_b[d] && wide_a[d] != 1 && wide_b[d] != 1) {
            return core::fail(node.type + " has factors that cannot be broadcast to each other");
        }
        shape.push_back(std::max(wide_a[d], wide_b[d]));
    }
    if (!row) {
        shape.push_back(a[a.size() - 2]);
    }
    if (!column) {
        shape.push_back(b.back());
    }
    const DataType type = quantised                      ? node.input(7)->type
                          : node.type == "MatMulInteger" ? DataType::int32
                                                         : node.input(0)->type;
    return one(type, shape);
}

Results recurrent(const OnnxNode& node) {
    const OnnxTensor* weights = node.input(1);
    const OnnxTensor* recurrence = node.input(2);
    const core::Dimensions& sizes = node.input(0)->sizes;
    if (weights == nullptr || recurrence == nullptr || sizes.size() != 3 || recurrence->sizes.size() != 3) {
        return core::fail(node.type + " without data or weights of three dimensions");
    }
    const bool batch_first = node.integer("layout", 0) != 0;
    const std::int64_t directions = recurrence->sizes[0];
    const std::int64_t hidden = recurrence->sizes[2];
    const std::int64_t steps = sizes[batch_first ? 1 : 0];
    const std::int64_t batches = sizes[batch_first ? 0 : 1];
    const DataType type = node.input(0)->type;
    auto all = one(
        type, batch_first ? Numbers{batches, steps, directions, hidden} : Numbers{steps, directions, batches, hidden});
    const auto last =
        one(type, batch_first ? Numbers{batches, directions, hidden} : Numbers{directions, batches, hidden});
    if (!all || !last) {
        return core::fail(node.type + " has too large outputs");
    }
    all->push_back(last->front());
    if (node.type == "LSTM") {
        all->push_back(last->front());
    }
    return all;
}

Results resampling(const OnnxNode& node) {
    const core::Dimensions& sizes = node.input(0)->sizes;
    const bool is_old = node.type == "Upsample" || node.opset < 11;
    const OnnxTensor* scales = node.input(is_old ? 1 : 2);
    const OnnxTensor* wanted = is_old ? nullptr : node.input(3);
    Numbers axes = node.integers("axes");
    for (std::size_t d = 0; axes.size() < sizes.size() && node.attribute("axes") == nullptr; ++d) {
        axes.push_back(static_cast<std::int64_t>(d));
    }
    std::vector<double> given;
    const onnx::AttributeProto* attribute = node.attribute("scales");
    const OnnxTensor* list = scales != nullptr && scales->count() != 0 ? scales : wanted;
    for (std::size_t i = 0; list != nullptr && i < list->count(); ++i) {
        given.push_back(core::decode_element(list->type, core::load_element(list->elements, list->type, i)));
    }
    if (list == nullptr && attribute != nullptr) {
        given.assign(attribute->floats().begin(), attribute->floats().end());
    }
    if (given.size() != axes.size()) {
        return core::fail(node.type + " has not one scale or size for each axis");
    }
    if (list == wanted && wanted != nullptr && node.keeps_aspect_ratio()) {
        return core::fail("keep_aspect_ratio_policy is not mapped");
    }
    Numbers shape(sizes.begin(), sizes.end());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_of(axes[i], sizes.size());
        const double size = !axis                                 ? -1
                            : list == wanted && wanted != nullptr ? given[i]
                                                                  : std::floor(sizes[*axis] * given[i]);
        if (!(size >= 1 && size <= static_cast<double>(largest))) {
            return core::fail(node.type + " has an axis or a scale that is not one");
        }
        shape[*axis] = static_cast<std::int64_t>(size);
    }
    return one(node.input(0)->type, shape);
}

Results regions(const OnnxNode& node) {
    const OnnxTensor* rois = node.input(1);
    const Numbers pooled = node.type == "RoiAlign"
                               ? Numbers{node.integer("output_height", 1), node.integer("output_width", 1)}
                               : node.integers("pooled_shape");
    if (rois == nullptr || node.input(0)->sizes.size() != 4 || pooled.size() != 2) {
        return core::fail(node.type + " without regions, or without an output size");
    }
    return one(node.input(0)->type, {rois->sizes[0], node.input(0)->sizes[1], pooled[0], pooled[1]});
}

}  // namespace

std::optional<Results> window_results(const OnnxNode& node) {
    static const std::vector<std::pair<std::string_view, Results (*)(const OnnxNode&)>> rules{
        {"Conv", convolution},
        {"ConvInteger", convolution},
        {"QLinearConv", convolution},
        {"ConvTranspose", transposed_convolution},
        {"AveragePool", pooling},
        {"LpPool", pooling},
        {"MaxPool", pooling},
        {"GlobalAveragePool", global_pooling},
        {"GlobalLpPool", global_pooling},
        {"GlobalMaxPool", global_pooling},
        {"MaxUnpool", unpooling},
        {"Gemm", gemm},
        {"MatMul", product},
        {"MatMulInteger", product},
        {"QLinearMatMul", product},
        {"RNN", recurrent},
        {"GRU", recurrent},
        {"LSTM", recurrent},
        {"Resize", resampling},
        {"Upsample", resampling},
        {"RoiAlign", regions},
        {"MaxRoiPool", regions}};
    for (const auto& [type, rule] : rules) {
        if (node.type == type) {
            return rule(node);
        }
    }
    return std::nullopt;
}

}  // namespace dmlconform::interop
