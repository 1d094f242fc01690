// Functions of one or two real numbers, and rounding. Equals definitions/element_wise.cpp.
#include "engine/cpu/element_wise/machine.h"
#include "engine/operators/enumerations.h"

namespace dmlconform::cpu::functions_kernels {
namespace {

using namespace element_wise;

/// TOWARD_INFINITY rounds to nearest, with halves away from 0.
template <class T>
T rounded_by(T x, T mode) {
    using operators::RoundingMode;
    return select(is_mode(mode, RoundingMode::halves_to_nearest_even), round_half_even(x),
                  select(is_mode(mode, RoundingMode::toward_zero), trunc(x), round_half_away(x)));
}

}  // namespace

Kernels kernels() {
    return kernels_of({
        unary<Real>("ELEMENT_WISE_CEIL", [](auto x) { return ceil(x); }),
        unary<Real>("ELEMENT_WISE_FLOOR", [](auto x) { return floor(x); }),
        unary<Real>("ELEMENT_WISE_ROUND", [](auto x, auto& p) { return rounded_by(x, p[0]); }),
        unary<Real>("ELEMENT_WISE_SQRT", [](auto x) { return sqrt(x); }),
        unary<Real>("ELEMENT_WISE_EXP", [](auto x) { return exp(x); }),
        unary<Real>("ELEMENT_WISE_LOG", [](auto x) { return log(x); }),
        unary<Real>("ELEMENT_WISE_SIN", [](auto x) { return sin(x); }),
        unary<Real>("ELEMENT_WISE_COS", [](auto x) { return cos(x); }),
        unary<Real>("ELEMENT_WISE_TAN", [](auto x) { return tan(x); }),
        unary<Real>("ELEMENT_WISE_ASIN", [](auto x) { return asin(x); }),
        unary<Real>("ELEMENT_WISE_ACOS", [](auto x) { return acos(x); }),
        unary<Real>("ELEMENT_WISE_ATAN", [](auto x) { return atan(x); }),
        binary<Real>("ELEMENT_WISE_ATAN_YX", [](auto y, auto x) { return atan2(y, x); }),
        unary<Real>("ELEMENT_WISE_SINH", [](auto x) { return sinh(x); }),
        unary<Real>("ELEMENT_WISE_COSH", [](auto x) { return cosh(x); }),
        unary<Real>("ELEMENT_WISE_TANH", [](auto x) { return tanh(x); }),
        unary<Real>("ELEMENT_WISE_ASINH", [](auto x) { return asinh(x); }),
        unary<Real>("ELEMENT_WISE_ACOSH", [](auto x) { return acosh(x); }),
        unary<Real>("ELEMENT_WISE_ATANH", [](auto x) { return atanh(x); }),
        unary<Real>("ELEMENT_WISE_ERF", [](auto x) { return erf(x); }),
    });
}

}  // namespace dmlconform::cpu::functions_kernels
