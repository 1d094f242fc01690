// LP_POOLING and LP_POOLING1: the P-norm of a window, (sum of |x|^P)^(1/P). Equals definitions/window.cpp.
#include <cmath>

#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/variants.h"
#include "engine/cpu/window/narrow_positions.h"
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
void store(const KernelArguments& arguments, const OutputElement& element, const Norm<Bounded>& norm) {
    movement::store_computed(*arguments.outputs[0], element.address, element.number, norm.value(),
                             movement::wanted_slack(arguments),
                             [&] { return root_in_fp32(norm.bounds.result(), norm.p); });
}

/// Calls use.template operator()<Bounded>(windows, P).
template <class Use>
void with_windows(const KernelArguments& arguments, const Use& use) {
    const Windows windows =
        Windows::of_pooling(arguments.descriptor, arguments.inputs[0]->desc, arguments.outputs[0]->desc);
    const double p = arguments.descriptor.uint("P");
    if (movement::wanted_slack(arguments) != nullptr) {
        use.template operator()<true>(windows, p);
    } else {
        use.template operator()<false>(windows, p);
    }
}

void pool(const KernelArguments& arguments) {
    with_windows(arguments, [&]<bool Bounded>(const Windows& windows, double p) {
        window::slide<double>(
            windows, *arguments.inputs[0], arguments.outputs[0]->desc, window::always(Norm<Bounded>{p}),
            [&](const OutputElement& element, const Norm<Bounded>& norm) { store(arguments, element, norm); });
    });
}

void pool_in_32_bits(const KernelArguments& arguments) {
    with_windows(arguments, [&]<bool Bounded>(const Windows& windows, double p) {
        window::slide_narrowly<double>(
            windows, *arguments.inputs[0], arguments.outputs[0]->desc, window::always(Norm<Bounded>{p}),
            [&](const OutputElement& element, const auto& window) { store(arguments, element, window.state()); });
    });
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
        rows.push_back({.name = name, .compute = pool, .tolerance = tolerance});
    }
    return rows;
}

}  // namespace dmlconform::cpu::lp_kernels

namespace dmlconform::cpu::variants_of_kernels {

void lp_pooling_in_32_bits(const KernelArguments& arguments) {
    lp_kernels::pool_in_32_bits(arguments);
}

}  // namespace dmlconform::cpu::variants_of_kernels
