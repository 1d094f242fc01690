// Resize, Upsample, RoiAlign and MaxRoiPool.
#include <algorithm>

#include "engine/core/element.h"
#include "engine/interop/onnx_mapping.h"

namespace dmlconform::interop {
namespace {

using nlohmann::ordered_json;
using Mapped = core::Result<ordered_json>;

std::vector<double> values_of(const OnnxTensor& tensor) {
    std::vector<double> values;
    for (std::size_t i = 0; i < tensor.count(); ++i) {
        values.push_back(core::decode_element(tensor.type, core::load_element(tensor.elements, tensor.type, i)));
    }
    return values;
}

// ---- Resize and Upsample -----------------------------------------------------------------------------------------

/// How a dimension is resampled, in DirectML's terms: (output - output offset) / scale - input offset.
struct Dimension {
    std::uint32_t in = 1;
    std::uint32_t out = 1;
    double scale = 1;
    double input_offset = 0;
    double output_offset = 0;
    /// Exact positions are multiples of this; 0 if that is not known.
    double step = 0;

    [[nodiscard]] bool is_kept() const { return in == out && scale == 1; }
    /// ONNX's tests use the unrounded size, input size times scale, as length_resized.
    [[nodiscard]] double resized() const { return scale * static_cast<double>(in); }
};

using Dimensions = std::vector<Dimension>;

/// Upsample, and Resize before opset 11: the second input has the scales, and there is no coordinate mode.
bool is_old(const OnnxNode& node) {
    return node.type == "Upsample" || node.opset < 11;
}

/// The entries of an input that has one, or `count`, for each of the node's axes.
core::Result<std::vector<std::vector<double>>> by_dimension(const OnnxNode& node, const OnnxTensor& tensor,
                                                            std::size_t count, double otherwise) {
    const std::size_t rank = node.input(0)->sizes.size();
    std::vector<std::int64_t> axes = node.integers("axes");
    if (axes.empty()) {
        for (std::size_t d = 0; d < rank; ++d) {
            axes.push_back(static_cast<std::int64_t>(d));
        }
    }
    const std::vector<double> values = values_of(tensor);
    if (values.size() != count * axes.size()) {
        return core::fail(node.type + " must have one scale, size or region for each axis");
    }
    std::vector<std::vector<double>> result(count, std::vector<double>(rank, otherwise));
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const auto axis = axis_of(axes[i], rank);
        if (!axis) {
            return core::fail(node.type + " has an axis that its input has not");
        }
        for (std::size_t part = 0; part < count; ++part) {
            result[part][*axis] = values[part * axes.size() + i];
        }
    }
    return result;
}

/// The scales that the node gives, or that follow from its sizes.
core::Result<void> set_scales(const OnnxNode& node, Dimensions& dimensions) {
    // Upsample once had them as an attribute.
    const OnnxTensor* const scales = node.input(is_old(node) ? 1 : 2);
    if (const auto* given = node.attribute("scales"); given != nullptr && scales == nullptr) {
        if (static_cast<std::size_t>(given->floats.size()) != dimensions.size()) {
            return core::fail(node.type + " has not one scale for each dimension");
        }
        for (int d = 0; d < given->floats.size(); ++d) {
            dimensions[static_cast<std::size_t>(d)].scale = double{given->floats(d)};
        }
        return {};
    }
    if (scales != nullptr) {
        const auto numbers = by_dimension(node, *scales, 1, 1);
        if (!numbers) {
            return tl::unexpected(numbers.error());
        }
        for (std::size_t d = 0; d < dimensions.size(); ++d) {
            dimensions[d].scale = numbers->front()[d];
        }
        return {};
    }
    if (node.keeps_aspect_ratio()) {
        return core::fail("scales follow from sizes and keep_aspect_ratio_policy");
    }
    for (Dimension& dimension : dimensions) {
        dimension.scale = static_cast<double>(dimension.out) / static_cast<double>(dimension.in);
        dimension.step = 0.5 / dimension.out;
    }
    return {};
}

/// The region from start to end, relative to the input's size.
core::Result<void> set_region(const OnnxNode& node, Dimensions& dimensions) {
    const OnnxTensor* const region = node.input(1);
    if (region == nullptr) {
        return core::fail("tf_crop_and_resize has no region");
    }
    auto ends = by_dimension(node, *region, 2, 0);
    if (!ends) {
        return tl::unexpected(ends.error());
    }
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        Dimension& dimension = dimensions[d];
        const double start = (*ends)[0][d];
        const double end = (*ends)[1][d];
        // A dimension that the node does not list is kept.
        if (dimension.is_kept()) {
            continue;
        }
        if (!(start >= 0 && start < end && end <= 1) || dimension.resized() <= 1 || dimension.in < 2) {
            return core::fail("DirectML has no extrapolation_value, no empty regions, and none of one element");
        }
        const double length = static_cast<double>(dimension.in - 1);
        dimension.scale = (dimension.resized() - 1) / ((end - start) * length);
        dimension.step = 0;
        dimension.input_offset = -start * length;
    }
    return {};
}

/// The offsets of a coordinate_transformation_mode, by the formulas of ONNX's Resize.
core::Result<void> set_offsets(const std::string& mode, Dimension& dimension) {
    const auto centres = [&](double input_offset) {
        dimension.input_offset = input_offset;
        dimension.output_offset = -0.5;
    };
    if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && dimension.out > 1)) {
        centres(0.5);
    } else if (mode == "half_pixel_symmetric") {
        const double adjustment = static_cast<double>(dimension.out) / dimension.resized();
        centres(0.5 - static_cast<double>(dimension.in) / 2 * (1 - adjustment));
    } else if (mode == "tf_half_pixel_for_nn") {
        // ONNX Runtime leaves dimensions alone that are not resized.
        if (!dimension.is_kept()) {
            centres(0);
        }
    } else if (mode == "align_corners") {
        // A single element is at position 0, whatever the scale.
        const double resized = dimension.resized();
        const bool single = dimension.in < 2 || resized <= 1;
        dimension.scale = single ? 1 : (resized - 1) / static_cast<double>(dimension.in - 1);
        const bool is_whole = static_cast<float>(resized) == static_cast<float>(dimension.out);
        dimension.step = single || !is_whole ? 0 : 0.5 / (resized - 1);
    } else if (mode != "asymmetric" && mode != "pytorch_half_pixel") {
        return core::fail("DirectML has no coordinate_transformation_mode \"" + mode + "\"");
    }
    return {};
}

/// The addition to the input offset after which rounding up or down gives the nearest element, and the direction.
struct Rounding {
    double offset = 0;
    bool up = false;
};

/// Upsample and the first Resize, which have no nearest_mode, round down.
core::Result<Rounding> rounding_of(const OnnxNode& node) {
    const std::string mode = is_old(node) ? "floor" : node.text("nearest_mode", "round_prefer_floor");
    if (mode == "round_prefer_floor") {
        return Rounding{0.5, true};
    }
    if (mode == "round_prefer_ceil") {
        return Rounding{-0.5, false};
    }
    if (mode == "floor" || mode == "ceil") {
        return Rounding{0, mode == "ceil"};
    }
    return core::fail("DirectML has no nearest_mode \"" + mode + "\"");
}

/// Moves all positions, so that those which are exactly an element, or halfway between two, are rounded as they should
/// be although the scale is rounded. The others are further away from where rounding changes.
double shift_of(const Dimension& dimension, const Rounding& rounding) {
    const bool is_rounded = static_cast<double>(static_cast<float>(dimension.scale)) != dimension.scale;
    return !is_rounded ? 0 : rounding.up ? dimension.step / 2 : -dimension.step / 2;
}

core::Result<Dimensions> dimensions_of(const OnnxNode& node) {
    const OnnxTensor* const input = node.input(0);
    const core::Dimensions& out = node.output(0)->sizes;
    if (input == nullptr || input->sizes.size() != out.size()) {
        return core::fail(node.type + " has an input with another number of dimensions than its output");
    }
    Dimensions dimensions;
    for (std::size_t d = 0; d < out.size(); ++d) {
        dimensions.push_back({.in = input->sizes[d], .out = out[d]});
    }
    if (auto scales = set_scales(node, dimensions); !scales) {
        return tl::unexpected(scales.error());
    }
    const std::string mode = is_old(node) ? "asymmetric" : node.text("coordinate_transformation_mode", "half_pixel");
    if (mode == "tf_crop_and_resize") {
        if (auto region = set_region(node, dimensions); !region) {
            return tl::unexpected(region.error());
        }
        return dimensions;
    }
    for (Dimension& dimension : dimensions) {
        if (auto offsets = set_offsets(mode, dimension); !offsets) {
            return tl::unexpected(offsets.error());
        }
    }
    return dimensions;
}

/// DirectML has at most four dimensions, so dimensions that keep size 1 are removed.
core::Result<Dimensions> squeezed(Dimensions dimensions) {
    for (std::size_t d = 0; d < dimensions.size() && dimensions.size() > 4;) {
        if (dimensions[d].in == 1 && dimensions[d].out == 1) {
            dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(d));
        } else {
            ++d;
        }
    }
    if (dimensions.size() > 4) {
        return core::fail("DirectML resamples four dimensions at most");
    }
    return dimensions;
}

/// ONNX widens the filter for every scale below 1, DirectML for those below 0.5.
std::string difference_of_antialiasing(const OnnxNode& node, const Dimensions& dimensions) {
    if (node.integer("exclude_outside", 0) != 0) {
        return "DirectML has no exclude_outside";
    }
    const bool differs = std::any_of(dimensions.begin(), dimensions.end(), [](const Dimension& dimension) {
        return dimension.scale >= 0.5 && dimension.scale < 1;
    });
    return differs ? "DirectML antialiases scales below 0.5 only" : "";
}

/// A list with an entry for each dimension.
template <class Entry>
ordered_json list_of(const Dimensions& dimensions, const Entry& entry) {
    ordered_json list = ordered_json::array();
    for (const Dimension& dimension : dimensions) {
        list.push_back(static_cast<float>(entry(dimension)));
    }
    return list;
}

Mapped map_resize(const OnnxNode& node) {
    auto all = dimensions_of(node);
    if (!all) {
        return tl::unexpected(all.error());
    }
    const auto dimensions = squeezed(std::move(*all));
    if (!dimensions) {
        return tl::unexpected(dimensions.error());
    }
    const std::string mode = node.text("mode", "nearest");
    const bool is_linear = mode == "linear" || mode == "bilinear";
    if (!is_linear && mode != "nearest") {
        return core::fail("DirectML has no mode \"" + mode + "\"");
    }
    const bool antialiased = is_linear && node.integer("antialias", 0) != 0;
    if (antialiased) {
        if (std::string difference = difference_of_antialiasing(node, *dimensions); !difference.empty()) {
            return core::fail(std::move(difference));
        }
    }
    const auto rounding = is_linear ? core::Result<Rounding>(Rounding{}) : rounding_of(node);
    if (!rounding) {
        return tl::unexpected(rounding.error());
    }
    core::Dimensions in;
    core::Dimensions out;
    for (const Dimension& dimension : *dimensions) {
        in.push_back(dimension.in);
        out.push_back(dimension.out);
    }
    OnnxCase result(antialiased ? "RESAMPLE3" : "RESAMPLE2");
    result.input("InputTensor", *node.input(0), in)
        .output("OutputTensor", *node.output(0), out)
        .set("InterpolationMode", is_linear ? "LINEAR" : "NEAREST_NEIGHBOR")
        .set("RoundingDirection", rounding->up ? "INCREASING" : "DECREASING")
        .set("Scales", list_of(*dimensions, [](const Dimension& d) { return d.scale; }))
        .set("InputPixelOffsets", list_of(*dimensions,
                                          [&](const Dimension& d) {
                                              return d.input_offset + rounding->offset +
                                                     (is_linear ? 0 : shift_of(d, *rounding));
                                          }))
        .set("OutputPixelOffsets", list_of(*dimensions, [](const Dimension& d) { return d.output_offset; }));
    if (antialiased) {
        result.set("Antialiased", true);
    }
    return result.take();
}

// ---- regions of interest -----------------------------------------------------------------------------------------

/// Before opset 16, and with output_half_pixel, a region is at least one element wide and high. Unknown regions may be
/// smaller.
bool has_small_regions(const OnnxTensor& regions, double scale) {
    if (!regions.has_elements()) {
        return true;
    }
    const std::vector<double> corners = values_of(regions);
    for (std::size_t i = 0; i + 3 < corners.size(); i += 4) {
        if ((corners[i + 2] - corners[i]) * scale < 1 || (corners[i + 3] - corners[i + 1]) * scale < 1) {
            return true;
        }
    }
    return false;
}

Mapped map_roi_align(const OnnxNode& node) {
    const OnnxTensor* const regions = node.input(1);
    const OnnxTensor* const batches = node.input(2);
    if (node.input(0) == nullptr || regions == nullptr || batches == nullptr ||
        batches->type != core::DataType::int64) {
        return core::fail("RoiAlign has no data, no regions, or no batch indices");
    }
    if (node.text("mode", "avg") != "avg") {
        return core::fail("ONNX's maximum is that of weighted elements, DirectML's that of interpolated samples");
    }
    const std::string mode =
        node.text("coordinate_transformation_mode", node.opset < 16 ? "output_half_pixel" : "half_pixel");
    const float scale = node.number("spatial_scale", 1);
    if (mode == "output_half_pixel" && has_small_regions(*regions, double{scale})) {
        return core::fail("ONNX widens regions of less than one element, and DirectML does not");
    }
    // DirectML's indices are unsigned; ONNX's are never negative here.
    OnnxTensor unsigned_batches = *batches;
    unsigned_batches.type = core::DataType::uint64;
    const std::int64_t samples = node.integer("sampling_ratio", 0);
    return OnnxCase("ROI_ALIGN1")
        .input("InputTensor", *node.input(0))
        .input("ROITensor", *regions)
        .input("BatchIndicesTensor", unsigned_batches)
        .output("OutputTensor", *node.output(0))
        .set("ReductionFunction", "AVERAGE")
        .set("InterpolationMode", "LINEAR")
        .set("SpatialScaleX", scale)
        .set("SpatialScaleY", scale)
        .set("InputPixelOffset", mode == "half_pixel" ? 0.5 : 0.0)
        .set("OutputPixelOffset", -0.5)
        .set("OutOfBoundsInputValue", 0)
        .set("MinimumSamplesPerOutput", samples > 0 ? samples : 1)
        // As many samples as a region has elements per output.
        .set("MaximumSamplesPerOutput", samples > 0 ? samples : 0xffffffff)
        .set("AlignRegionsToCorners", false)
        .take();
}

Mapped map_max_roi_pool(const OnnxNode& node) {
    const OnnxTensor* const regions = node.input(1);
    const std::vector<std::int64_t> pooled = node.integers("pooled_shape");
    if (node.input(0) == nullptr || regions == nullptr || regions->sizes.size() != 2 || pooled.size() != 2) {
        return core::fail("MaxRoiPool has no data, no list of regions, or no pooled_shape");
    }
    return OnnxCase("ROI_POOLING")
        .input("InputTensor", *node.input(0))
        .input("ROITensor", *regions, {1, 1, regions->sizes[0], regions->sizes[1]})
        .output("OutputTensor", *node.output(0))
        .set("SpatialScale", node.number("spatial_scale", 1))
        .set("PooledSize", {{"Width", pooled[1]}, {"Height", pooled[0]}})
        .take();
}

}  // namespace

std::span<const OnnxMapping> resampling_mappings() {
    static constexpr OnnxMapping mappings[] = {
        {"Resize", map_resize, "RESAMPLE2, RESAMPLE3",
         "cubic interpolation: GEMM with a matrix of weights for each dimension"},
        {"Upsample", map_resize, "RESAMPLE2"},
        {"RoiAlign", map_roi_align, "ROI_ALIGN1"},
        {"MaxRoiPool", map_max_roi_pool, "ROI_POOLING"},
    };
    return mappings;
}

}  // namespace dmlconform::interop
