// Resize with cubic interpolation, which DirectML lacks: a product with a weight matrix along each dimension.
#include <cmath>

#include "engine/core/element.h"
#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// How one dimension is resampled.
struct Axis {
    std::int64_t in = 1;
    std::int64_t out = 1;
    double scale = 1;
};

std::vector<double> numbers_in(const OnnxTensor* tensor) {
    std::vector<double> numbers;
    for (std::size_t i = 0; tensor != nullptr && tensor->has_elements() && i < tensor->count(); ++i) {
        numbers.push_back(core::decode_element(tensor->type, core::load_element(tensor->elements, tensor->type, i)));
    }
    return numbers;
}

/// The input position of an output element, by the formulas of ONNX's Resize.
core::Result<double> coordinate(const std::string& mode, const Axis& axis, std::int64_t at) {
    const auto x = static_cast<double>(at);
    if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && axis.out > 1)) {
        return (x + 0.5) / axis.scale - 0.5;
    }
    if (mode == "pytorch_half_pixel") {
        return 0.0;
    }
    if (mode == "asymmetric") {
        return x / axis.scale;
    }
    if (mode == "align_corners") {
        const double length = axis.scale * static_cast<double>(axis.in);
        return axis.out == 1 ? 0.0 : x * static_cast<double>(axis.in - 1) / (length - 1);
    }
    return core::fail("cubic interpolation with coordinate_transformation_mode \"" + mode + "\" is not mapped");
}

/// The weight of an element at this distance.
double cubic(double distance, double a) {
    const double x = std::abs(distance);
    if (x <= 1) {
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    }
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// One row for each element of the output.
core::Result<onnx::TensorProto> weights_of(const Expansion& to, const Axis& axis) {
    const std::string mode = to.text_of("coordinate_transformation_mode", "half_pixel");
    const double a = to.number_of("cubic_coeff_a", -0.75F);
    const bool exclude = to.integer_of("exclude_outside", 0) != 0;
    std::vector<double> weights(static_cast<std::size_t>(axis.in * axis.out));
    for (std::int64_t row = 0; row < axis.out; ++row) {
        const auto x = coordinate(mode, axis, row);
        if (!x) {
            return tl::unexpected(x.error());
        }
        const auto first = static_cast<std::int64_t>(std::floor(*x)) - 1;
        double sum = 0;
        for (std::int64_t i = first; i < first + 4; ++i) {
            const bool outside = i < 0 || i >= axis.in;
            const double weight = exclude && outside ? 0 : cubic(static_cast<double>(i) - *x, a);
            weights[static_cast<std::size_t>(row * axis.in + std::clamp<std::int64_t>(i, 0, axis.in - 1))] += weight;
            sum += weight;
        }
        for (std::int64_t i = 0; exclude && i < axis.in; ++i) {
            weights[static_cast<std::size_t>(row * axis.in + i)] /= sum;
        }
    }
    onnx::TensorProto matrix;
    matrix.data_type.set(onnx_float);
    matrix.dims.add(axis.out);
    matrix.dims.add(axis.in);
    for (const double weight : weights) {
        matrix.float_data.add(static_cast<float>(weight));
    }
    return matrix;
}

core::Result<std::vector<Axis>> axes_of(const Expansion& to, const OnnxTensor& data) {
    const std::vector<double> scales = numbers_in(to.known(2));
    const std::vector<double> sizes = numbers_in(to.known(3));
    if (to.attribute("axes") != nullptr || to.attribute("keep_aspect_ratio_policy") != nullptr ||
        (scales.empty() ? sizes : scales).size() != data.sizes.size()) {
        return core::fail("cubic interpolation is mapped with a known scale or size for each dimension");
    }
    std::vector<Axis> axes;
    constexpr double largest = 1 << 20;
    for (std::size_t d = 0; d < data.sizes.size(); ++d) {
        const double in = data.sizes[d];
        const double out = scales.empty() ? sizes[d] : std::floor(in * scales[d]);
        if (!(out >= 1 && out <= largest && in * out <= 0x1p26)) {
            return core::fail("cubic interpolation to a size that is not one, or too large");
        }
        axes.push_back(
            {static_cast<std::int64_t>(in), static_cast<std::int64_t>(out), scales.empty() ? out / in : scales[d]});
    }
    return axes;
}

}  // namespace

Nodes expand_resize(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    if (to.node().op_type() != "Resize" || to.text_of("mode", "") != "cubic" || data == nullptr) {
        return unchanged(to);
    }
    if (to.integer_of("antialias", 0) != 0 || to.opset() < 11 || data->sizes.size() != 4) {
        return core::fail("cubic interpolation is mapped without antialiasing, of four dimensions");
    }
    const auto axes = axes_of(to, *data);
    if (!axes) {
        return tl::unexpected(axes.error());
    }
    const auto kept = [](const Axis& axis) { return axis.in == axis.out && axis.scale == 1; };
    if (!kept((*axes)[0]) || !kept((*axes)[1])) {
        return core::fail("cubic interpolation of batches or channels is not mapped");
    }
    std::vector<std::string> matrices;
    for (std::size_t d = 2; d < 4; ++d) {
        const auto weights = weights_of(to, (*axes)[d]);
        if (!weights) {
            return tl::unexpected(weights.error());
        }
        matrices.push_back(to.add("CastLike", {to.add("Constant", {}, "", {value(*weights)}), to.input(0)}));
    }
    const std::string columns = to.add("Transpose", {matrices[1]});
    to.add("MatMul", {matrices[0], to.add("MatMul", {to.input(0), columns})}, to.output(0));
    return to.take();
}

}  // namespace dmlconform::interop::expansion
