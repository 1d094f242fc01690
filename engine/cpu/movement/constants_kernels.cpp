// Operators that fill tensors: with a constant, a sequence, or along diagonals. Equals definitions/movement.cpp.
#include <algorithm>
#include <cmath>

#include "engine/core/element.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/constant.h"
#include "engine/cpu/movement/move.h"

namespace dmlconform::cpu::constants_kernels {
namespace {

using movement::Coordinates;

movement::Move fill_constant(const KernelArguments& arguments) {
    core::Tensor* const output = arguments.outputs[0];
    return {.to = output,
            .axes = movement::axes_of(output->desc),
            .constant = movement::constant_of(arguments.descriptor, "Value", output->desc.data_type)};
}

// ---- FILL_VALUE_SEQUENCE -----------------------------------------------------------------------------------------

/// A count in FP32; both neighbours if FP32 cannot represent it.
Interval fp32_count(std::int64_t count) {
    const auto exact = static_cast<double>(count);
    const auto nearest = static_cast<float>(count);
    const float below = double{nearest} > exact ? std::nextafter(nearest, 0.0F) : nearest;
    const float above = double{nearest} < exact ? std::nextafter(nearest, INFINITY) : nearest;
    return {double{below}, double{above}, false};
}

/// Writes an integer sequence, which wraps.
void count_integers(std::uint64_t start, std::uint64_t delta, core::Tensor& output) {
    const movement::Rows rows(output.desc);
    movement::with_width(output.desc.data_type, [&]<class Element>() {
        Element* const written = output.as<Element>().data();
        parallel_for(rows.count(), 4 * rows.length(), [&](std::int64_t first, std::int64_t last) {
            rows.for_each(first, last, [&](Coordinates, std::int64_t address, std::int64_t number) {
                written[address] = static_cast<Element>(start + static_cast<std::uint64_t>(number) * delta);
            });
        });
    });
}

void count_reals(double start, double delta, core::Tensor& output, core::ElementSlack* slack) {
    const movement::Rows rows(output.desc);
    parallel_for(rows.count(), 16 * rows.length(), [&](std::int64_t first, std::int64_t last) {
        rows.for_each(first, last, [&](Coordinates, std::int64_t address, std::int64_t number) {
            // Measured on DirectML 1.15.4: the first element is computed by the same formula, so that 0 times infinity
            // makes it NaN.
            const double value = start + static_cast<double>(number) * delta;
            movement::store_computed(output, address, number, value, slack,
                                     [&] { return Interval(start) + fp32_count(number) * Interval(delta); });
        });
    });
}

void fill_sequence(const KernelArguments& arguments) {
    core::Tensor& output = *arguments.outputs[0];
    const core::DataType type = output.desc.data_type;
    const std::uint64_t start = movement::constant_of(arguments.descriptor, "ValueStart", type);
    const std::uint64_t delta = movement::constant_of(arguments.descriptor, "ValueDelta", type);
    if (!core::is_floating_point(type)) {
        return count_integers(start, delta, output);
    }
    count_reals(core::decode_element(type, start), core::decode_element(type, delta), output,
                movement::wanted_slack(arguments));
}

core::Tolerance sequence_tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& output) {
    return movement::computed_tolerance(core::is_floating_point(output.desc->data_type),
                                        "FP32 as Direct3D allows it (*: one rounding; +: one rounding)");
}

// ---- diagonals ---------------------------------------------------------------------------------------------------

// Diagonals are numbered relative to the one that starts at the top left corner; those above it are positive.

/// Copies the input if it is present, otherwise writes zeros.
void put_background(const KernelArguments& arguments) {
    movement::Move move{.to = arguments.outputs[0], .axes = movement::axes_of(arguments.outputs[0]->desc)};
    if (!arguments.inputs.empty() && arguments.inputs[0] != nullptr) {
        move = movement::all_of_first(arguments);
    }
    movement::carry_out(std::move(move));
}

/// Fills the diagonals from `begin` to `end` (exclusive) of all matrices, row by row.
void fill_band(core::Tensor& output, std::int64_t begin, std::int64_t end, std::uint64_t constant) {
    const std::vector<movement::Axis> axes = movement::axes_of(output.desc);
    const std::size_t rank = axes.size();
    const movement::Axis& rows = axes[rank - 2];
    const movement::Axis& columns = axes[rank - 1];
    for (std::int64_t row = 0; row < rows.size; ++row) {
        const std::int64_t first = std::clamp<std::int64_t>(row + begin, 0, columns.size);
        const std::int64_t last = std::clamp<std::int64_t>(row + end, 0, columns.size);
        if (first < last) {
            movement::Move move{.to = &output, .axes = {axes.begin(), axes.end() - 2}, .constant = constant};
            move.to_start = row * rows.to_stride + first * columns.to_stride;
            move.axes.push_back({.size = last - first, .to_stride = columns.to_stride});
            movement::carry_out(std::move(move));
        }
    }
}

void diagonal_matrix(const KernelArguments& arguments) {
    core::Tensor& output = *arguments.outputs[0];
    const std::int64_t offset = arguments.descriptor.get<std::int32_t>("Offset");
    put_background(arguments);
    fill_band(output, offset, offset + 1, movement::constant_of(arguments.descriptor, "Value", output.desc.data_type));
}

/// Documented: if the diagonals are in descending order, those outside the range are filled.
void diagonal_matrix1(const KernelArguments& arguments) {
    core::Tensor& output = *arguments.outputs[0];
    const std::int64_t begin = arguments.descriptor.get<std::int32_t>("DiagonalFillBegin");
    const std::int64_t end = arguments.descriptor.get<std::int32_t>("DiagonalFillEnd");
    const std::uint64_t value = movement::constant_of(arguments.descriptor, "Value", output.desc.data_type);
    constexpr std::int64_t beyond = std::int64_t{1} << 40;
    put_background(arguments);
    if (begin <= end) {
        fill_band(output, begin, end, value);
    } else {
        fill_band(output, -beyond, end, value);
        fill_band(output, begin, beyond, value);
    }
}

}  // namespace

Kernels kernels() {
    return {movement::moving("FILL_VALUE_CONSTANT", fill_constant),
            {.name = "FILL_VALUE_SEQUENCE", .compute = fill_sequence, .tolerance = sequence_tolerance},
            {.name = "DIAGONAL_MATRIX", .compute = diagonal_matrix, .tolerance = exact_tolerance},
            {.name = "DIAGONAL_MATRIX1", .compute = diagonal_matrix1, .tolerance = exact_tolerance}};
}

}  // namespace dmlconform::cpu::constants_kernels
