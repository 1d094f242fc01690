// CONVOLUTION, forward and backward, as a matrix product of filters and input windows.
#include <algorithm>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/product/filter_positions.h"
#include "engine/cpu/product/finish.h"
#include "engine/cpu/tensor_numbers.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu {
namespace {

using operators::Descriptor;
using product::Convolution;
using product::Numbers;

/// Indices into Descriptor::inputs().
enum Input : std::size_t { input_tensor, filter_tensor, bias_tensor };

bool is_backward(const Descriptor& descriptor) {
    using Direction = operators::ConvolutionDirection;
    return enumerator<Direction>(descriptor, "Direction") == Direction::backward;
}

/// The filters as {groups, output channels, channels, taps}. Forward, that is their order in the tensor. Backward, the
/// tensor has {groups, channels, output channels, taps}.
std::vector<double> filters_of(const Descriptor& descriptor, const Convolution& convolution,
                               const core::Tensor& tensor) {
    std::vector<double> given = numbers_of(tensor);
    const product::Shape shape = convolution.shape();
    const std::int64_t taps = shape.depth / convolution.channels;
    using Mode = operators::ConvolutionMode;
    if (enumerator<Mode>(descriptor, "Mode") == Mode::convolution) {
        // Mirrored along every spatial dimension.
        for (auto start = given.begin(); start != given.end(); start += taps) {
            std::reverse(start, start + taps);
        }
    }
    if (!is_backward(descriptor)) {
        return given;
    }
    std::vector<double> filters(given.size());
    auto to = filters.begin();
    for (std::int64_t group = 0; group < convolution.groups; ++group) {
        for (std::int64_t row = 0; row < convolution.output_channels; ++row) {
            for (std::int64_t channel = 0; channel < convolution.channels; ++channel) {
                const std::int64_t from =
                    ((group * convolution.channels + channel) * convolution.output_channels + row) * taps;
                to = std::copy_n(given.begin() + from, taps, to);
            }
        }
    }
    return filters;
}

void compute(const KernelArguments& arguments) {
    const Descriptor& descriptor = arguments.descriptor;
    const Convolution convolution = Convolution::of(descriptor);
    const bool in_place = product::may_read_in_place(arguments, convolution.shape());
    const core::Tensor& filter = *arguments.inputs[filter_tensor];
    using Mode = operators::ConvolutionMode;
    const bool are_as_given =
        !is_backward(descriptor) && enumerator<Mode>(descriptor, "Mode") == Mode::cross_correlation;
    const product::ConvolutionFactors factors(convolution,
                                              in_place && are_as_given && product::is_readable(filter)
                                                  ? product::read_in_place(filter)
                                                  : Numbers{filters_of(descriptor, convolution, filter)},
                                              product::numbers_in_place(*arguments.inputs[input_tensor], in_place));
    product::Finish finish{.accumulation = arguments.accumulation};
    if (arguments.inputs[bias_tensor] != nullptr) {
        finish.addends = numbers_of(*arguments.inputs[bias_tensor]);
    }
    finish.activation = element_wise::FusedActivation(descriptor.activation("FusedActivation"));
    finish.type = arguments.outputs[0]->desc.data_type;
    product::store_product(arguments, factors, finish);
}

core::Tolerance tolerance(const Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "one rounding of each product, and of the sum of all magnitudes for each addition, in any order, with the bias "
        "in front of the sum or behind it; then what Direct3D allows the activation, which may be applied to a FLOAT16 "
        "tensor");
}

}  // namespace

Kernels convolution_kernels() {
    return {{.name = "CONVOLUTION", .compute = compute, .tolerance = tolerance, .loads_numbers = true}};
}

}  // namespace dmlconform::cpu
