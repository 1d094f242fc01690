// Converts elements segment by segment, so that each conversion is a loop over arrays of one type.
#include "engine/cpu/element_wise/load_store.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "engine/core/element.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::element_wise {
namespace {

/// True if several elements share a byte; these are processed one by one.
bool shares_bytes(core::DataType type) {
    return core::bytes_of(type) == 0;
}

/// The integer value of the bits.
std::int64_t signed_value(core::DataType type, std::uint64_t bits) {
    const unsigned unused = 64 - core::bits_of(type);
    return core::is_signed_integer(type) ? static_cast<std::int64_t>(bits << unused) >> unused
                                         : static_cast<std::int64_t>(bits);
}

/// Converts a double to an integer type: NaN becomes 0, and numbers out of range are clamped.
template <class T>
T clamped(double value) {
    constexpr auto least = static_cast<double>(std::numeric_limits<T>::lowest());
    constexpr auto greatest = static_cast<double>(std::numeric_limits<T>::max());
    if (std::isnan(value)) {
        return 0;
    }
    // The largest 64-bit integers are not exact as doubles, but the number above them is.
    return value <= least      ? std::numeric_limits<T>::lowest()
           : value >= greatest ? std::numeric_limits<T>::max()
                               : static_cast<T>(value);
}

template <class Number>
void load_as(std::span<const std::byte> memory, const Segment& from, std::size_t count, Number* to) {
    if (shares_bytes(from.type)) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto at = static_cast<std::uint64_t>(from.first + static_cast<std::int64_t>(i) * from.stride);
            to[i] = Number(signed_value(from.type, core::load_element(memory, from.type, at)));
        }
        return;
    }
    core::with_type(from.type, [&]<class T>() {
        const T* const source = reinterpret_cast<const T*>(memory.data()) + from.first;
        const auto number = [](T element) {
            if constexpr (std::is_same_v<Number, double>) {
                return static_cast<double>(element);
            } else if constexpr (std::is_integral_v<T>) {
                return Number(element);
            } else {
                return Number(clamped<decltype(Number::value)>(static_cast<double>(element)));
            }
        };
        if (from.stride == 0) {
            std::fill(to, to + count, number(*source));
        } else if (from.stride == 1) {
            const auto load_all = [&] { std::transform(source, source + count, to, number); };
            if constexpr (std::is_same_v<Number, double>) {
                in_wide_registers(load_all);
            } else {
                load_all();
            }
        } else {
            for (std::size_t i = 0; i < count; ++i) {
                to[i] = number(source[static_cast<std::int64_t>(i) * from.stride]);
            }
        }
    });
}

/// The unsigned type of the same width.
core::DataType bits_type(core::DataType type) {
    switch (core::bytes_of(type)) {
        case 1:
            return core::DataType::uint8;
        case 2:
            return core::DataType::uint16;
        case 4:
            return core::DataType::uint32;
        case 8:
            return core::DataType::uint64;
        default:
            return type;
    }
}

template <class T>
T converted(double value, Store how) {
    if constexpr (std::is_same_v<T, core::Float16>) {
        return core::Float16(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value);
    } else {
        return clamped<T>(how == Store::rounding ? std::nearbyint(value) : value);
    }
}

/// Reads bits as a number with the signedness of T, and clamps it to T's range.
template <class T>
T clamped_bits(std::uint64_t bits, unsigned width) {
    if constexpr (std::is_signed_v<T>) {
        const auto value = static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
        return static_cast<T>(
            std::clamp<std::int64_t>(value, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
    } else {
        const std::uint64_t value = width == 64 ? bits : bits & 0xffffffffu;
        return static_cast<T>(std::min<std::uint64_t>(value, std::numeric_limits<T>::max()));
    }
}

template <class T, class Word>
T converted(Wrapping<Word> value, Store how) {
    if constexpr (std::is_same_v<T, core::Float16>) {
        // Exact as far as FLOAT16 can tell: integers that FLOAT16 distinguishes are doubles.
        return core::Float16(static_cast<double>(value.value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return static_cast<T>(value.value);
    } else if (how == Store::wrapping || sizeof(T) == 8) {
        return static_cast<T>(value.value);
    } else {
        // Measured on DirectML 1.15.4: the source is in a 32-bit register, which is read with the target's signedness
        // and then clamped. The same holds for 64-bit sources.
        const bool wide =
            how == Store::converting &&
            (std::is_signed_v<Word> ? value.value != static_cast<Word>(static_cast<std::int32_t>(value.bits()))
                                    : value.bits() > 0xffffffffu);
        return clamped_bits<T>(value.bits(), wide ? 64 : 32);
    }
}

template <class Number>
void store_as(std::span<std::byte> memory, const Segment& to, std::size_t count, const Number* from, Store how) {
    if (shares_bytes(to.type)) {
        const double least = to.type == core::DataType::int4 ? -8 : 0;
        const double greatest = to.type == core::DataType::int4 ? 7 : 15;
        for (std::size_t i = 0; i < count; ++i) {
            const auto at = static_cast<std::uint64_t>(to.first + static_cast<std::int64_t>(i) * to.stride);
            double value = 0;
            if constexpr (std::is_same_v<Number, double>) {
                value = std::isnan(from[i]) ? 0 : how == Store::rounding ? std::nearbyint(from[i]) : from[i];
            } else {
                value = static_cast<double>(from[i].value);
            }
            const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(std::clamp(value, least, greatest)));
            core::store_element(memory, to.type, at, bits & 0xf);
        }
        return;
    }
    core::with_type(to.type, [&]<class T>() {
        T* const target = reinterpret_cast<T*>(memory.data()) + to.first;
        if (to.stride == 1) {
            const auto store_all = [&] {
                std::transform(from, from + count, target,
                               [&](const Number& value) { return converted<T>(value, how); });
            };
            if constexpr (std::is_same_v<Number, double> && (std::is_same_v<T, float> || std::is_same_v<T, double>)) {
                in_wide_registers(store_all);
            } else {
                store_all();
            }
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            target[static_cast<std::int64_t>(i) * to.stride] = converted<T>(from[i], how);
        }
    });
}

/// Rounds to the nearest number. Ties go away from zero.
double half_nearest(double x) {
    const core::Float16 nearest(x);
    const core::Float16 next = core::Float16::from_bits(static_cast<std::uint16_t>(nearest.bits + 1));
    const double magnitude = std::fabs(x);
    const double below = std::fabs(static_cast<double>(nearest));
    const double above = std::fabs(static_cast<double>(next));
    return static_cast<double>(below < magnitude && magnitude - below == above - magnitude ? next : nearest);
}

double half_towards_zero(double x) {
    const core::Float16 nearest(x);
    // The bits of larger magnitudes are larger. Below infinity is the largest number.
    const bool is_beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(x);
    return static_cast<double>(
        core::Float16::from_bits(static_cast<std::uint16_t>(nearest.bits - (is_beyond ? 1 : 0))));
}

Segment as_bits(Segment segment) {
    segment.type = bits_type(segment.type);
    return segment;
}

}  // namespace

void load(std::span<const std::byte> memory, const Segment& from, std::size_t count, double* to) {
    load_as(memory, from, count, to);
}
void load(std::span<const std::byte> memory, const Segment& from, std::size_t count, Signed* to) {
    load_as(memory, from, count, to);
}
void load(std::span<const std::byte> memory, const Segment& from, std::size_t count, Unsigned* to) {
    load_as(memory, from, count, to);
}
void load_bits(std::span<const std::byte> memory, const Segment& from, std::size_t count, Unsigned* to) {
    load_as(memory, as_bits(from), count, to);
}

void store(std::span<std::byte> memory, const Segment& to, std::size_t count, const double* from, Store how) {
    store_as(memory, to, count, from, how);
}
void store(std::span<std::byte> memory, const Segment& to, std::size_t count, const Signed* from, Store how) {
    store_as(memory, to, count, from, how);
}
void store(std::span<std::byte> memory, const Segment& to, std::size_t count, const Unsigned* from, Store how) {
    store_as(memory, to, count, from, how);
}
void store_bits(std::span<std::byte> memory, const Segment& to, std::size_t count, const Unsigned* from) {
    store_as(memory, as_bits(to), count, from, Store::wrapping);
}

double stored_value(core::DataType type, double value, Store how) {
    if (shares_bytes(type)) {
        const bool is_signed = type == core::DataType::int4;
        const double whole = std::isnan(value) ? 0 : std::nearbyint(value);
        return std::clamp(whole, is_signed ? -8.0 : 0.0, is_signed ? 7.0 : 15.0);
    }
    return core::with_type(type, [&]<class T>() { return static_cast<double>(converted<T>(value, how)); });
}

Interval stored_range(core::DataType type, const Interval& results, Store how) {
    if (!results.has_numbers() && results.nan && !core::is_floating_point(type)) {
        return stored_value(type, std::numeric_limits<double>::quiet_NaN(), how);
    }
    if (!results.has_numbers() || core::is_floating_point(type)) {
        if (type != core::DataType::float16 || !results.has_numbers()) {
            return results;
        }
        const double low = results.low > 0 ? half_towards_zero(results.low) : half_nearest(results.low);
        const double high = results.high < 0 ? half_towards_zero(results.high) : half_nearest(results.high);
        const double variance = low == high ? 0 : results.variance + float16_rounding_variance(results.value);
        return {low, high, results.nan, results.value, variance};
    }
    // Integers are exact, unless the interval contains several of them: then each may be stored.
    const double low = stored_value(type, results.low, how);
    const double high = stored_value(type, results.high, how);
    const Interval range{low, high, false, stored_value(type, results.value, how), low == high ? 0 : Interval::unknown};
    return results.nan ? hull(range, {stored_value(type, std::numeric_limits<double>::quiet_NaN(), how)}) : range;
}

Interval maybe_stored(core::DataType type, const Interval& result, Store how) {
    const Interval stored = stored_range(type, result, how);
    Interval either = hull(result, stored);
    // Even where there is one number alone to store, that is not the result.
    if (type == core::DataType::float16 && stored.low == stored.high && stored.low != result.value) {
        either.variance = result.variance + float16_rounding_variance(result.value);
    }
    return either;
}

}  // namespace dmlconform::cpu::element_wise
