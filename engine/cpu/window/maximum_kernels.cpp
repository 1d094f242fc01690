// MAX_POOLING, MAX_POOLING1 and MAX_POOLING2, and MAX_POOLING_GRAD. What comments say about DirectML 1.15.4 is
// undocumented and was measured on it. Equals definitions/window.cpp.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/core/floating_format.h"
#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/variants.h"
#include "engine/cpu/window/narrow_positions.h"
#include "engine/cpu/window/slide.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu::maximum_kernels {
namespace {

using window::Axis;
using window::Coordinates;
using window::OutputElement;
using window::Windows;

constexpr std::int64_t none = -1;

/// True if the element is greater than the value so far. Measured on DirectML 1.15.4: a number wins over NaN. Without a
/// branch, which processors cannot predict here.
template <class Number>
bool wins_over(Number value, Number element) {
    return !std::isnan(element) & !(value >= element);
}

/// The largest element and its row-major index; the first one of equal elements.
template <class Number>
struct Greatest {
    Number value = 0;
    std::int64_t number = none;

    void add(Number element, std::int64_t its_number) {
        if constexpr (std::is_same_v<Number, double>) {
            // All bits of a double, because GCC only chooses integers without a branch.
            const bool is_taken = (number == none) | wins_over(value, element);
            const auto bits = std::bit_cast<std::uint64_t>(element);
            value = std::bit_cast<double>(is_taken ? bits : std::bit_cast<std::uint64_t>(value));
            number = is_taken ? its_number : number;
        } else if (number == none || value < element) {
            value = element;
            number = its_number;
        }
    }
};

/// The value alone, of numbers of at most 32 bits as doubles.
struct GreatestValue {
    /// Loops of `add` are compiled for wide registers.
    static constexpr bool is_short = true;
    /// A NaN that no number of 32 bits becomes.
    static constexpr std::uint64_t nothing = 0x7ff8'0000'0000'0001;

    std::uint64_t bits = nothing;

    void add(double element, std::int64_t /*number*/) {
        const bool is_taken = (bits == nothing) | wins_over(std::bit_cast<double>(bits), element);
        bits = is_taken ? std::bit_cast<std::uint64_t>(element) : bits;
    }
};

/// Measured on DirectML 1.15.4: the result of a window that sees only padding.
template <class Number>
Number lowest_finite(core::DataType type) {
    if constexpr (std::is_same_v<Number, double>) {
        return -core::format_of(type).largest;
    } else if constexpr (std::is_same_v<Number, Signed>) {
        return std::numeric_limits<std::int64_t>::min() >> (64 - core::bits_of(type));
    } else {
        return 0;
    }
}

void store_index(core::Tensor* indices, Coordinates coordinates, std::int64_t index) {
    if (indices != nullptr && !indices->desc.sizes.empty()) {
        const Unsigned number(index);
        const std::int64_t address = movement::address_of(coordinates, core::signed_strides(indices->desc));
        element_wise::store(indices->buffer.bytes(), {indices->desc.data_type, address, 0}, 1, &number,
                            element_wise::Store::wrapping);
    }
}

template <class Number>
void store_greatest(core::Tensor& output, core::Tensor* indices, const OutputElement& element,
                    const Greatest<Number>& greatest) {
    const core::DataType type = output.desc.data_type;
    const bool is_empty = greatest.number == none;
    const Number value = is_empty ? lowest_finite<Number>(type) : greatest.value;
    element_wise::store(output.buffer.bytes(), {type, element.address, 0}, 1, &value, element_wise::Store::wrapping);
    // Measured on DirectML 1.15.4: the index is 0, whatever the batch and the channel.
    store_index(indices, element.coordinates, is_empty ? 0 : greatest.number);
}

/// Adds FP32 elements that are `stride` apart to the value of a window each.
template <class Stride>
void add_floats(float* values, std::int64_t count, const float* elements, Stride stride) {
    for (std::int64_t i = 0; i < count; ++i) {
        const float element = elements[i * stride];
        values[i] = wins_over(values[i], element) ? element : values[i];
    }
}

/// Adds a row of input elements to the values of a row of windows.
void add_float_row(const Axis& axis, const float* row, float* values) {
    for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
        const window::Range inside = axis.stops_inside(tap);
        const float* const elements = row + axis.element(inside.first, tap);
        if (axis.stride == 1) {
            add_floats(values + inside.first, inside.count(), elements, std::integral_constant<std::int64_t, 1>());
        } else if (axis.stride == 2) {
            add_floats(values + inside.first, inside.count(), elements, std::integral_constant<std::int64_t, 2>());
        } else {
            add_floats(values + inside.first, inside.count(), elements, axis.stride);
        }
    }
}

bool has_nan(const float* values, std::int64_t count) {
    std::uint32_t any = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        any |= static_cast<std::uint32_t>(std::isnan(values[i]));
    }
    return any != 0;
}

/// Pools FP32 tensors whose rows have no gaps, which takes a fraction of the time. Returns false if it cannot: if a
/// result is NaN, because then the bits of the first NaN are stored, or if a window sees only padding.
bool pool_floats(const Windows& windows, const core::Tensor& input, core::Tensor& output) {
    const Axis& inner = windows.axis(windows.rank() - 1);
    const core::Strides strides = core::signed_strides(input.desc);
    if (strides.back() != 1 || core::signed_strides(output.desc).back() != 1 || inner.taps > inner.stops) {
        return false;
    }
    const movement::Rows rows(output.desc);
    const float* const from = input.as<float>().data();
    float* const to = output.as<float>().data();
    std::atomic<bool> are_numbers = true;
    parallel_for(rows.count(), windows.most_inside() * rows.length(), [&](std::int64_t first, std::int64_t last) {
        rows.for_each_row(first, last, [&](Coordinates coordinates, std::int64_t address, std::int64_t /*number*/) {
            float* const values = to + address;
            // A number wins over it.
            std::fill_n(values, inner.stops, std::numeric_limits<float>::quiet_NaN());
            windows.for_each_row(coordinates, strides, [&](std::int64_t start, std::int64_t /*number*/) {
                in_wide_registers([&] { add_float_row(inner, from + start, values); });
            });
            if (has_nan(values, inner.stops)) {
                are_numbers = false;
            }
        });
    });
    return are_numbers;
}

void pool(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    core::Tensor* const indices = arguments.outputs.size() > 1 ? arguments.outputs[1] : nullptr;
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, output.desc);
    const core::DataType type = output.desc.data_type;
    const bool has_indices = indices != nullptr && !indices->desc.sizes.empty();
    if (!has_indices && type == core::DataType::float32 && pool_floats(windows, input, output)) {
        return;
    }
    if (!has_indices && (type == core::DataType::float32 || type == core::DataType::float16)) {
        window::slide<double>(windows, input, output.desc, window::always(GreatestValue()),
                              [&](const OutputElement& element, const GreatestValue& greatest) {
                                  const bool is_empty = greatest.bits == GreatestValue::nothing;
                                  const double value =
                                      is_empty ? lowest_finite<double>(type) : std::bit_cast<double>(greatest.bits);
                                  element_wise::store(output.buffer.bytes(), {type, element.address, 0}, 1, &value,
                                                      element_wise::Store::wrapping);
                              });
        return;
    }
    window::with_number(type, [&]<class Number>() {
        window::slide<Number>(windows, input, output.desc, window::always(Greatest<Number>()),
                              [&](const OutputElement& element, const Greatest<Number>& greatest) {
                                  store_greatest(output, indices, element, greatest);
                              });
    });
}

void pool_in_32_bits(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    core::Tensor* const indices = arguments.outputs.size() > 1 ? arguments.outputs[1] : nullptr;
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, output.desc);
    window::with_number(output.desc.data_type, [&]<class Number>() {
        window::slide_narrowly<Number>(windows, input, output.desc, window::always(Greatest<Number>()),
                                       [&](const OutputElement& element, const auto& window) {
                                           store_greatest(output, indices, element, window.state());
                                       });
    });
}

// ---- the gradient ------------------------------------------------------------------------------------------------

void pool_grad(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    const core::Tensor& gradient = *arguments.inputs[1];
    core::Tensor& output = *arguments.outputs[0];
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, gradient.desc);
    // The indices of the largest elements, window by window.
    std::vector<std::int64_t> greatest(static_cast<std::size_t>(*core::element_count(gradient.desc.sizes)));
    window::slide<double>(windows, input, gradient.desc, window::always(Greatest<double>()),
                          [&](const OutputElement& element, const Greatest<double>& found) {
                              greatest[static_cast<std::size_t>(element.number)] = found.number;
                          });
    const core::Strides strides = core::signed_strides(gradient.desc);
    const core::Strides numbering = reduction::numbering_strides(gradient.desc.sizes);
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const movement::Rows rows(output.desc);
    window::with_sum(slack != nullptr, [&]<class Sum>() {
        const auto one = [&](Coordinates element, std::int64_t address, std::int64_t number) {
            Sum sum;
            windows.for_each_stop_at(element, [&](Coordinates stop) {
                if (greatest[static_cast<std::size_t>(movement::address_of(stop, numbering))] == number) {
                    double term = 0;
                    element_wise::load(gradient.buffer.bytes(),
                                       {gradient.desc.data_type, movement::address_of(stop, strides), 0}, 1, &term);
                    sum.add(term, [&] { return Interval(term); });
                }
            });
            movement::store_computed(output, address, number, sum.value, slack, [&] { return sum.range(); });
        };
        parallel_for(rows.count(), 16 * windows.most_inside() * rows.length(),
                     [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, one); });
    });
}

core::Tolerance grad_tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(true,
                                        "one rounding of the sum of all magnitudes for each addition, in any order");
}

}  // namespace

Kernels kernels() {
    Kernels rows{{.name = "MAX_POOLING_GRAD", .compute = pool_grad, .tolerance = grad_tolerance}};
    for (const std::string_view name : {"MAX_POOLING", "MAX_POOLING1", "MAX_POOLING2"}) {
        rows.push_back({.name = name, .compute = pool, .tolerance = selected_tolerance});
    }
    return rows;
}

}  // namespace dmlconform::cpu::maximum_kernels

namespace dmlconform::cpu::variants_of_kernels {

void max_pooling_in_32_bits(const KernelArguments& arguments) {
    maximum_kernels::pool_in_32_bits(arguments);
}

}  // namespace dmlconform::cpu::variants_of_kernels
