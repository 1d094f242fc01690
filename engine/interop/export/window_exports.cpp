// Operators with windows: pooling, local response normalisation, blocks of an image, and gradients of these.

#include <algorithm>
#include <array>

#include "engine/core/element.h"
#include "engine/interop/export/operator_writer.h"

namespace dmlconform::interop::exporting {
namespace {

/// One number for each spatial dimension.
struct Geometry {
    Numbers sizes;
    Numbers strides;
    Numbers dilations;
    Numbers starts;
    Numbers ends;

    [[nodiscard]] bool is_dilated() const {
        return std::any_of(dilations.begin(), dilations.end(), [](std::int64_t step) { return step != 1; });
    }
    [[nodiscard]] Numbers pads() const {
        Numbers pads = starts;
        pads.insert(pads.end(), ends.begin(), ends.end());
        return pads;
    }
    /// How many elements of a window along a dimension lie at positions from `first` up to `end`.
    [[nodiscard]] std::int64_t elements_within(std::size_t d, std::int64_t window, std::int64_t first,
                                               std::int64_t end) const {
        const std::int64_t start = window * strides[d] - starts[d];
        const auto elements_before = [&](std::int64_t position) {
            const std::int64_t distance = std::max<std::int64_t>(position - start, 0);
            return std::min(distance / dilations[d] + (distance % dilations[d] != 0 ? 1 : 0), sizes[d]);
        };
        return elements_before(end) - elements_before(first);
    }
    [[nodiscard]] std::int64_t count() const {
        std::int64_t count = 1;
        for (const std::int64_t size : sizes) {
            count *= size;
        }
        return count;
    }
};

Geometry geometry_of(OperatorWriter& to, const char* size_field = "WindowSize") {
    Geometry geometry{
        to.numbers(size_field), to.numbers("Strides"), {}, to.numbers("StartPadding"), to.numbers("EndPadding")};
    geometry.dilations = !to.desc.has_field("Dilations") ? Numbers(geometry.sizes.size(), 1) : to.numbers("Dilations");
    return geometry;
}

ModelWriter::Attributes attributes_of(const Geometry& geometry, bool with_dilations) {
    ModelWriter::Attributes attributes{attribute("kernel_shape", geometry.sizes),
                                       attribute("strides", geometry.strides), attribute("pads", geometry.pads())};
    if (with_dilations) {
        attributes.push_back(attribute("dilations", geometry.dilations));
    }
    return attributes;
}

/// Batches and channels as batches of one channel.
core::Dimensions channels_apart(const core::Dimensions& sizes) {
    core::Dimensions apart = sizes;
    apart[0] *= apart[1];
    apart[1] = 1;
    return apart;
}

/// A filter of ones for a single channel.
Value ones(ModelWriter& w, const Geometry& geometry, int type) {
    core::Dimensions sizes{1, 1};
    sizes.insert(sizes.end(), geometry.sizes.begin(), geometry.sizes.end());
    return w.expand(w.scalar(type, 1), sizes);
}

/// Sums over windows, one for each element of a tensor of the sizes.
Value window_sums(ModelWriter& w, const Value& x, const Geometry& geometry, const core::Dimensions& sizes) {
    const Value apart = w.reshape(x, channels_apart(x.sizes));
    ModelWriter::Attributes attributes = attributes_of(geometry, true);
    const Value sums = w.node("Conv", {apart, ones(w, geometry, x.type)}, x.type, channels_apart(sizes), attributes);
    return w.reshape(sums, sizes);
}

/// By what the sum of a window is divided: the number of its elements, or of those inside the image.
Value divisors(OperatorWriter& to, const Geometry& geometry, const core::Dimensions& image,
               const core::Dimensions& stops, int type) {
    ModelWriter& w = to.w;
    if (to.uint("IncludePadding") != 0) {
        return w.scalar(type, static_cast<double>(geometry.count()));
    }
    core::Dimensions one_image = image;
    core::Dimensions one_stop = stops;
    std::fill(one_image.begin(), one_image.begin() + 2, 1);
    std::fill(one_stop.begin(), one_stop.begin() + 2, 1);
    return window_sums(w, w.expand(w.scalar(type, 1), one_image), geometry, one_stop);
}

// ---- averages and norms ------------------------------------------------------------------------------------------

}  // namespace

Value average_of(OperatorWriter& to, const Value& x, const core::Dimensions& sizes) {
    ModelWriter& w = to.w;
    const Geometry geometry = geometry_of(to);
    if (!geometry.is_dilated() || w.opset() >= 19) {
        auto attributes = attributes_of(geometry, geometry.is_dilated());
        attributes.push_back(attribute("count_include_pad", std::int64_t{to.uint("IncludePadding")}));
        return w.node("AveragePool", {x}, x.type, sizes, attributes);
    }
    const Value taken = x.type == onnx_float16 ? w.cast(x, onnx_float32) : x;
    return w.div(window_sums(w, taken, geometry, sizes), divisors(to, geometry, x.sizes, sizes, taken.type));
}

bool has_empty_window(OperatorWriter& to) {
    if (to.uint("IncludePadding") != 0) {
        return false;
    }
    const Geometry geometry = geometry_of(to);
    const core::Dimensions& image = to.sizes("InputTensor");
    const core::Dimensions& stops = to.sizes("OutputTensor");
    for (std::size_t d = 0; d < geometry.sizes.size(); ++d) {
        for (std::int64_t stop = 0; stop < std::int64_t{stops[d + 2]}; ++stop) {
            if (geometry.elements_within(d, stop, 0, image[d + 2]) == 0) {
                return true;
            }
        }
    }
    return false;
}

namespace {

void write_average(OperatorWriter& to) {
    to.out("OutputTensor", average_of(to, to.in("InputTensor"), to.sizes("OutputTensor")));
}

void write_lp(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Geometry geometry = geometry_of(to);
    const std::uint32_t p = to.uint("P");
    if (!geometry.is_dilated() || w.opset() >= 18) {
        const Value x = to.in("InputTensor");
        auto attributes = attributes_of(geometry, geometry.is_dilated());
        attributes.push_back(attribute("p", std::int64_t{p}));
        to.out("OutputTensor", w.node("LpPool", {x}, x.type, to.sizes("OutputTensor"), attributes));
        return;
    }
    const Value magnitude = w.each("Abs", {to.precise("InputTensor")});
    const Value powers = w.each("Pow", {magnitude, w.like(magnitude, p)});
    const Value sums = window_sums(w, powers, geometry, to.sizes("OutputTensor"));
    to.out("OutputTensor", w.each("Pow", {sums, w.like(sums, 1.0 / p)}));
}

// ---- maxima ------------------------------------------------------------------------------------------------------

/// Integers as FLOAT32, which does not hold all that have more than 16 bits. FLOAT64 would, but DirectML's windows do
/// not take it, so that an import computes with FLOAT32.
Value as_float32(ModelWriter& w, const Value& x) {
    if (x.type == onnx_int32 || x.type == onnx_uint32 || x.type == onnx_int64 || x.type == onnx_uint64) {
        w.fail("FLOAT32, which windows of ONNX and of DirectML take, does not hold integers of 32 and 64 bits");
    }
    return w.cast(x, onnx_float32);
}

/// ONNX has maxima of few types.
Value taken_by_max_pool(ModelWriter& w, const Value& x) {
    return takes_type("MaxPool", w.opset(), 0, x.type) ? x : as_float32(w, x);
}

std::vector<Value> max_pool(ModelWriter& w, const Value& x, const Geometry& geometry, const core::Dimensions& sizes,
                            bool with_indices) {
    std::vector<Value> outputs{{"", x.type, sizes}};
    if (with_indices) {
        outputs.push_back({"", onnx_int64, sizes});
    }
    return w.node("MaxPool", {x}, outputs, attributes_of(geometry, true));
}

void write_max(OperatorWriter& to) {
    const Value x = taken_by_max_pool(to.w, to.in("InputTensor"));
    const bool with_indices = to.wants("OutputIndicesTensor");
    const auto made = max_pool(to.w, x, geometry_of(to), to.sizes("OutputTensor"), with_indices);
    to.out("OutputTensor", made[0]);
    if (with_indices) {
        to.out("OutputIndicesTensor", made[1]);
    }
}

/// Indices count the output's elements.
void write_max_unpooling(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value x = to.in("InputTensor");
    const core::Dimensions list{static_cast<std::uint32_t>(x.count())};
    const auto count = static_cast<std::uint32_t>(*core::element_count(to.sizes("OutputTensor")));
    const Value indices = w.cast(w.reshape(to.in("IndicesTensor"), list), onnx_int64);
    const Value zeros = w.expand(w.like(x, 0), {count});
    to.out("OutputTensor", w.node("ScatterElements", {zeros, indices, w.reshape(x, list)}, x.type, {count},
                                  {attribute("axis", std::int64_t{0})}));
}

/// By what the gradients of averages are divided: how many elements of each window count. A window may end behind the
/// padding, where there is nothing to count.
Value counted_elements(OperatorWriter& to, const Geometry& geometry, const core::Dimensions& image,
                       const core::Dimensions& stops) {
    const bool with_padding = to.uint("IncludePadding") != 0;
    Value product;
    for (std::size_t d = 0; d < geometry.sizes.size(); ++d) {
        const std::int64_t first = with_padding ? -geometry.starts[d] : 0;
        const std::int64_t end = std::int64_t{image[d + 2]} + (with_padding ? geometry.ends[d] : 0);
        std::vector<float> counts;
        for (std::int64_t stop = 0; stop < std::int64_t{stops[d + 2]}; ++stop) {
            counts.push_back(static_cast<float>(geometry.elements_within(d, stop, first, end)));
        }
        core::Dimensions sizes(stops.size(), 1);
        sizes[d + 2] = stops[d + 2];
        const Value line = to.w.reals(sizes, counts);
        product = d == 0 ? line : to.w.mul(product, line);
    }
    return product;
}

/// The transposed convolution puts a gradient to all elements of its window.
void write_average_grad(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Geometry geometry = geometry_of(to);
    const Value gradient = to.precise("InputGradientTensor");
    const core::Dimensions& image = to.sizes("OutputGradientTensor");
    Geometry reached = geometry;
    core::Dimensions written = channels_apart(image);
    Numbers behind(2 * image.size(), 0);
    for (std::size_t d = 0; d < geometry.sizes.size(); ++d) {
        const std::int64_t all = (std::int64_t{gradient.sizes[d + 2]} - 1) * geometry.strides[d] +
                                 (geometry.sizes[d] - 1) * geometry.dilations[d] + 1;
        const std::int64_t end = all - geometry.starts[d] - std::int64_t{image[d + 2]};
        reached.ends[d] = std::max<std::int64_t>(end, 0);
        behind[image.size() + d + 2] = std::max<std::int64_t>(-end, 0);
        written[d + 2] -= static_cast<std::uint32_t>(behind[image.size() + d + 2]);
    }
    const Value shares = w.div(gradient, counted_elements(to, geometry, image, gradient.sizes));
    const Value sums =
        w.node("ConvTranspose", {w.reshape(shares, channels_apart(shares.sizes)), ones(w, geometry, shares.type)},
               shares.type, written, attributes_of(reached, true));
    to.out("OutputGradientTensor", w.pad(sums, behind, w.like(sums, 0)));
}

// ---- regions -----------------------------------------------------------------------------------------------------

/// Sums over the region around each element: neighbouring channels, or a square. Of an even size there is one more
/// behind than in front; mirrored, the other way round.
Value region_sums(OperatorWriter& to, const Value& x, bool mirrored) {
    const std::int64_t size = to.uint("LocalSize");
    const std::int64_t fewer = (size - 1) / 2;
    const std::int64_t front = mirrored ? size - 1 - fewer : fewer;
    const std::int64_t behind = size - 1 - front;
    core::Dimensions seen = x.sizes;
    std::vector<bool> slides{true, true};
    if (to.uint("CrossChannel") != 0) {
        std::uint32_t rest = 1;
        for (std::size_t d = 2; d < x.rank(); ++d) {
            rest *= x.sizes[d];
        }
        seen = {x.sizes[0], 1, x.sizes[1], rest};
        slides = {true, false};
    }
    Geometry geometry;
    for (std::size_t d = 0; d + 2 < seen.size(); ++d) {
        const bool here = d >= slides.size() || slides[d];
        // What is beyond the image from everywhere in it adds nothing.
        const std::int64_t most = std::int64_t{seen[d + 2]} - 1;
        geometry.starts.push_back(here ? std::min(front, most) : 0);
        geometry.ends.push_back(here ? std::min(behind, most) : 0);
        geometry.sizes.push_back(geometry.starts.back() + 1 + geometry.ends.back());
        geometry.strides.push_back(1);
        geometry.dilations.push_back(1);
    }
    return to.w.reshape(window_sums(to.w, to.w.reshape(x, seen), geometry, seen), x.sizes);
}

/// Bias + Alpha / LocalSize * sum of squares
Value response_base(OperatorWriter& to, const Value& x) {
    ModelWriter& w = to.w;
    const double factor = double{to.number("Alpha")} / to.uint("LocalSize");
    const Value squares = region_sums(to, w.mul(x, x), false);
    return w.add(w.mul(squares, w.like(x, factor)), w.like(x, double{to.number("Bias")}));
}

void write_response(OperatorWriter& to) {
    ModelWriter& w = to.w;
    if (to.uint("CrossChannel") != 0) {
        const Value x = to.in("InputTensor");
        to.out("OutputTensor",
               w.node("LRN", {x}, x.type, x.sizes,
                      {attribute("alpha", to.number("Alpha")), attribute("beta", to.number("Beta")),
                       attribute("bias", to.number("Bias")), attribute("size", std::int64_t{to.uint("LocalSize")})}));
        return;
    }
    const Value x = to.precise("InputTensor");
    to.out("OutputTensor", w.div(x, w.each("Pow", {response_base(to, x), w.like(x, double{to.number("Beta")})})));
}

void write_response_grad(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value x = to.precise("InputTensor");
    const Value gradient = to.precise("InputGradientTensor");
    const double beta = to.number("Beta");
    const Value base = response_base(to, x);
    const auto over_power = [&](const Value& value, double exponent) {
        return w.div(value, w.each("Pow", {base, w.like(x, exponent)}));
    };
    const Value terms = region_sums(to, over_power(w.mul(gradient, x), beta + 1), true);
    const double factor = 2.0 * double{to.number("Alpha")} * beta / to.uint("LocalSize");
    to.out("OutputGradientTensor", w.sub(over_power(gradient, beta), w.mul(w.mul(x, w.like(x, factor)), terms)));
}

// ---- blocks of an image ------------------------------------------------------------------------------------------

/// A filter for each element of a window, which is 1 there and 0 elsewhere. Absent where they would be too large.
Value unit_filters(OperatorWriter& to, const Geometry& geometry, int type) {
    const std::int64_t count = geometry.count();
    constexpr std::int64_t largest_window = 512;
    if (count > largest_window) {
        to.fail("the windows are too large to be filters of a convolution");
        return {"c", type, {}};
    }
    core::Dimensions sizes{static_cast<std::uint32_t>(count), 1};
    sizes.insert(sizes.end(), geometry.sizes.begin(), geometry.sizes.end());
    const auto column = to.w.integers({static_cast<std::uint32_t>(count), 1}, counted(static_cast<std::size_t>(count)));
    const auto row = to.w.integers({1, static_cast<std::uint32_t>(count)}, counted(static_cast<std::size_t>(count)));
    return to.w.reshape(to.w.cast(to.w.test("Equal", {column, row}), type), sizes);
}

/// Converts to real numbers, the only ones that ONNX's convolutions take.
Value as_real(OperatorWriter& to, const Value& x) {
    return is_real(x.type) ? x : as_float32(to.w, x);
}

/// The number of windows along each spatial dimension of an image.
core::Dimensions stops_in(const Geometry& geometry, const core::Dimensions& image) {
    core::Dimensions stops;
    for (std::size_t d = 0; d < geometry.sizes.size(); ++d) {
        const std::int64_t reach = (geometry.sizes[d] - 1) * geometry.dilations[d] + 1;
        const std::int64_t padded = std::int64_t{image[d + 2]} + geometry.starts[d] + geometry.ends[d];
        stops.push_back(static_cast<std::uint32_t>((padded - reach) / geometry.strides[d] + 1));
    }
    return stops;
}

void write_unfold(OperatorWriter& to) {
    const Geometry geometry = geometry_of(to, "WindowSizes");
    const Value x = as_real(to, to.in("InputTensor"));
    const Value filters = unit_filters(to, geometry, x.type);
    core::Dimensions sizes{x.sizes[0] * x.sizes[1], static_cast<std::uint32_t>(geometry.count())};
    const core::Dimensions stops = stops_in(geometry, x.sizes);
    sizes.insert(sizes.end(), stops.begin(), stops.end());
    to.out("OutputTensor", to.w.node("Conv", {to.w.reshape(x, channels_apart(x.sizes)), filters}, x.type, sizes,
                                     attributes_of(geometry, true)));
}

void write_fold(OperatorWriter& to) {
    const Geometry geometry = geometry_of(to, "WindowSizes");
    const Value x = as_real(to, to.in("InputTensor"));
    const core::Dimensions& image = to.sizes("OutputTensor");
    const Value filters = unit_filters(to, geometry, x.type);
    const core::Dimensions stops = stops_in(geometry, image);
    core::Dimensions sizes{image[0] * image[1], static_cast<std::uint32_t>(geometry.count())};
    sizes.insert(sizes.end(), stops.begin(), stops.end());
    Geometry reached = geometry;
    Numbers cut;
    for (std::size_t d = 0; d < stops.size(); ++d) {
        const std::int64_t written =
            (std::int64_t{stops[d]} - 1) * geometry.strides[d] + (geometry.sizes[d] - 1) * geometry.dilations[d] + 1;
        const std::int64_t end = written - geometry.starts[d] - std::int64_t{image[d + 2]};
        reached.ends[d] = std::max<std::int64_t>(end, 0);
        cut.push_back(std::max<std::int64_t>(-end, 0));
    }
    auto attributes = attributes_of(reached, true);
    attributes.push_back(attribute("output_padding", cut));
    const Value sums =
        to.w.node("ConvTranspose", {to.w.reshape(x, sizes), filters}, x.type, channels_apart(image), attributes);
    const int type = to.type("OutputTensor");
    to.out("OutputTensor", is_real(type) ? sums : within_range(to.w, sums, type));
}

/// Rows of ONNX's regions have the batch first, as DirectML's.
void write_roi_pooling(OperatorWriter& to) {
    const Value x = to.in("InputTensor");
    const core::Dimensions& sizes = to.sizes("OutputTensor");
    const core::Dimensions& regions = to.sizes("ROITensor");
    const Value rows = to.w.reshape(to.in("ROITensor"), {regions[2], regions[3]});
    const auto& pooled = to.desc.get<operators::Size2D>("PooledSize");
    to.out("OutputTensor", to.w.node("MaxRoiPool", {x, rows}, x.type, sizes,
                                     {attribute("pooled_shape", Numbers{pooled.height, pooled.width}),
                                      attribute("spatial_scale", to.number("SpatialScale"))}));
}

constexpr std::array<OperatorExport, 15> window_rows{{
    {"AVERAGE_POOLING", write_average},
    {"AVERAGE_POOLING1", write_average},
    {"AVERAGE_POOLING_GRAD", write_average_grad},
    {"LP_POOLING", write_lp},
    {"LP_POOLING1", write_lp},
    {"MAX_POOLING", write_max},
    {"MAX_POOLING1", write_max},
    {"MAX_POOLING2", write_max},
    {"MAX_POOLING_GRAD", nullptr, nullptr,
     "would be ScatterElements with a sum, which is imported again for up to 256 updates only: not proven"},
    {"MAX_UNPOOLING", write_max_unpooling},
    {"LOCAL_RESPONSE_NORMALIZATION", write_response},
    {"LOCAL_RESPONSE_NORMALIZATION_GRAD", write_response_grad},
    {"FOLD", write_fold},
    {"UNFOLD", write_unfold},
    {"ROI_POOLING", write_roi_pooling},
}};

}  // namespace

std::span<const OperatorExport> window_exports() {
    return window_rows;
}

}  // namespace dmlconform::interop::exporting
