// Products of quantised numbers: exact integer sums that wrap or are requantised, and sums of dequantised numbers. What
// comments say about DirectML 1.15.4 is undocumented and was measured on it. Equals definitions/product.cpp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/floating_format.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/product/filter_positions.h"
#include "engine/cpu/product/finish.h"
#include "engine/cpu/product/requantise.h"
#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::cpu::integers_kernels {
namespace {

using core::DataType;
using element_wise::Store;
using normalisation::input_of;
using operators::Descriptor;
using product::Convolution;
using product::Numbers;
using product::Shape;
using product::Sums;

/// The scale or zero point of each row or column, from a tensor with one element or one for each.
std::vector<double> parameters_of(const core::Tensor* tensor, std::int64_t count, double otherwise) {
    std::vector<double> numbers = tensor == nullptr ? std::vector{otherwise} : numbers_of(*tensor);
    numbers.resize(static_cast<std::size_t>(count), numbers.front());
    return numbers;
}

/// Maps an element of an array to its parameter. Each parameter applies to `length` consecutive elements, cyclically.
struct Turn {
    std::size_t length = 1;
    std::size_t count = 1;

    [[nodiscard]] std::size_t operator()(std::size_t element) const { return element / length % count; }
};

Turn rows_of(const Shape& shape) {
    return {static_cast<std::size_t>(shape.depth), static_cast<std::size_t>(shape.rows)};
}

Turn columns_of(const Shape& shape) {
    return {1, static_cast<std::size_t>(shape.columns)};
}

Numbers centred(const core::Tensor& tensor, const core::Tensor* zero_point, const Turn& turn) {
    const auto zero_points = parameters_of(zero_point, static_cast<std::int64_t>(turn.count), 0);
    Numbers numbers{numbers_of(tensor)};
    for (std::size_t i = 0; i < numbers.values.size(); ++i) {
        numbers.values[i] -= zero_points[turn(i)];
    }
    return numbers;
}

Shape matrices_of(const KernelArguments& arguments) {
    return product::shape_of(arguments.inputs[0]->desc.sizes, false, arguments.outputs[0]->desc.sizes);
}

/// A - AZeroPoint and B - BZeroPoint.
product::MatrixFactors centred_matrices(const KernelArguments& arguments) {
    const Shape shape = matrices_of(arguments);
    return {shape, centred(*input_of(arguments, "ATensor"), input_of(arguments, "AZeroPointTensor"), rows_of(shape)),
            centred(*input_of(arguments, "BTensor"), input_of(arguments, "BZeroPointTensor"), columns_of(shape))};
}

// ---- sums as they are --------------------------------------------------------------------------------------------

/// Measured on DirectML 1.15.4: sums wrap to INT32. Sums of fewer than 2^37 products are exact as doubles.
void store_integers(const KernelArguments& arguments, const product::Factors& factors) {
    core::Tensor& output = *arguments.outputs[0];
    const auto addresses = product::addresses_of(output.desc);
    product::multiply(factors, false, [&](const Sums& sums) {
        const std::int64_t first = sums.number(factors.shape());
        for (std::int64_t i = 0; i < sums.count; ++i) {
            const Signed value(static_cast<std::int64_t>(sums.values[i]));
            element_wise::store(output.buffer.bytes(), {DataType::int32, addresses.offsets_of(first + i)[0], 0}, 1,
                                &value, Store::wrapping);
        }
    });
}

void matrix_multiply(const KernelArguments& arguments) {
    store_integers(arguments, centred_matrices(arguments));
}

/// Padding has the value of the zero point, so it adds nothing.
void convolve(const KernelArguments& arguments) {
    const Convolution convolution = Convolution::of(arguments.descriptor);
    const core::Tensor& filter = *input_of(arguments, "FilterTensor");
    const std::size_t filters = filter.desc.sizes[0];
    const Turn by_filter{static_cast<std::size_t>(convolution.shape().depth), filters};
    const product::ConvolutionFactors factors(
        convolution, centred(filter, input_of(arguments, "FilterZeroPointTensor"), by_filter),
        centred(*input_of(arguments, "InputTensor"), input_of(arguments, "InputZeroPointTensor"), Turn()));
    store_integers(arguments, factors);
}

// ---- sums that are quantised again -------------------------------------------------------------------------------

void quantized_matrix_multiply(const KernelArguments& arguments) {
    const product::MatrixFactors factors = centred_matrices(arguments);
    const Shape& shape = factors.shape();
    const auto a_scales = parameters_of(input_of(arguments, "AScaleTensor"), shape.rows, 1);
    const auto b_scales = parameters_of(input_of(arguments, "BScaleTensor"), shape.columns, 1);
    const auto scales = parameters_of(input_of(arguments, "OutputScaleTensor"), shape.rows, 1);
    const auto zero_points = parameters_of(input_of(arguments, "OutputZeroPointTensor"), shape.rows, 0);
    core::Tensor& output = *arguments.outputs[0];
    const DataType type = output.desc.data_type;
    const int lowest = type == DataType::int8 ? -128 : 0;
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const auto addresses = product::addresses_of(output.desc);
    product::multiply(factors, false, [&](const Sums& sums) {
        const auto row = static_cast<std::size_t>(sums.row);
        for (std::int64_t i = 0; i < sums.count; ++i) {
            const auto number = static_cast<std::size_t>(sums.number(shape) + i);
            const auto column = static_cast<std::size_t>(sums.column + i);
            const Quantised result = requantise(static_cast<std::int64_t>(sums.values[i]),
                                                Multiplier::of(a_scales[row], b_scales[column], scales[row]),
                                                static_cast<std::int32_t>(zero_points[row]), lowest, lowest + 255);
            const Signed value(result.value);
            element_wise::store(output.buffer.bytes(),
                                {type, addresses.offsets_of(static_cast<std::int64_t>(number))[0], 0}, 1, &value,
                                Store::wrapping);
            if (slack != nullptr) {
                slack->below[number] = result.below;
                slack->above[number] = result.above;
            }
        }
    });
}

// ---- sums of what the numbers stand for --------------------------------------------------------------------------

/// Integers with more bits than FP32's significand are rounded before the zero point is subtracted.
bool is_wide(DataType type) {
    return core::bits_of(type) > 16;
}

/// (Tensor - ZeroPoint) * Scale. Measured on DirectML 1.15.4: for FLOAT16 these numbers are stored as tensors.
class Dequantised {
public:
    Dequantised(const KernelArguments& arguments, const std::string& name, const Turn& turn)
        : tensor_(*input_of(arguments, name + "Tensor")),
          given_(numbers_of(tensor_)),
          zero_points_(
              parameters_of(input_of(arguments, name + "ZeroPointTensor"), static_cast<std::int64_t>(turn.count), 0)),
          scales_(parameters_of(input_of(arguments, name + "ScaleTensor"), static_cast<std::int64_t>(turn.count), 1)),
          turn_(turn),
          type_(arguments.outputs[0]->desc.data_type) {}

    [[nodiscard]] double value(std::size_t i) const { return (given_[i] - zero_point(i)) * scale(i); }

    /// The number that `error` is relative to. Infinite if the dequantised number may overflow.
    [[nodiscard]] double bound(std::size_t i) const {
        const double magnitude = is_wide(tensor_.desc.data_type)
                                     ? (std::fabs(given_[i]) + std::fabs(zero_point(i))) * std::fabs(scale(i))
                                     : std::fabs(value(i));
        if (!(magnitude < core::format_of(type_).largest / 2)) {
            return std::numeric_limits<double>::infinity();
        }
        return type_ == DataType::float16 ? magnitude + core::float16.smallest_normal : magnitude;
    }

    /// The relative error of two conversions, the subtraction, the multiplication, and possibly storing the result.
    [[nodiscard]] double error() const {
        return (is_wide(tensor_.desc.data_type) ? 4 : 1) * core::float32.one_rounding +
               (type_ == DataType::float16 ? core::float16.one_rounding : 0);
    }

    [[nodiscard]] Interval range(std::size_t i) const {
        const auto in_fp32 = [](double number) { return Interval(number) + Interval(0); };
        return normalisation::maybe_stored(type_, (in_fp32(given_[i]) - in_fp32(zero_point(i))) * Interval(scale(i)));
    }

    /// The result refers to this object.
    [[nodiscard]] Numbers numbers() const {
        Numbers numbers;
        numbers.values.resize(given_.size());
        numbers.bounds.resize(given_.size());
        for (std::size_t i = 0; i < given_.size(); ++i) {
            numbers.values[i] = value(i);
            numbers.bounds[i] = bound(i);
        }
        numbers.range = [this](std::size_t i) { return range(i); };
        return numbers;
    }

private:
    [[nodiscard]] double zero_point(std::size_t i) const { return zero_points_[turn_(i)]; }
    [[nodiscard]] double scale(std::size_t i) const { return scales_[turn_(i)]; }

    const core::Tensor& tensor_;
    std::vector<double> given_;
    std::vector<double> zero_points_;
    std::vector<double> scales_;
    Turn turn_;
    DataType type_;
};

void matrix_multiply_to_float(const KernelArguments& arguments) {
    const Shape shape = matrices_of(arguments);
    const Dequantised a(arguments, "A", rows_of(shape));
    const Dequantised b(arguments, "B", columns_of(shape));
    const product::MatrixFactors factors(shape, a.numbers(), b.numbers());
    product::Finish finish;
    finish.error = (1 + a.error()) * (1 + b.error()) - 1;
    // Measured on DirectML 1.15.4: the product is also stored as FLOAT16 before the bias is added.
    finish.sum_type = arguments.outputs[0]->desc.data_type;
    if (const core::Tensor* bias = input_of(arguments, "BiasTensor")) {
        finish.addends = numbers_of(*bias);
    }
    product::store_product(arguments, factors, finish);
}

core::Tolerance float_tolerance(const Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(true,
                                        "the FP32 roundings of (A - AZeroPoint) * AScale and of the same for B; one "
                                        "rounding of each product, and of the sum of all magnitudes for each addition, "
                                        "in any order; both factors, and the product before the bias is added, may be "
                                        "FLOAT16 tensors");
}

}  // namespace

Kernels kernels() {
    return {{.name = "MATRIX_MULTIPLY_INTEGER", .compute = matrix_multiply, .tolerance = exact_tolerance},
            {.name = "CONVOLUTION_INTEGER", .compute = convolve, .tolerance = exact_tolerance},
            {.name = "QUANTIZED_LINEAR_MATRIX_MULTIPLY",
             .compute = quantized_matrix_multiply,
             .tolerance = [](const auto&, const auto&) { return requantised_tolerance(); }},
            {.name = "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
             .compute = matrix_multiply_to_float,
             .tolerance = float_tolerance}};
}

}  // namespace dmlconform::cpu::integers_kernels
