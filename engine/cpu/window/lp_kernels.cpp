// LP_POOLING and LP_POOLING1: the P-norm of a window, (sum of |x|^P)^(1/P). Equals definitions/window.cpp.
#include <cmath>

#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/window/slide.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu::lp_kernels {
namespace {

using window::OutputElement;
using window::Windows;

/// The FP32 range of |x|^P: exact for P = 1, one multiplication for P = 2.
Interval power_in_fp32(double magnitude, double p) {
    const Interval x(magnitude);
    return p == 1 ? x : p == 2 ? x * x : pow(x, window::in_fp32(p));
}

Interval root_in_fp32(const Interval& sum, double p) {
    return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, Interval(1) / window::in_fp32(p));
}

/// The sum of powers of |x| / largest, which neither overflow nor underflow altogether.
template <bool Bounded>
struct Norm {
    double p = 1;
    double largest = 0;
    double sum = 0;
    reduction::SumRange bounds = {};

    void add(double element, std::int64_t /*number*/) {
        const double magnitude = std::fabs(element);
        if (p == 1) {
            sum += magnitude;
        } else if (p == 2) {
            sum += magnitude * magnitude;
        } else if (magnitude > largest) {
            sum = 1 + sum * std::pow(largest / magnitude, p);
            largest = magnitude;
        } else if (magnitude != 0) {
            sum += std::isinf(magnitude) ? 0 : std::pow(magnitude / largest, p);
        }
        if constexpr (Bounded) {
            bounds.add(power_in_fp32(magnitude, p));
        }
    }

    [[nodiscard]] double value() const {
        if (p == 1) {
            return sum;
        }
        return p == 2 ? std::sqrt(sum) : largest == 0 ? sum : largest * std::pow(sum, 1 / p);
    }
};

template <bool Bounded>
void pool(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Windows windows = Windows::of_pooling(arguments.descriptor, input.desc, output.desc);
    const double p = arguments.descriptor.uint("P");
    window::slide<double>(windows, input, output.desc, window::always(Norm<Bounded>{p}),
                          [&](const OutputElement& element, const Norm<Bounded>& norm) {
                              movement::store_computed(output, element.address, element.number, norm.value(),
                                                       movement::wanted_slack(arguments),
                                                       [&] { return root_in_fp32(norm.bounds.result(), p); });
                          });
}

void compute(const KernelArguments& arguments) {
    if (movement::wanted_slack(arguments) != nullptr) {
        pool<true>(arguments);
    } else {
        pool<false>(arguments);
    }
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true,
        "pow or product for each term; one rounding of the sum for each addition, in any order; pow or square root");
}

}  // namespace

Kernels kernels() {
    Kernels rows;
    for (const std::string_view name : {"LP_POOLING", "LP_POOLING1"}) {
        rows.push_back({.name = name, .compute = compute, .tolerance = tolerance});
    }
    return rows;
}

}  // namespace dmlconform::cpu::lp_kernels
