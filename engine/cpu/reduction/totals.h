// Sums and products of many terms: their values, and what implementations may have that take the terms in another
// order.
//
// A tolerance counts the roundings of the worst order: with n terms, n - 1 operations, each of which may round towards
// zero. An addition is off by 2^-23 of a partial sum, which is no larger than the sum of all positive terms, or that of
// all negative ones. Where every partial sum is an FP32 number, nothing is rounded in any order.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/cpu/element_wise/numbers.h"

namespace dmlconform::cpu::reduction {

/// Terms that may come in any order are added to so many totals in turn.
struct AnyOrder {
    static constexpr std::size_t lanes = 8;
};

/// Selections: of fewer totals GCC makes no vectors.
struct AnyOrderOfMany {
    static constexpr std::size_t lanes = 32;
};

template <class Number>
struct Sum : AnyOrder {
    /// What has the same result if the terms are FP32 numbers.
    using OfFloats = Sum;

    Number value = 0;

    void add(Number term) { value = value + term; }
    void join(const Sum& other) { value = value + other.value; }
    [[nodiscard]] Number result() const { return value; }
};

template <class Number>
struct Product : AnyOrder {
    Number value = 1;

    void add(Number term) { value = value * term; }
    void join(const Product& other) { add(other.value); }
    [[nodiscard]] Number result() const { return value; }
};

/// Of real numbers, with an exponent of its own: a product of FP32 numbers may leave the range of doubles and come
/// back.
template <>
struct Product<double> : AnyOrder {
    double value = 1;
    std::int64_t exponent = 0;

    void add(double term) {
        value *= term;
        if (const double magnitude = std::fabs(value); !(magnitude > 0x1p-500 && magnitude < 0x1p500)) {
            rescale();
        }
    }
    void join(const Product& other) {
        exponent += other.exponent;
        add(other.value);
    }
    [[nodiscard]] double result() const;

private:
    void rescale();
};

/// The least (greatest) of numbers, NaN passed over. Nothing but NaN: the value of none.
template <class Number>
struct Least : AnyOrderOfMany {
    using OfFloats = Least<float>;

    Number value = of_none();

    void add(Number term) {
        if constexpr (std::is_floating_point_v<Number>) {
            // The value is never NaN: one selection is enough.
            value = term < value ? term : value;
        } else {
            value = min(value, term);
        }
    }
    void join(const Least& other) { add(other.value); }
    [[nodiscard]] Number result() const { return value; }

    [[nodiscard]] static Number of_none() {
        if constexpr (std::is_floating_point_v<Number>) {
            return std::numeric_limits<Number>::infinity();
        } else {
            return std::numeric_limits<decltype(Number::value)>::max();
        }
    }
};

template <class Number>
struct Greatest : AnyOrderOfMany {
    using OfFloats = Greatest<float>;

    Number value = of_none();

    void add(Number term) {
        if constexpr (std::is_floating_point_v<Number>) {
            // The value is never NaN: one selection is enough.
            value = value < term ? term : value;
        } else {
            value = max(value, term);
        }
    }
    void join(const Greatest& other) { add(other.value); }
    [[nodiscard]] Number result() const { return value; }

    [[nodiscard]] static Number of_none() {
        if constexpr (std::is_floating_point_v<Number>) {
            return -std::numeric_limits<Number>::infinity();
        } else {
            return std::numeric_limits<decltype(Number::value)>::lowest();
        }
    }
};

/// A number is an odd integer times a power of two.
struct Digits {
    int exponent = 0;
    int count = 0;
};

/// Of a finite number other than 0.
[[nodiscard]] Digits digits_of(double number);

/// How far the result of so many operations may be off, as a part of it, each of which rounds once.
[[nodiscard]] double error_after(std::int64_t roundings);

/// What a sum in FP32 may come to.
class SumRange {
public:
    void add(const Interval& term);
    [[nodiscard]] Interval result() const;

private:
    /// Whether a sum is infinite in that direction.
    struct Overflow {
        bool certain = false;
        bool possible = false;
    };

    void note_digits(const Interval& term);
    [[nodiscard]] bool is_exact() const;
    [[nodiscard]] double largest_sum() const;
    [[nodiscard]] double error() const;

    std::int64_t count_ = 0;
    double low_ = 0;
    double high_ = 0;
    /// The sums of the largest magnitudes that positive and negative terms may have.
    double positive_ = 0;
    double negative_ = 0;
    Overflow upwards_;
    Overflow downwards_;
    bool nan_ = false;
    bool only_nan_ = false;
    /// All terms are multiples of 2 to this power, unless one of them is not known exactly.
    int common_exponent_ = 1024;
    bool known_ = true;
};

/// What a product in FP32 may come to.
class ProductRange {
public:
    void add(double factor);
    [[nodiscard]] Interval result() const;

private:
    [[nodiscard]] Interval magnitude() const;
    [[nodiscard]] bool may_overflow() const;
    [[nodiscard]] bool may_underflow() const;

    std::int64_t count_ = 0;
    Product<double> product_;
    /// Base-2 logarithms of what the factors above 1 make together, and those below.
    double above_one_ = 0;
    double below_one_ = 0;
    /// Significant digits of all factors together: as long as FP32 holds them, no product is rounded.
    int digits_ = 0;
    bool nan_ = false;
    bool infinity_ = false;
    bool zero_ = false;
};

}  // namespace dmlconform::cpu::reduction
