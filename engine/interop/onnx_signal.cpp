// Expands Fourier transforms to products with a matrix of sines and cosines.
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/interop/onnx_expansion_steps.h"

namespace dmlconform::interop::expansion {
namespace {

/// Larger matrices would be larger than what a model usually is.
constexpr std::int64_t most_transform_entries = std::int64_t{1} << 22;

/// A transform along one axis.
struct Transform {
    /// The samples of the data, with 1 component if they are real or 2 if they are complex.
    std::int64_t samples = 0;
    std::int64_t components = 1;
    /// The transform's length, which may be longer or shorter than the data.
    std::int64_t length = 0;
    bool inverse = false;
    bool onesided = false;

    [[nodiscard]] std::int64_t frequencies() const { return onesided ? length / 2 + 1 : length; }
};

/// The matrix [samples * components, frequencies * 2] of the transform of rows of samples.
core::Result<onnx::TensorProto> transform_matrix(const Transform& transform) {
    const std::int64_t rows = transform.samples * transform.components;
    const std::int64_t columns = transform.frequencies() * 2;
    if (transform.length < 1 || rows < 1 || columns > most_transform_entries / rows) {
        return core::fail("the transform is empty, or too long for a matrix");
    }
    onnx::TensorProto matrix;
    matrix.data_type.set(onnx_float);
    matrix.dims.add(rows);
    matrix.dims.add(columns);
    const double scale = transform.inverse ? 1.0 / static_cast<double>(transform.length) : 1.0;
    const double direction = transform.inverse ? 1 : -1;
    for (std::int64_t sample = 0; sample < transform.samples; ++sample) {
        for (std::int64_t component = 0; component < transform.components; ++component) {
            for (std::int64_t frequency = 0; frequency < transform.frequencies(); ++frequency) {
                // Samples beyond the length do not count. The product is reduced so that the angle stays exact.
                const auto turn = static_cast<double>(sample * frequency % transform.length);
                const double angle = direction * 2 * std::numbers::pi * turn / static_cast<double>(transform.length);
                const double used = sample < transform.length ? scale : 0;
                const double real = component == 0 ? std::cos(angle) : -std::sin(angle);
                const double imaginary = component == 0 ? std::sin(angle) : std::cos(angle);
                matrix.float_data.add(static_cast<float>(used * real));
                matrix.float_data.add(static_cast<float>(used * imaginary));
            }
        }
    }
    return matrix;
}

/// The number of an input; `unknown` if it is known only when the model runs.
constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();

std::int64_t known_number(const Expansion& to, int index) {
    const OnnxTensor* tensor = to.known(index);
    return tensor == nullptr || tensor->count() != 1 || !tensor->has_elements() ? unknown : tensor->integer(0);
}

/// A permutation that moves dimension `axis` behind all others except the last, and its inverse.
std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>> moved_axis(std::size_t rank, std::size_t axis) {
    std::vector<std::int64_t> order;
    for (std::size_t d = 0; d + 1 < rank; ++d) {
        if (d != axis) {
            order.push_back(static_cast<std::int64_t>(d));
        }
    }
    order.push_back(static_cast<std::int64_t>(axis));
    order.push_back(static_cast<std::int64_t>(rank - 1));
    std::vector<std::int64_t> back(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
    }
    return {order, back};
}

}  // namespace

Nodes expand_fourier_transform(Expansion& to) {
    const OnnxTensor* data = to.known(0);
    const bool axis_is_input = to.opset() >= 20;
    const std::int64_t axis_number = !axis_is_input        ? to.integer_of("axis", 1)
                                     : to.input(2).empty() ? -2
                                                           : known_number(to, 2);
    if (data == nullptr || data->type != core::DataType::float32 || data->sizes.size() < 2 || axis_number == unknown) {
        return core::fail("DFT is mapped for FLOAT32 along a known axis");
    }
    const std::size_t rank = data->sizes.size();
    const auto axis = axis_of(axis_number, rank);
    Transform transform;
    transform.components = data->sizes.back();
    transform.inverse = to.integer_of("inverse", 0) != 0;
    transform.onesided = to.integer_of("onesided", 0) != 0;
    if (!axis || *axis + 1 >= rank || transform.components < 1 || transform.components > 2) {
        return core::fail("DFT has no such axis, or its last dimension is not one of real or complex numbers");
    }
    transform.samples = data->sizes[*axis];
    transform.length = to.input(1).empty() ? transform.samples : known_number(to, 1);
    if (transform.length < 1 || transform.length > most_transform_entries) {
        return core::fail("the length of the DFT is known only when the model runs, or is too large");
    }
    const auto matrix = transform_matrix(transform);
    if (!matrix) {
        return tl::unexpected(matrix.error());
    }
    const auto [order, back] = moved_axis(rank, *axis);
    const std::string moved = to.add("Transpose", {to.input(0)}, "", {integers("perm", order)});
    const std::string rows =
        to.add("Reshape", {moved, to.whole_numbers({-1, transform.samples * transform.components})});
    const std::string product = to.add("MatMul", {rows, to.add("Constant", {}, "", {value(*matrix)})});
    std::vector<std::int64_t> shape;
    for (std::size_t d = 0; d + 2 < rank; ++d) {
        shape.push_back(data->sizes[static_cast<std::size_t>(order[d])]);
    }
    shape.push_back(transform.frequencies());
    shape.push_back(2);
    const std::string spectrum = to.add("Reshape", {product, to.whole_numbers(shape)});
    to.add("Transpose", {spectrum}, to.output(0), {integers("perm", back)});
    return to.take();
}

Nodes expand_short_time_transform(Expansion& to) {
    const OnnxTensor* signal = to.known(0);
    const OnnxTensor* window = to.input(2).empty() ? nullptr : to.known(2);
    const std::int64_t step = known_number(to, 1);
    const std::int64_t length = !to.input(3).empty() ? known_number(to, 3)
                                : window != nullptr  ? static_cast<std::int64_t>(window->count())
                                                     : 0;
    if (signal == nullptr || signal->type != core::DataType::float32 || signal->sizes.size() != 3 || step < 1 ||
        length < 1 || length > std::int64_t{signal->sizes[1]}) {
        return core::fail("STFT is mapped for FLOAT32 of three dimensions, with a known step and length of frames");
    }
    Transform transform;
    transform.samples = transform.length = length;
    transform.components = signal->sizes[2];
    transform.onesided = to.integer_of("onesided", 1) != 0;
    if (transform.components < 1 || transform.components > 2) {
        return core::fail("the signal of STFT is neither real nor complex");
    }
    const std::int64_t frames = (signal->sizes[1] - transform.length) / step + 1;
    const auto matrix = transform_matrix(transform);
    if (!matrix || frames > most_transform_entries / transform.length) {
        return core::fail(matrix ? "STFT has too many frames" : matrix.error().message);
    }
    onnx::TensorProto positions;
    positions.data_type.set(onnx_int64);
    positions.dims.add(frames);
    positions.dims.add(transform.length);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
        for (std::int64_t sample = 0; sample < transform.length; ++sample) {
            positions.int64_data.add(frame * step + sample);
        }
    }
    std::string framed =
        to.add("Gather", {to.input(0), to.add("Constant", {}, "", {value(positions)})}, "", {integer("axis", 1)});
    if (!to.input(2).empty()) {
        framed = to.add("Mul", {framed, to.add("Unsqueeze", {to.input(2), to.whole_number(1)})});
    }
    const std::string rows =
        to.add("Reshape", {framed, to.whole_numbers({-1, transform.samples * transform.components})});
    const std::string product = to.add("MatMul", {rows, to.add("Constant", {}, "", {value(*matrix)})});
    to.add("Reshape", {product, to.whole_numbers({std::int64_t{signal->sizes[0]}, frames, transform.frequencies(), 2})},
           to.output(0));
    return to.take();
}

}  // namespace dmlconform::interop::expansion
