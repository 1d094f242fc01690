// Sums and products of many terms: their values, and the ranges of what implementations may compute with another order
// of terms.
//
// A tolerance counts the roundings of the worst order: n terms need n - 1 operations, each of which may round towards
// zero. The error of an addition is 2^-23 of a partial sum, which is at most the sum of all positive or of all negative
// terms. If every partial sum is an FP32 number, all orders are exact.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/cpu/element_wise/numbers.h"

namespace dmlconform::cpu::reduction {

/// Terms that may be added in any order use this number of totals in rotation.
struct AnyOrder {
    static constexpr std::size_t lanes = 8;
};

/// For minimum and maximum: with fewer totals GCC does not vectorise the loop.
struct AnyOrderOfMany {
    static constexpr std::size_t lanes = 32;
};

template <class Number>
struct Sum : AnyOrder {
    /// A type with the same result if all terms are FP32 numbers.
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

/// A product of real numbers with a separate exponent: it may leave the range of doubles and return.
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

/// The smallest (largest) number. NaN is ignored unless all numbers are NaN; then the result is the value of the empty
/// set.
template <class Number>
struct Least : AnyOrderOfMany {
    using OfFloats = Least<float>;

    Number value = of_none();

    void add(Number term) {
        if constexpr (std::is_floating_point_v<Number>) {
            // `value` is never NaN, so a single selection is sufficient.
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
            // `value` is never NaN, so a single selection is sufficient.
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

/// A number as an odd integer times a power of two.
struct Digits {
    int exponent = 0;
    int count = 0;
};

/// The number must be finite and not 0.
[[nodiscard]] Digits digits_of(double number);

/// The maximum relative error after this number of operations, each of which rounds once.
[[nodiscard]] double error_after(std::int64_t roundings);

/// The range of a sum in FP32.
class SumRange {
public:
    void add(const Interval& term);
    [[nodiscard]] Interval result() const;

private:
    /// Whether a sum may overflow in that direction.
    struct Overflow {
        bool certain = false;
        bool possible = false;
    };

    void note_digits(const Interval& term);
    [[nodiscard]] bool is_exact() const;
    [[nodiscard]] double largest_sum() const;
    [[nodiscard]] double error() const;
    [[nodiscard]] double variance(double error) const;

    std::int64_t count_ = 0;
    double low_ = 0;
    double high_ = 0;
    /// The exact sum of the terms, the sum of their squares, and the sum of their variances.
    double value_ = 0;
    double squares_ = 0;
    /// The sum of the squared partial sums, in the order in which terms were added.
    double partial_squares_ = 0;
    double variance_of_terms_ = 0;
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

/// The range of a product in FP32.
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
    /// Base-2 logarithms of the product of all factors above 1, and of those below.
    double above_one_ = 0;
    double below_one_ = 0;
    /// The number of significant bits of all factors together. Products are exact if FP32 can hold them.
    int digits_ = 0;
    bool nan_ = false;
    bool infinity_ = false;
    bool zero_ = false;
};

}  // namespace dmlconform::cpu::reduction
