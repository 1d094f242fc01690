// RESAMPLE_GRAD and RESAMPLE_GRAD1: distribute each gradient over the elements that its output was computed from, by
// their weights. Equals definitions/resampling.cpp.
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/movement/move.h"
#include "engine/cpu/resampling/resampling.h"

namespace dmlconform::cpu::resampling_grad_kernels {
namespace {

using movement::Coordinates;
using window::Weight;

/// For each element along a dimension, the outputs that it contributes to, with weights. Weight::element is the
/// output's coordinate.
using Shares = std::vector<std::vector<Weight>>;

Shares shares_along(const operators::Descriptor& descriptor, const window::Line& line, bool bounded) {
    Shares shares(static_cast<std::size_t>(line.size));
    const auto weights = window::weights_along(descriptor, line, bounded);
    for (std::size_t output = 0; output < weights.size(); ++output) {
        for (const Weight& weight : weights[output]) {
            shares[static_cast<std::size_t>(weight.element)].push_back(
                {static_cast<std::int64_t>(output), weight.value, weight.range});
        }
    }
    return shares;
}

class Gradient {
public:
    explicit Gradient(const KernelArguments& arguments)
        : input_(*arguments.inputs[0]),
          output_(*arguments.outputs[0]),
          slack_(movement::wanted_slack(arguments)),
          strides_(core::signed_strides(input_.desc)) {
        for (std::size_t d = 0; d < strides_.size(); ++d) {
            const window::Line line{d, std::int64_t{output_.desc.sizes[d]}, std::int64_t{input_.desc.sizes[d]}};
            shares_.push_back(shares_along(arguments.descriptor, line, slack_ != nullptr));
        }
    }

    void compute() const {
        const movement::Rows rows(output_.desc);
        window::with_sum(slack_ != nullptr, [&]<class Sum>() {
            const auto one = [&](Coordinates coordinates, std::int64_t address, std::int64_t number) {
                Sum sum;
                add(coordinates, 0, 0, {0, 1, 1}, sum);
                movement::store_computed(output_, address, number, sum.value, slack_, [&] { return sum.range(); });
            };
            parallel_for(rows.count(), 256 * rows.length(),
                         [&](std::int64_t first, std::int64_t last) { rows.for_each(first, last, one); });
        });
    }

private:
    template <class Sum>
    void add(Coordinates coordinates, std::size_t d, std::int64_t address, const Weight& so_far, Sum& sum) const {
        if (d == coordinates.size()) {
            double gradient = 0;
            element_wise::load(input_.buffer.bytes(), {input_.desc.data_type, address, 0}, 1, &gradient);
            const double term = so_far.value == 0 ? 0 : gradient * so_far.value;
            sum.add(term, [&] { return window::weighted(gradient, so_far.range); });
            return;
        }
        for (const Weight& share : shares_[d][static_cast<std::size_t>(coordinates[d])]) {
            const Weight product{0, so_far.value * share.value,
                                 slack_ == nullptr ? Interval(0) : so_far.range * share.range};
            add(coordinates, d + 1, address + share.element * strides_[d], product, sum);
        }
    }

    const core::Tensor& input_;
    core::Tensor& output_;
    core::ElementSlack* slack_;
    core::Strides strides_;
    std::vector<Shares> shares_;
};

void compute(const KernelArguments& arguments) {
    Gradient(arguments).compute();
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "positions and weights as FP32 has them; one rounding of the sum of all magnitudes for each addition, in any "
        "order");
}

}  // namespace

Kernels kernels() {
    return {{.name = "RESAMPLE_GRAD", .compute = compute, .tolerance = tolerance},
            {.name = "RESAMPLE_GRAD1", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::resampling_grad_kernels
