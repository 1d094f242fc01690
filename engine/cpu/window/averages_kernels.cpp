// AVERAGE_POOLING and AVERAGE_POOLING1, their gradient, and QUANTIZED_LINEAR_AVERAGE_POOLING. What comments say about
// DirectML 1.15.4 is undocumented and was measured on it. Equals definitions/window.cpp.
#include <algorithm>
#include <cmath>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/variants.h"
#include "engine/cpu/window/narrow_positions.h"
#include "engine/cpu/window/slide.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu::averages_kernels {
namespace {

using window::Coordinates;
using window::narrow;
using window::OutputElement;
using window::Windows;

/// The divisor of a window's sum.
class Divisor {
public:
    Divisor(const operators::Descriptor& descriptor, const Windows& windows)
        : windows_(windows), includes_padding_(descriptor.uint("IncludePadding") != 0) {}

    /// Measured on DirectML 1.15.4: 0 for a window that is entirely in the padding, if padding does not count. Elements
    /// beyond the padding at the end, which gradients may have, never count.
    [[nodiscard]] double at(Coordinates stop) const {
        return includes_padding_ ? windows_.elements_with_padding(stop) : windows_.elements_inside(stop);
    }

private:
    const Windows& windows_;
    bool includes_padding_;
};

// ---- averages ----------------------------------------------------------------------------------------------------

template <class Sum>
struct Elements {
    Sum sum = {};

    void add(double element, std::int64_t /*number*/) {
        sum.add(element, [&] { return Interval(element); });
    }
};

/// The output, in which averages are stored.
struct Averages {
    core::Tensor& output;
    core::ElementSlack* slack;

    template <class Sum>
    void store(const OutputElement& element, const Sum& sum, double count) const {
        movement::store_computed(output, element.address, element.number, sum.value / count, slack,
                                 [&] { return window::divided(sum.range(), count); });
    }
};

void average(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    const Averages averages{*arguments.outputs[0], movement::wanted_slack(arguments)};
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, averages.output.desc);
    const Divisor divisor(arguments.descriptor, windows);
    window::with_sum(averages.slack != nullptr, [&]<class Sum>() {
        window::slide<double>(windows, input, averages.output.desc, window::always(Elements<Sum>()),
                              [&](const OutputElement& element, const Elements<Sum>& elements) {
                                  averages.store(element, elements.sum, divisor.at(element.coordinates));
                              });
    });
}

void average_in_32_bits(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    const Averages averages{*arguments.outputs[0], movement::wanted_slack(arguments)};
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, averages.output.desc);
    const bool with_padding = arguments.descriptor.uint("IncludePadding") != 0;
    window::with_sum(averages.slack != nullptr, [&]<class Sum>() {
        window::slide_narrowly<double>(windows, input, averages.output.desc, window::always(Elements<Sum>()),
                                       [&](const OutputElement& element, const auto& window) {
                                           averages.store(element, window.state().sum, window.count(with_padding));
                                       });
    });
}

// ---- their gradient ----------------------------------------------------------------------------------------------

void average_grad(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Windows windows = Windows::of_pooling(arguments.descriptor, output.desc, input.desc);
    const Divisor divisor(arguments.descriptor, windows);
    const core::Strides strides = core::signed_strides(input.desc);
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const movement::Rows rows(output.desc);
    window::with_sum(slack != nullptr, [&]<class Sum>() {
        const auto one = [&](Coordinates element, std::int64_t address, std::int64_t number) {
            Sum sum;
            windows.for_each_stop_at(element, [&](Coordinates stop) {
                double gradient = 0;
                element_wise::load(input.buffer.bytes(), {input.desc.data_type, movement::address_of(stop, strides), 0},
                                   1, &gradient);
                const double count = divisor.at(stop);
                sum.add(gradient / count, [&] { return window::divided(gradient, count); });
            });
            movement::store_computed(output, address, number, sum.value, slack, [&] { return sum.range(); });
        };
        parallel_for(rows.count(), 16 * windows.most_inside() * rows.length(),
                     [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, one); });
    });
}

// ---- their gradient in 32 bits -----------------------------------------------------------------------------------

/// The smaller one of two numbers that are taken as unsigned integers of 32 bits.
std::int64_t lesser(std::int64_t a, std::int64_t b) {
    return narrow(std::min(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
}

/// The windows along one dimension as DirectML 1.15.4 was measured to see them: everything is a signed integer of 32
/// bits, whatever it means, except where two ends are compared.
class NarrowAxis {
public:
    explicit NarrowAxis(const window::Axis& axis)
        : taps_(narrow(axis.taps)),
          stride_(narrow(axis.stride)),
          padding_(narrow(axis.padding)),
          end_(narrow(axis.elements + axis.end_padding)),
          stops_(axis.stops),
          elements_(axis.elements) {}

    /// The windows that are said to cover an element. There may be negative ones.
    [[nodiscard]] window::Range stops_at(std::int64_t element) const {
        // DirectML would not come to an end with many more.
        constexpr std::int64_t most_narrow_stops = 1'000'000;
        const std::int64_t at = narrow(element + padding_);
        const std::int64_t first = at < taps_ ? 0 : narrow(narrow(at - taps_) / stride_ + 1);
        const std::int64_t last = lesser(at / stride_ + 1, stops_);
        return {std::max(first, last - most_narrow_stops), last};
    }
    [[nodiscard]] std::int64_t count(std::int64_t stop, bool with_padding) const {
        const std::int64_t from = narrow(stop * stride_ - padding_);
        const std::int64_t to = lesser(from + taps_, with_padding ? end_ : elements_);
        return narrow(to - (with_padding ? from : std::max<std::int64_t>(from, 0)));
    }

private:
    std::int64_t taps_;
    std::int64_t stride_;
    std::int64_t padding_;
    std::int64_t end_;
    std::int64_t stops_;
    std::int64_t elements_;
};

/// The gradients of elements, one after another. What lies outside of the tensor reads as 0. Windows beyond a number in
/// all are left out, so that strides that make millions of them for each element come to an end.
template <class Sum>
class NarrowGradient {
public:
    NarrowGradient(const core::Tensor& input, const std::vector<NarrowAxis>& axes, bool with_padding)
        : input_(input), axes_(axes), with_padding_(with_padding), strides_(core::signed_strides(input.desc)) {}

    void add(Coordinates element, Sum& sum, std::size_t d = 0, std::int64_t address = 0, std::int64_t count = 1) {
        if (d == axes_.size()) {
            const double gradient = gradient_at(address);
            const auto divisor = static_cast<double>(count);
            return sum.add(gradient / divisor, [&] { return window::divided(gradient, divisor); });
        }
        const window::Range stops = axes_[d].stops_at(element[d]);
        for (std::int64_t stop = stops.first; stop < stops.last && windows_left_ > 0; ++stop) {
            --windows_left_;
            add(element, sum, d + 1, address + stop * strides_[d], narrow(count * axes_[d].count(stop, with_padding_)));
        }
    }

private:
    [[nodiscard]] double gradient_at(std::int64_t address) const {
        const auto elements = input_.buffer.bytes().size() * 8 / core::bits_of(input_.desc.data_type);
        double gradient = 0;
        if (address >= 0 && address < static_cast<std::int64_t>(elements)) {
            element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, 0}, 1, &gradient);
        }
        return gradient;
    }

    const core::Tensor& input_;
    const std::vector<NarrowAxis>& axes_;
    bool with_padding_;
    core::Strides strides_;
    std::int64_t windows_left_ = std::int64_t{1} << 24;
};

void average_grad_in_32_bits(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Windows windows = Windows::of_pooling(arguments.descriptor, output.desc, input.desc);
    std::vector<NarrowAxis> axes;
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        axes.emplace_back(windows.axis(d));
    }
    const bool with_padding = arguments.descriptor.uint("IncludePadding") != 0;
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const movement::Rows rows(output.desc);
    window::with_sum(slack != nullptr, [&]<class Sum>() {
        NarrowGradient<Sum> gradient(input, axes, with_padding);
        rows.for_each(0, rows.count(), [&](Coordinates element, std::int64_t address, std::int64_t number) {
            Sum sum;
            gradient.add(element, sum);
            movement::store_computed(output, address, number, sum.value, slack, [&] { return sum.range(); });
        });
    });
}

// ---- quantised averages ------------------------------------------------------------------------------------------

/// Indices into Descriptor::inputs().
enum QuantizedInput : std::size_t { input_tensor, input_scale, input_zero_point, output_scale, output_zero_point };

/// A parameter with one element, or one for each channel.
class Parameter {
public:
    Parameter(const core::Tensor* tensor, double otherwise) : numbers_{otherwise} {
        if (tensor == nullptr) {
            return;
        }
        const bool per_channel = *core::element_count(tensor->desc.sizes) > 1;
        numbers_.resize(per_channel ? tensor->desc.sizes[1] : 1);
        const std::int64_t stride = per_channel ? core::signed_strides(tensor->desc)[1] : 0;
        element_wise::load(tensor->buffer.bytes(), {tensor->desc.data_type, 0, stride}, numbers_.size(),
                           numbers_.data());
    }

    [[nodiscard]] double of_channel(std::int64_t channel) const {
        return numbers_[numbers_.size() == 1 ? 0 : static_cast<std::size_t>(channel)];
    }

private:
    std::vector<double> numbers_;
};

/// Rounds half to even, then adds the zero point. Measured on DirectML 1.15.4: NaN becomes the lowest number, whatever
/// the zero point.
double quantised(core::DataType type, double value, double zero_point) {
    const double lowest = core::is_signed_integer(type) ? -128 : 0;
    return std::isnan(value) ? lowest : std::clamp(std::nearbyint(value) + zero_point, lowest, lowest + 255);
}

Interval quantised(core::DataType type, const Interval& value, double zero_point) {
    const Interval of_nan(quantised(type, std::nan(""), zero_point));
    if (!value.has_numbers()) {
        return of_nan;
    }
    const Interval numbers(quantised(type, value.low, zero_point), quantised(type, value.high, zero_point), false);
    return value.nan ? hull(numbers, of_nan) : numbers;
}

/// Dequantises elements with the channel's scale and zero point. Each term is exact in double precision.
template <class Sum>
struct QuantizedElements {
    double scale = 1;
    double zero_point = 0;
    Sum sum = {};

    void add(double element, std::int64_t /*number*/) {
        const double centred = element - zero_point;
        sum.add(centred * scale, [&] { return Interval(centred) * Interval(scale); });
    }
};

/// Parameters and the output, in which averages are stored.
class QuantizedAverages {
public:
    QuantizedAverages(const KernelArguments& arguments, core::ElementSlack* slack)
        : scales_(arguments.inputs[input_scale], 1),
          zero_points_(arguments.inputs[input_zero_point], 0),
          output_scales_(arguments.inputs[output_scale], 1),
          output_zero_points_(arguments.inputs[output_zero_point], 0),
          output_(*arguments.outputs[0]),
          slack_(slack) {}

    template <class Sum>
    [[nodiscard]] QuantizedElements<Sum> no_elements(std::int64_t channel) const {
        return {scales_.of_channel(channel), zero_points_.of_channel(channel)};
    }

    template <class Sum>
    void store(const OutputElement& element, const Sum& sum, double count) const {
        const core::DataType type = output_.desc.data_type;
        const std::int64_t channel = element.coordinates[1];
        const double zero_point = output_zero_points_.of_channel(channel);
        const double scale = output_scales_.of_channel(channel);
        const double value = quantised(type, sum.value / count / scale, zero_point);
        element_wise::store(output_.buffer.bytes(), {type, element.address, 0}, 1, &value,
                            element_wise::Store::wrapping);
        if (slack_ != nullptr) {
            const Interval average = window::divided(sum.range(), count);
            note_accepted(*slack_, static_cast<std::size_t>(element.number), type, value,
                          quantised(type, average / Interval(scale), zero_point));
        }
    }

private:
    Parameter scales_;
    Parameter zero_points_;
    Parameter output_scales_;
    Parameter output_zero_points_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
};

void quantized_average(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[input_tensor];
    const core::TensorDesc& output = arguments.outputs[0]->desc;
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, output);
    const Divisor divisor(arguments.descriptor, windows);
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const QuantizedAverages averages(arguments, slack);
    window::with_sum(slack != nullptr, [&]<class Sum>() {
        window::slide<double>(
            windows, input, output, [&](Coordinates stop) { return averages.no_elements<Sum>(stop[1]); },
            [&](const OutputElement& element, const QuantizedElements<Sum>& elements) {
                averages.store(element, elements.sum, divisor.at(element.coordinates));
            });
    });
}

void quantized_average_in_32_bits(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[input_tensor];
    const core::TensorDesc& output = arguments.outputs[0]->desc;
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, output);
    const bool with_padding = arguments.descriptor.uint("IncludePadding") != 0;
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const QuantizedAverages averages(arguments, slack);
    window::with_sum(slack != nullptr, [&]<class Sum>() {
        window::slide_narrowly<double>(
            windows, input, output, [&](Coordinates stop) { return averages.no_elements<Sum>(stop[1]); },
            [&](const OutputElement& element, const auto& window) {
                averages.store(element, window.state().sum, window.count(with_padding));
            });
    });
}

// ---- tolerances --------------------------------------------------------------------------------------------------

core::Tolerance average_tolerance(const operators::Descriptor& /*descriptor*/,
                                  const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true, "one rounding of the sum of all magnitudes for each addition, in any order; division: 1 ULP");
}

core::Tolerance quantized_tolerance(const operators::Descriptor& /*descriptor*/,
                                    const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(true,
                                        "what rounds to another integer within the FP32 roundings of the terms, their "
                                        "sum in any order and the divisions");
}

}  // namespace

Kernels kernels() {
    Kernels rows{
        {.name = "AVERAGE_POOLING_GRAD", .compute = average_grad, .tolerance = average_tolerance},
        {.name = "QUANTIZED_LINEAR_AVERAGE_POOLING", .compute = quantized_average, .tolerance = quantized_tolerance}};
    for (const std::string_view name : {"AVERAGE_POOLING", "AVERAGE_POOLING1"}) {
        rows.push_back({.name = name, .compute = average, .tolerance = average_tolerance});
    }
    return rows;
}

}  // namespace dmlconform::cpu::averages_kernels

namespace dmlconform::cpu::variants_of_kernels {

void average_pooling_in_32_bits(const KernelArguments& arguments) {
    averages_kernels::average_in_32_bits(arguments);
}

void average_pooling_grad_in_32_bits(const KernelArguments& arguments) {
    averages_kernels::average_grad_in_32_bits(arguments);
}

void quantized_average_pooling_in_32_bits(const KernelArguments& arguments) {
    averages_kernels::quantized_average_in_32_bits(arguments);
}

}  // namespace dmlconform::cpu::variants_of_kernels
