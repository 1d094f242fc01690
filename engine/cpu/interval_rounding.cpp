// Numbers beyond FP32's range, where its exponent counts as unlimited.
#include "engine/cpu/interval_rounding.h"

namespace dmlconform::cpu::rounding {

double down_outside(double x) {
    if (!std::isfinite(x)) {
        return x;
    }
    if (x < beyond) {
        return x < 0 ? -infinity : largest;
    }
    int exponent = 0;
    const double mantissa = std::frexp(x, &exponent);
    return std::ldexp(down(mantissa), exponent);
}

}  // namespace dmlconform::cpu::rounding
