// CONVOLUTION, forward and backward, as a matrix product of filters and input windows. Equals definitions/product.cpp.
#include <algorithm>

#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/product/filter_positions.h"
#include "engine/cpu/product/finish.h"
#include "engine/cpu/tensor_numbers.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::convolution_kernels {
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

/// The filters, which are read in place if they have the order that products need.
Numbers numbers_of_filters(const Descriptor& descriptor, const Convolution& convolution, const core::Tensor& filter) {
    using Mode = operators::ConvolutionMode;
    const bool are_as_given =
        !is_backward(descriptor) && enumerator<Mode>(descriptor, "Mode") == Mode::cross_correlation;
    return are_as_given && product::is_readable(filter) ? product::read_in_place(filter)
                                                        : Numbers{filters_of(descriptor, convolution, filter)};
}

product::Finish finish_of(const Descriptor& descriptor, const core::Tensor* bias) {
    product::Finish finish;
    if (bias != nullptr) {
        finish.addends = numbers_of(*bias);
    }
    finish.activation = element_wise::FusedActivation(descriptor.activation("FusedActivation"));
    finish.type = descriptor.tensor("OutputTensor")->data_type;
    return finish;
}

void compute(const KernelArguments& arguments) {
    const Descriptor& descriptor = arguments.descriptor;
    const Convolution convolution = Convolution::of(descriptor);
    const product::ConvolutionFactors factors(
        convolution, numbers_of_filters(descriptor, convolution, *arguments.inputs[filter_tensor]),
        product::numbers_in_place(*arguments.inputs[input_tensor]));
    product::Finish finish = finish_of(descriptor, arguments.inputs[bias_tensor]);
    finish.accumulation = arguments.accumulation;
    product::store_product(arguments, factors, finish);
}

bool compute_runs(const RunArguments& arguments) {
    const Descriptor& descriptor = arguments.descriptor;
    const Convolution convolution = Convolution::of(descriptor);
    if (arguments.differs[filter_tensor] || !product::may_compute_runs(convolution.shape())) {
        return false;
    }
    const product::ConvolutionFactors factors(
        convolution, numbers_of_filters(descriptor, convolution, *arguments.inputs[filter_tensor]),
        product::numbers_in_place(*arguments.inputs[input_tensor]));
    std::vector<product::Finish> finishes;
    for (const auto& inputs : arguments.inputs_of_runs) {
        finishes.push_back(finish_of(descriptor, inputs[bias_tensor]));
    }
    return product::store_runs(arguments, factors, input_tensor, finishes);
}

core::Tolerance tolerance(const Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "one rounding of each product, and of the sum of all magnitudes for each addition, in any order, with the bias "
        "in front of the sum or behind it; then what Direct3D allows the activation, which may be applied to a FLOAT16 "
        "tensor");
}

}  // namespace

Kernels kernels() {
    return {{.name = "CONVOLUTION",
             .compute = compute,
             .tolerance = tolerance,
             .loads_numbers = true,
             .compute_runs = compute_runs,
             .counts_float16_sums = true}};
}

}  // namespace dmlconform::cpu::convolution_kernels
