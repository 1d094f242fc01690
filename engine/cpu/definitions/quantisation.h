// How real numbers become quantised ones.
#pragma once

#include "engine/cpu/definitions/call.h"
#include "engine/cpu/element_wise/load_store.h"

namespace dmlconform::cpu::definitions {

/// The smallest number of an integer type of up to 32 bits.
inline double lowest_of(core::DataType type) {
    return core::is_signed_integer(type) ? -std::ldexp(1.0, static_cast<int>(core::bits_of(type)) - 1) : 0;
}
/// The largest one.
inline double highest_of(core::DataType type) {
    return lowest_of(type) + std::ldexp(1.0, static_cast<int>(core::bits_of(type))) - 1;
}

/// round(x) + zero point, clamped to the type's range. Halves are rounded to even, as measured on DirectML 1.15.4. The
/// product of 0 and an infinite scale, which is NaN, counts as 0.
template <class Real>
Real quantised(const Real& x, const Real& zero_point, core::DataType type) {
    const Real rounded = round_half_even(select(is_nan(x), Real(0), x)) + zero_point;
    return min(max(rounded, Real(lowest_of(type))), Real(highest_of(type)));
}

/// The same, where NaN becomes the lowest number of the type, as measured on DirectML 1.15.4.
template <class Real>
Real nan_is_lowest(const Real& x, const Real& zero_point, core::DataType type) {
    return is_nan(x) ? Real(lowest_of(type)) : quantised(x, zero_point, type);
}

/// A number that is truncated and clamped to an integer type, as by CAST.
inline double converted(double x, core::DataType type) {
    return element_wise::stored_value(type, x, Store::converting);
}
inline Estimate converted(const Estimate& x, core::DataType type) {
    return function_of(x, 0, [type](double number) { return converted(number, type); });
}
inline Rounded converted(Rounded x, core::DataType type) {
    return converted(double{x.value}, type);
}
inline Ranged converted(const Ranged& x, core::DataType type) {
    return element_wise::stored_range(type, x.range, Store::converting);
}

/// The same as an integer, which doubles cannot hold at the upper ends of 64-bit types.
template <class Integer>
Integer clamped_integer(double x, core::DataType type) {
    const double number = converted(x, type);
    using Limits = std::numeric_limits<decltype(Integer::value)>;
    return number >= std::ldexp(1.0, Limits::digits) ? Integer(Limits::max()) : Integer(number);
}

}  // namespace dmlconform::cpu::definitions
