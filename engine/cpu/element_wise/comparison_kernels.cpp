// Comparisons, selection and logical operators. What comments say about DirectML 1.15.4 is undocumented and was
// measured on it. Equals definitions/element_wise.cpp.
#include <cstdint>

#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/variants.h"
#include "engine/operators/enumerations.h"

namespace dmlconform::cpu::comparison_kernels {
namespace {

using namespace element_wise;

/// Measured on DirectML 1.15.4: NaN becomes a bound, and Min wins if it is above Max.
template <class T>
T clipped(T x, T least, T greatest) {
    return max(least, min(x, greatest));
}

/// The gradient if Min < x < Max, otherwise 0.
template <class T>
T clip_gradient(T x, T gradient, T least, T greatest) {
    return select(least < x && x < greatest, gradient, T(0));
}

// Measured on DirectML 1.15.4: 64-bit integers with the same high half are compared by their low halves as INT32.
template <class T>
auto is_less_by_halves(T a, T b) {
    return a < b;
}

inline bool is_less_by_halves(Signed a, Signed b) {
    const bool is_decided_by_low = a.value >> 32 == b.value >> 32;
    return is_decided_by_low ? static_cast<std::int32_t>(a.value) < static_cast<std::int32_t>(b.value) : a < b;
}

template <class T>
T clipped_by_halves(T x, T least, T greatest) {
    const T lesser = select(is_less_by_halves(x, greatest), x, greatest);
    return select(is_less_by_halves(lesser, least), least, lesser);
}

template <class T>
T clip_gradient_by_halves(T x, T gradient, T least, T greatest) {
    return select(is_less_by_halves(least, x) && is_less_by_halves(x, greatest), gradient, T(0));
}

template <class T>
auto is_infinity_of(T x, T mode) {
    using Mode = operators::IsInfinityMode;
    return is_infinite(x) && (is_mode(mode, Mode::either) || (is_mode(mode, Mode::positive) && x > T(0)) ||
                              (is_mode(mode, Mode::negative) && x < T(0)));
}

}  // namespace

Kernels kernels() {
    return kernels_of({
        binary<AnyNumber>("ELEMENT_WISE_LOGICAL_EQUALS", [](auto a, auto b) { return a == b; }),
        binary<AnyNumber>("ELEMENT_WISE_LOGICAL_GREATER_THAN", [](auto a, auto b) { return a > b; }),
        binary<AnyNumber>("ELEMENT_WISE_LOGICAL_LESS_THAN", [](auto a, auto b) { return a < b; }),
        binary<AnyNumber>("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", [](auto a, auto b) { return a >= b; }),
        binary<AnyNumber>("ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", [](auto a, auto b) { return a <= b; }),
        binary<Integer>("ELEMENT_WISE_LOGICAL_AND", [](auto a, auto b) { return a.value != 0 && b.value != 0; }),
        binary<Integer>("ELEMENT_WISE_LOGICAL_OR", [](auto a, auto b) { return a.value != 0 || b.value != 0; }),
        binary<Integer>("ELEMENT_WISE_LOGICAL_XOR", [](auto a, auto b) { return (a.value != 0) != (b.value != 0); }),
        unary<Integer>("ELEMENT_WISE_LOGICAL_NOT", [](auto x) { return x.value == 0; }),
        unary<Real>("ELEMENT_WISE_IS_NAN", [](auto x) { return is_nan(x); }),
        unary<Real>("ELEMENT_WISE_IS_INFINITY", [](auto x, auto& p) { return is_infinity_of(x, p[0]); }),
        binary<AnyNumber>("ELEMENT_WISE_MIN", [](auto a, auto b) { return min(a, b); }),
        binary<AnyNumber>("ELEMENT_WISE_MAX", [](auto a, auto b) { return max(a, b); }),
        unary<AnyNumber>("ELEMENT_WISE_CLIP", [](auto x, auto& p) { return clipped(x, p[0], p[1]); }),
        unary<AnyNumber>("ELEMENT_WISE_CLIP1", [](auto x, auto& p) { return clipped(x, p[0], p[1]); }),
        binary<AnyNumber>("ELEMENT_WISE_CLIP_GRAD",
                          [](auto x, auto gradient, auto& p) { return clip_gradient(x, gradient, p[0], p[1]); }),
        binary<AnyNumber>("ELEMENT_WISE_CLIP_GRAD1",
                          [](auto x, auto gradient, auto& p) { return clip_gradient(x, gradient, p[0], p[1]); }),
        unary<AnyNumber>("ELEMENT_WISE_THRESHOLD", [](auto x, auto& p) { return max(x, p[0]); }),
        unary<AnyNumber>("ELEMENT_WISE_SIGN",
                         [](auto x) {
                             using T = decltype(x);
                             return select(x < T(0), T(-1), select(x > T(0), T(1), T(0)));
                         }),
        ternary<Integer>("ELEMENT_WISE_IF",
                         [](auto condition, auto a, auto b) { return select(condition.value != 0, a, b); })
            .taking(Operands::as_bits),
    });
}

}  // namespace dmlconform::cpu::comparison_kernels

namespace dmlconform::cpu::variants_of_kernels {

using comparison_kernels::clip_gradient_by_halves;
using comparison_kernels::clipped_by_halves;

void clip_by_halves(const KernelArguments& arguments) {
    static const element_wise::Row row = element_wise::unary<element_wise::AnyNumber>(
        "ELEMENT_WISE_CLIP", [](auto x, auto& p) { return clipped_by_halves(x, p[0], p[1]); });
    element_wise::compute(row, arguments);
}

void clip_grad_by_halves(const KernelArguments& arguments) {
    static const element_wise::Row row = element_wise::binary<element_wise::AnyNumber>(
        "ELEMENT_WISE_CLIP_GRAD",
        [](auto x, auto gradient, auto& p) { return clip_gradient_by_halves(x, gradient, p[0], p[1]); });
    element_wise::compute(row, arguments);
}

}  // namespace dmlconform::cpu::variants_of_kernels
