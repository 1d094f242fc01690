// Definition of an element-wise operator: a formula, and the number types that it supports.
//
//   binary<AnyNumber>("ELEMENT_WISE_ADD", [](auto a, auto b) { return a + b; })
//   unary<Real>("ACTIVATION_ELU", [](auto x, auto& p) { return select(x >= 0, x, p[0] * expm1(x)); })
//
// The parameters of a formula are the elements of the input tensors in the order of the struct (an absent one is zero)
// and, optionally, a Context with the attributes. It returns a number, a truth value (stored as 1 or 0), or an array
// with a number for each output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/cpu/accepted_eights.h"
#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::element_wise {

inline constexpr std::size_t most_attributes = 4;

/// Inputs of a formula other than elements.
template <class T>
struct Context {
    /// The numeric attributes of the operator, in the order of its struct.
    std::array<T, most_attributes> attributes{};
    /// True if the first output is FLOAT16.
    bool output_is_half = false;
    /// Bits of an element of the first input and of the first output.
    unsigned input_bits = 0;
    unsigned output_bits = 0;
    bool input_is_signed = false;
    bool output_is_signed = false;
    /// For each optional input, whether it is present.
    std::array<bool, 9> present{};
    /// The smallest and the largest number of the first output's type, if that is an integer type.
    T lowest{};
    T highest{};

    [[nodiscard]] const T& operator[](std::size_t i) const { return attributes[i]; }
};

/// Evaluates a formula on arrays: in[i][k] is element k of input i.
template <class T>
using Loop = void (*)(std::span<const T* const> in, std::span<T* const> out, std::size_t count,
                      const Context<T>& context);

/// Evaluates a formula on contiguous FLOAT32 elements and writes one output directly. Without intermediate arrays
/// simple formulas are as fast as the memory.
using DirectLoop = void (*)(std::span<const float* const> in, float* out, std::size_t count,
                            const Context<double>& context);

/// Stores the slack of consecutive FP32 elements, for which the reference computed `values`, by evaluating a formula on
/// EightIntervals. one(i) stores the slack of one element by evaluating it on Interval.
using SlackLoop = void (*)(std::span<const double* const> in, std::span<const double> values, core::ElementSlack& slack,
                           std::size_t first, const std::function<void(std::size_t)>& one);

/// The number type in which input elements are loaded.
enum class Operands : std::uint8_t {
    by_type,  // double if an input has a floating-point type, otherwise integers
    as_real,  // double
    as_bits,  // Unsigned, holding the bits of the elements, whatever their type
};

/// How results that an integer output cannot represent are stored.
enum class Store : std::uint8_t {
    wrapping,    // keeps the low bits; doubles are truncated and clamped
    clamping,    // as Direct3D stores integers: wrapped to 32 bits, then clamped
    converting,  // as CAST: see store_converted
    rounding,    // rounds doubles to nearest even, then clamps
};

struct Row {
    std::string_view name;
    std::size_t inputs = 1;
    std::size_t outputs = 1;
    Operands operands = Operands::by_type;
    Store store = Store::wrapping;
    Loop<double> real = nullptr;
    DirectLoop direct = nullptr;
    Loop<Interval> interval = nullptr;
    /// Null unless the formula can be evaluated on eight intervals at a time.
    SlackLoop slack = nullptr;
    Loop<Signed> signed_integer = nullptr;
    Loop<Unsigned> unsigned_integer = nullptr;

    [[nodiscard]] Row stored(Store how) const {
        Row row = *this;
        row.store = how;
        return row;
    }
    [[nodiscard]] Row taking(Operands what) const {
        Row row = *this;
        row.operands = what;
        return row;
    }
};

/// The number types that a formula supports.
struct Real {
    static constexpr bool real = true;
    static constexpr bool integer = false;
};
struct Integer {
    static constexpr bool real = false;
    static constexpr bool integer = true;
};
struct AnyNumber {
    static constexpr bool real = true;
    static constexpr bool integer = true;
};
/// Real numbers whose intervals can be computed eight at a time: see EightIntervals for the operations that exist.
template <class Numbers>
struct InEights : Numbers {};

/// Whether an attribute, which kernels get as a number, has this enumerator.
template <class T, class Enumerators>
auto is_mode(const T& attribute, Enumerators mode) {
    return attribute == T(static_cast<int>(mode));
}

namespace detail {

template <class T>
T as_number(const T& value) {
    return value;
}
template <class T>
T as_number(bool truth) requires(!std::is_same_v<T, bool>) {
    return truth ? T(1) : T(0);
}
template <class T>
Interval as_number(Choice choice) {
    return select(choice, Interval(1), Interval(0));
}

/// Expands to T for each of N parameters.
template <class T, std::size_t>
using Repeat = T;

template <class F, class T, class... Elements>
auto evaluate(const Context<T>& context, const Elements&... elements) {
    if constexpr (requires { &F::template operator()<Elements..., const Context<T>>; }) {
        return F{}(elements..., context);
    } else {
        return F{}(elements...);
    }
}

template <class F, class T, std::size_t... I>
void loop(std::span<const T* const> in, std::span<T* const> out, std::size_t count, const Context<T>& context) {
    const std::array<const T*, sizeof...(I)> inputs{in[I]...};
    using Result = decltype(evaluate<F, T, Repeat<T, I>...>(context, inputs[I][0]...));
    if constexpr (requires { std::tuple_size<Result>::value; }) {
        for (std::size_t k = 0; k < count; ++k) {
            const Result results = evaluate<F, T, Repeat<T, I>...>(context, inputs[I][k]...);
            for (std::size_t o = 0; o < results.size(); ++o) {
                out[o][k] = results[o];
            }
        }
    } else {
        T* const result = out[0];
        for (std::size_t k = 0; k < count; ++k) {
            result[k] = as_number<T>(evaluate<F, T, Repeat<T, I>...>(context, inputs[I][k]...));
        }
    }
}

/// `is_simple` if the formula is so short that compilers vectorise it.
template <class F, bool is_simple, std::size_t... I>
void direct_loop(std::span<const float* const> in, float* out, std::size_t count, const Context<double>& context) {
    const std::array<const float*, sizeof...(I)> inputs{in[I]...};
    const auto each = [&] {
        for (std::size_t k = 0; k < count; ++k) {
            out[k] = static_cast<float>(as_number<double>(
                evaluate<F, double, Repeat<double, I>...>(context, static_cast<double>(inputs[I][k])...)));
        }
    };
    if constexpr (is_simple) {
        in_wide_registers(each);
    } else {
        each();
    }
}

template <class Numbers>
inline constexpr bool are_in_eights = false;
template <class Numbers>
inline constexpr bool are_in_eights<InEights<Numbers>> = true;

#if DMLCONFORM_HAS_WIDE_REGISTERS
template <class F, std::size_t... I>
void slack_loop(std::span<const double* const> in, std::span<const double> values, core::ElementSlack& slack,
                std::size_t first, const std::function<void(std::size_t)>& one) {
    const std::array<const double*, sizeof...(I)> inputs{in[I]...};
    note_accepted_eights(
        slack, first, values,
        [inputs] {
            return [inputs](std::size_t i, Seen& seen) { return F{}(EightIntervals(inputs[I] + i, seen)...); };
        },
        one);
}
#endif

template <class Numbers, std::size_t Outputs, class F, std::size_t... I>
Row row_of(std::string_view name, std::index_sequence<I...> /*inputs*/) {
    Row row{.name = name, .inputs = sizeof...(I), .outputs = Outputs};
    if constexpr (Numbers::real) {
        row.real = loop<F, double, I...>;
        row.interval = loop<F, Interval, I...>;
#if DMLCONFORM_HAS_WIDE_REGISTERS
        if constexpr (are_in_eights<Numbers>) {
            row.slack = slack_loop<F, I...>;
        }
#endif
        if constexpr (Outputs == 1) {
            row.direct = direct_loop<F, are_in_eights<Numbers>, I...>;
        }
    }
    if constexpr (Numbers::integer) {
        row.signed_integer = loop<F, Signed, I...>;
        row.unsigned_integer = loop<F, Unsigned, I...>;
    }
    return row;
}

}  // namespace detail

template <class Numbers, std::size_t Inputs, std::size_t Outputs = 1, class F>
Row formula(std::string_view name, F /*formula*/) {
    return detail::row_of<Numbers, Outputs, F>(name, std::make_index_sequence<Inputs>());
}

template <class Numbers, class F>
Row unary(std::string_view name, F f) {
    return formula<Numbers, 1>(name, f);
}
template <class Numbers, class F>
Row binary(std::string_view name, F f) {
    return formula<Numbers, 2>(name, f);
}
template <class Numbers, class F>
Row ternary(std::string_view name, F f) {
    return formula<Numbers, 3>(name, f);
}

}  // namespace dmlconform::cpu::element_wise
