// Element-wise operators, as one table of formulas.
//
// Each is documented at
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_NAME_operator_desc, where NAME is the
// operator's short name in lower case: element_wise_abs. Comments say what DirectML 1.15.4 was measured to do where the
// documentation leaves it open.
#include <bit>

#include "engine/core/element.h"
#include "engine/cpu/definitions/activation.h"
#include "engine/cpu/definitions/quantisation.h"

namespace dmlconform::cpu::definitions::element_wise_definitions {
namespace {

/// The number types that a formula is evaluated on.
enum class Numbers : std::uint8_t {
    reals,
    /// Reals, or integers, which wrap in 64 bits.
    any,
    bits,
};

template <class Number>
constexpr bool is_integer = std::is_same_v<Number, Signed> || std::is_same_v<Number, Unsigned>;

/// x * Scale + Bias. For integers, the result is converted back to their type. {1, 0} has no effect.
template <class Number>
void scale_and_bias(const Call& call, Array<Number>& x) {
    const core::DataType type = call.input_type(0);
    const auto* const by =
        call.has_field("ScaleBias") ? std::get_if<operators::ScaleBias>(&call.descriptor.value("ScaleBias")) : nullptr;
    for (Number& one : x.elements) {
        if (by == nullptr || (by->scale == 1 && by->bias == 0)) {
            continue;
        }
        const double scale{by->scale};
        const double bias{by->bias};
        if constexpr (is_integer<Number>) {
            one = clamped_integer<Number>(static_cast<double>(one.value) * scale + bias, type);
        } else {
            one = one * Number(scale) + Number(bias);
            one = core::is_floating_point(type) ? one : converted(one, type);
        }
    }
}

/// A numeric attribute. For integers, also where they are computed as reals, it is truncated, and clamped to their
/// type. NaN becomes 0.
template <class Number>
Number attribute(const Call& call, std::string_view name) {
    const core::DataType type = call.output_type(0);
    if (const auto* number = std::get_if<float>(&call.descriptor.value(name))) {
        if constexpr (is_integer<Number>) {
            return clamped_integer<Number>(double{*number}, type);
        } else {
            return Number(core::is_floating_point(type) ? double{*number} : converted(double{*number}, type));
        }
    }
    return call.scalar<Number>(name, type);
}

template <class Number>
Number as_number(const Number& number) {
    return number;
}
template <class Number>
Number as_number(bool truth) requires(!std::is_same_v<Number, bool>) {
    return truth ? Number(1) : Number(0);
}

/// The element of an input that belongs to the element `at` of the output. A dimension of the input that is smaller has
/// one element for a block of neighbours; missing leading dimensions have size 1.
template <class Number>
const Number& element_of(const Array<Number>& input, const Array<Number>& output, const Index& at) {
    const std::size_t missing = at.size() - std::min(at.size(), input.sizes.size());
    Index own;
    for (std::size_t d = 0; d < input.sizes.size(); ++d) {
        own.push_back(at[missing + d] * input.sizes[d] / output.sizes[missing + d]);
    }
    return input[own];
}

/// Evaluates formula(elements…), or formula(elements…, call).
template <class Number, Store how, class F, std::size_t... I>
void evaluate(Call& call, std::index_sequence<I...> /*inputs*/) {
    std::array<Array<Number>, sizeof...(I)> in{call.input_number<Number>(I)...};
    if constexpr (!std::is_same_v<Number, Bits>) {
        scale_and_bias(call, in[0]);
    }
    auto& output = call.output<Number>(call.descriptor.outputs()[0].name, how);
    std::size_t i = 0;
    for_each_index(output.sizes, [&](const Index& at) {
        if constexpr (std::is_invocable_v<F, decltype(in[I][at])...>) {
            output.elements[i] = as_number<Number>(F{}(element_of(in[I], output, at)...));
        } else {
            output.elements[i] = as_number<Number>(F{}(element_of(in[I], output, at)..., call));
        }
        ++i;
    });
    if constexpr (!is_integer<Number> && !std::is_same_v<Number, Bits>) {
        if (call.has_field("FusedActivation")) {
            fuse_activation(call.descriptor, output);
        }
    }
}

/// True if one of the inputs has a floating-point type.
bool has_real(const Call& call, std::size_t inputs) {
    bool has = false;
    for (std::size_t i = 0; i < inputs; ++i) {
        has = has || (call.has_input(i) && core::is_floating_point(call.input_type(i)));
    }
    return has;
}

template <std::size_t inputs, Numbers numbers, Store how, class F, class Real>
void evaluate(Call& call) {
    constexpr std::make_index_sequence<inputs> all;
    if constexpr (numbers == Numbers::reals) {
        evaluate<Real, how, F>(call, all);
    } else if constexpr (numbers == Numbers::bits) {
        evaluate<Bits, how, F>(call, all);
    } else {
        with_number<Real>(has_real(call, inputs) ? core::DataType::float32 : call.input_type(0),
                          [&]<class Number>() { evaluate<Number, how, F>(call, all); });
    }
}

/// A formula of `inputs` elements.
template <std::size_t inputs, Numbers numbers, Store how = Store::wrapping, class F>
Definition formula(std::string_view name, F /*formula*/) {
    return {name, [](Call& call) { evaluate<inputs, numbers, how, F, Estimate>(call); },
            [](Call& call) { evaluate<inputs, numbers, how, F, Rounded>(call); },
            [](Call& call) { evaluate<inputs, numbers, how, F, Ranged>(call); }};
}
template <Store how = Store::wrapping, class F>
Definition real(std::string_view name, F f) {
    return formula<1, Numbers::reals, how>(name, f);
}
template <class F>
Definition reals(std::string_view name, F f) {
    return formula<2, Numbers::reals>(name, f);
}
template <Store how = Store::wrapping, class F>
Definition any(std::string_view name, F f) {
    return formula<1, Numbers::any, how>(name, f);
}
template <Store how = Store::wrapping, class F>
Definition pair(std::string_view name, F f) {
    return formula<2, Numbers::any, how>(name, f);
}
template <class F>
Definition bits(std::string_view name, F f) {
    return formula<2, Numbers::bits>(name, f);
}

// ---- formulas that do not fit on a line --------------------------------------------------------------------------

/// Division by the integer 0 gives all ones; for signed integers 1 if A is negative, otherwise -1.
template <class Number>
Number quotient(const Number& a, const Number& b) {
    if constexpr (is_integer<Number>) {
        return b != Number(0) ? a / b : a < Number(0) ? Number(1) : ~Number(0);
    } else {
        return a / b;
    }
}

/// A - B * trunc(A / B). Modulo the integer 0 gives all ones; for signed integers the dividend.
template <class Number>
Number modulus_truncate(const Number& a, const Number& b) {
    if constexpr (is_integer<Number>) {
        return b != Number(0) ? a % b : std::is_same_v<Number, Signed> ? a : ~Number(0);
    } else {
        return is_infinite(b) ? Number(std::nan("")) : fmod(a, b);
    }
}

/// A - B * floor(A / B). Modulo the integer 0 gives the same as division.
template <class Number>
Number modulus_floor(const Number& a, const Number& b) {
    if constexpr (is_integer<Number>) {
        if (b == Number(0)) {
            return quotient(a, b);
        }
    }
    const Number rest = modulus_truncate(a, b);
    return !(rest == Number(0)) && (rest < Number(0)) != (b < Number(0)) ? rest + b : rest;
}

/// (A + B) / 2. The sum of integers wraps in 32 bits, and the quotient is rounded towards zero.
template <class Number>
Number mean(const Number& a, const Number& b) {
    if constexpr (std::is_same_v<Number, Signed>) {
        return Signed(static_cast<std::int32_t>((a + b).bits())) / Signed(2);
    } else if constexpr (std::is_same_v<Number, Unsigned>) {
        return Unsigned(static_cast<std::uint32_t>((a + b).bits())) / Unsigned(2);
    } else {
        return (a + b) / Number(2);
    }
}

/// The power of integers wraps. Negative exponents give 1 / base, rounded towards zero, or 0 for base 0.
template <class Number>
Number power(const Number& base, const Number& exponent) {
    if constexpr (is_integer<Number>) {
        if (exponent < Number(0)) {
            const bool is_unit = base == Number(1) || base == Number(-1);
            return !is_unit ? Number(0) : exponent % Number(2) == Number(0) ? Number(1) : base;
        }
        Number result(1);
        Number square = base;
        for (std::uint64_t rest = exponent.bits(); rest != 0; rest >>= 1U, square = square * square) {
            result = (rest & 1U) != 0 ? result * square : result;
        }
        return result;
    } else {
        return pow(base, exponent);
    }
}

/// The last result of a clip: max(Min, min(x, Max)).
template <class Number>
Number clip(const Number& x, const Call& call) {
    return max(attribute<Number>(call, "Min"), min(x, attribute<Number>(call, "Max")));
}
template <class Number>
Number clip_grad(const Number& x, const Number& gradient, const Call& call) {
    return select(attribute<Number>(call, "Min") < x && x < attribute<Number>(call, "Max"), gradient, Number(0));
}

template <class Number>
bool is_infinity(const Number& x, const Call& call) {
    using operators::IsInfinityMode;
    const auto mode = enumerator<IsInfinityMode>(call.descriptor, "InfinityMode");
    return is_infinite(x) && (mode == IsInfinityMode::either || (mode == IsInfinityMode::positive) == (x > Number(0)));
}

/// TOWARD_INFINITY rounds to nearest, with halves away from 0.
template <class Number>
Number rounded(const Number& x, const Call& call) {
    using operators::RoundingMode;
    const auto mode = enumerator<RoundingMode>(call.descriptor, "RoundingMode");
    return mode == RoundingMode::halves_to_nearest_even ? round_half_even(x)
           : mode == RoundingMode::toward_zero          ? trunc(x)
                                                        : round_half_away(x);
}

/// Counts are taken modulo 32 for types of up to 32 bits. For 64 bits, counts from 64 on are taken modulo 32, plus 32.
unsigned shift_count(Bits count, const Call& call) {
    const unsigned of_32 = static_cast<unsigned>(count.value % 32);
    const bool is_wide = core::bits_of(call.input_type(0)) == 64;
    return !is_wide ? of_32 : count.value >= 64 ? of_32 + 32 : static_cast<unsigned>(count.value);
}

/// NaN gives 0, whatever the zero point.
template <class Real>
Real quantize_linear(const Real& x, const Real& scale, const Real& zero_point, const Call& call) {
    const Real number = integer_in_fp32(x) / scale;
    return is_nan(number) ? Real(0) : quantised(number, zero_point, call.output_type(0));
}

template <class Real>
Real quantized_linear_add(const std::array<Real, 6>& terms, const Real& scale, const Real& zero_point,
                          const Call& call) {
    const Real sum = (terms[0] - terms[2]) * terms[1] + (terms[3] - terms[5]) * terms[4];
    return nan_is_lowest(sum / scale, zero_point, call.output_type(0));
}

/// Without a zero point, unsigned types have the middle of their range.
template <class Real>
Real zero_or_middle(const Real& zero_point, core::DataType type, const Call& call) {
    const Real middle = core::is_signed_integer(type) ? Real(0) : Real((highest_of(type) + 1) / 2);
    return call.has_input(2) ? zero_point : middle;
}

// Scale * x + Bias of the channel
constexpr auto value_scale_2d = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto& bias = call.descriptor.get<std::vector<float>>("Bias");
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(x.sizes, [&](const Index& at) {
        output[at] = Real(call.number("Scale")) * x[at] + Real(double{bias[static_cast<std::size_t>(at[1])]});
    });
};

// The step t of Adam: m = Beta1 * m + (1 - Beta1) * gradient, v = Beta2 * v + (1 - Beta2) * gradient^2,
// x = x - LearningRate * sqrt(1 - Beta2^t) / (1 - Beta1^t) * m / (sqrt(v) + Epsilon). For t = 0, the corrections are 1.
constexpr auto adam_optimizer = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputParametersTensor");
    const auto m = call.input<Real>("InputFirstMomentTensor");
    const auto v = call.input<Real>("InputSecondMomentTensor");
    const auto gradient = call.input<Real>("GradientTensor");
    const Real step = call.input<Real>("TrainingStepTensor").elements[0];
    const Real beta1 = call.number("Beta1");
    const Real beta2 = call.number("Beta2");
    const auto correction = [&](const Real& beta) { return step > Real(0) ? Real(1) - pow(beta, step) : Real(1); };
    auto& next_x = call.output<Real>("OutputParametersTensor");
    auto& next_m = call.output<Real>("OutputFirstMomentTensor");
    auto& next_v = call.output<Real>("OutputSecondMomentTensor");
    for_each_index(x.sizes, [&](const Index& at) {
        next_m[at] = beta1 * m[at] + (Real(1) - beta1) * gradient[at];
        next_v[at] = beta2 * v[at] + (Real(1) - beta2) * (gradient[at] * gradient[at]);
        const Real rate = Real(call.number("LearningRate")) * sqrt(correction(beta2)) / correction(beta1);
        next_x[at] = x[at] - rate * next_m[at] / (sqrt(next_v[at]) + Real(call.number("Epsilon")));
    });
};

/// The activation functions of one number.
Definition activation_of(std::string_view name) {
    const auto apply = []<class Real>(Call& call) {
        auto& output = call.output<Real>("OutputTensor");
        const auto x = call.input<Real>("InputTensor");
        const std::string_view own = without_prefix(call.descriptor.schema->short_name());
        for_each_index(x.sizes, [&](const Index& at) { output[at] = activation(own, call.descriptor, x[at]); });
    };
    return define(name, apply);
}

Definitions activation_functions() {
    Definitions all;
    for (const std::string_view name :
         {"ACTIVATION_IDENTITY", "ACTIVATION_LINEAR", "ACTIVATION_LEAKY_RELU", "ACTIVATION_THRESHOLDED_RELU",
          "ACTIVATION_ELU", "ACTIVATION_CELU", "ACTIVATION_SCALED_ELU", "ACTIVATION_HARD_SIGMOID",
          "ACTIVATION_HARD_SWISH", "ACTIVATION_SIGMOID", "ACTIVATION_SWISH", "ACTIVATION_TANH",
          "ACTIVATION_SCALED_TANH", "ACTIVATION_SOFTPLUS", "ACTIVATION_PARAMETRIC_SOFTPLUS", "ACTIVATION_SOFTSIGN",
          "ACTIVATION_GELU"}) {
        all.push_back(activation_of(name));
    }
    return all;
}

}  // namespace

Definitions definitions() {
    Definitions all{
        // Functions of one real number
        real("ELEMENT_WISE_CEIL", [](auto x) { return ceil(x); }),
        real("ELEMENT_WISE_FLOOR", [](auto x) { return floor(x); }),
        real("ELEMENT_WISE_ROUND", [](auto x, const Call& call) { return rounded(x, call); }),
        real("ELEMENT_WISE_SQRT", [](auto x) { return sqrt(x); }),
        real("ELEMENT_WISE_RECIP", [](auto x) { return decltype(x)(1) / x; }),
        real("ELEMENT_WISE_EXP", [](auto x) { return exp(x); }),
        real("ELEMENT_WISE_LOG", [](auto x) { return log(x); }),
        real("ELEMENT_WISE_SIN", [](auto x) { return sin(x); }),
        real("ELEMENT_WISE_COS", [](auto x) { return cos(x); }),
        real("ELEMENT_WISE_TAN", [](auto x) { return tan(x); }),
        real("ELEMENT_WISE_ASIN", [](auto x) { return asin(x); }),
        real("ELEMENT_WISE_ACOS", [](auto x) { return acos(x); }),
        real("ELEMENT_WISE_ATAN", [](auto x) { return atan(x); }),
        real("ELEMENT_WISE_SINH", [](auto x) { return sinh(x); }),
        real("ELEMENT_WISE_COSH", [](auto x) { return cosh(x); }),
        real("ELEMENT_WISE_TANH", [](auto x) { return tanh(x); }),
        real("ELEMENT_WISE_ASINH", [](auto x) { return asinh(x); }),
        real("ELEMENT_WISE_ACOSH", [](auto x) { return acosh(x); }),
        real("ELEMENT_WISE_ATANH", [](auto x) { return atanh(x); }),
        real("ELEMENT_WISE_ERF", [](auto x) { return erf(x); }),
        real("ELEMENT_WISE_CONSTANT_POW",
             [](auto x, const Call& call) { return pow(x, attribute<decltype(x)>(call, "Exponent")); }),
        real("ELEMENT_WISE_IS_NAN", [](auto x) { return is_nan(x); }),
        real("ELEMENT_WISE_IS_INFINITY", [](auto x, const Call& call) { return is_infinity(x, call); }),
        reals("ELEMENT_WISE_ATAN_YX", [](auto y, auto x) { return atan2(y, x); }),

        // Arithmetic
        pair("ELEMENT_WISE_ADD", [](auto a, auto b) { return a + b; }),
        reals("ELEMENT_WISE_ADD1", [](auto a, auto b) { return a + b; }),
        pair("ELEMENT_WISE_SUBTRACT", [](auto a, auto b) { return a - b; }),
        pair("ELEMENT_WISE_MULTIPLY", [](auto a, auto b) { return a * b; }),
        pair("ELEMENT_WISE_DIVIDE", [](auto a, auto b) { return quotient(a, b); }),
        pair("ELEMENT_WISE_MODULUS_TRUNCATE", [](auto a, auto b) { return modulus_truncate(a, b); }),
        pair("ELEMENT_WISE_MODULUS_FLOOR", [](auto a, auto b) { return modulus_floor(a, b); }),
        pair("ELEMENT_WISE_MEAN", [](auto a, auto b) { return mean(a, b); }),
        pair("ELEMENT_WISE_DIFFERENCE_SQUARE", [](auto a, auto b) { return (a - b) * (a - b); }),
        pair<Store::clamping>("ELEMENT_WISE_POW", [](auto a, auto b) { return power(a, b); }),
        any<Store::clamping>("ELEMENT_WISE_NEGATE", [](auto x) { return -x; }),
        any<Store::clamping>("ELEMENT_WISE_ABS", [](auto x) { return x < decltype(x)(0) ? -x : x; }),
        any("ELEMENT_WISE_SIGN",
            [](auto x) {
                using T = decltype(x);
                return x < T(0) ? T(-1) : x > T(0) ? T(1) : T(0);
            }),
        any("ELEMENT_WISE_IDENTITY", [](auto x) { return x; }),
        any<Store::converting>("CAST", [](auto x) { return x; }),

        // Comparison and selection
        pair("ELEMENT_WISE_MIN", [](auto a, auto b) { return min(a, b); }),
        pair("ELEMENT_WISE_MAX", [](auto a, auto b) { return max(a, b); }),
        any("ELEMENT_WISE_CLIP", [](auto x, const Call& call) { return clip(x, call); }),
        any("ELEMENT_WISE_CLIP1", [](auto x, const Call& call) { return clip(x, call); }),
        pair("ELEMENT_WISE_CLIP_GRAD",
             [](auto x, auto gradient, const Call& call) { return clip_grad(x, gradient, call); }),
        pair("ELEMENT_WISE_CLIP_GRAD1",
             [](auto x, auto gradient, const Call& call) { return clip_grad(x, gradient, call); }),
        any("ELEMENT_WISE_THRESHOLD",
            [](auto x, const Call& call) { return max(x, attribute<decltype(x)>(call, "Min")); }),
        pair("ELEMENT_WISE_LOGICAL_EQUALS", [](auto a, auto b) { return a == b; }),
        pair("ELEMENT_WISE_LOGICAL_GREATER_THAN", [](auto a, auto b) { return a > b; }),
        pair("ELEMENT_WISE_LOGICAL_LESS_THAN", [](auto a, auto b) { return a < b; }),
        pair("ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", [](auto a, auto b) { return a >= b; }),
        pair("ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", [](auto a, auto b) { return a <= b; }),
        bits("ELEMENT_WISE_LOGICAL_AND", [](Bits a, Bits b) { return Bits{a.value != 0 && b.value != 0}; }),
        bits("ELEMENT_WISE_LOGICAL_OR", [](Bits a, Bits b) { return Bits{a.value != 0 || b.value != 0}; }),
        bits("ELEMENT_WISE_LOGICAL_XOR", [](Bits a, Bits b) { return Bits{(a.value != 0) != (b.value != 0)}; }),
        formula<1, Numbers::bits>("ELEMENT_WISE_LOGICAL_NOT", [](Bits x) { return Bits{x.value == 0}; }),
        formula<3, Numbers::bits>("ELEMENT_WISE_IF",
                                  [](Bits condition, Bits a, Bits b) { return condition.value != 0 ? a : b; }),

        // Bits
        bits("ELEMENT_WISE_BIT_AND", [](Bits a, Bits b) { return Bits{a.value & b.value}; }),
        bits("ELEMENT_WISE_BIT_OR", [](Bits a, Bits b) { return Bits{a.value | b.value}; }),
        bits("ELEMENT_WISE_BIT_XOR", [](Bits a, Bits b) { return Bits{a.value ^ b.value}; }),
        formula<1, Numbers::bits>("ELEMENT_WISE_BIT_NOT", [](Bits x) { return Bits{~x.value}; }),
        formula<1, Numbers::bits>("ELEMENT_WISE_BIT_COUNT",
                                  [](Bits x) { return Bits{static_cast<std::uint64_t>(std::popcount(x.value))}; }),
        bits("ELEMENT_WISE_BIT_SHIFT_LEFT",
             [](Bits a, Bits b, const Call& call) { return Bits{a.value << shift_count(b, call)}; }),
        bits("ELEMENT_WISE_BIT_SHIFT_RIGHT",
             [](Bits a, Bits b, const Call& call) { return Bits{a.value >> shift_count(b, call)}; }),

        // Quantisation
        formula<3, Numbers::reals>("ELEMENT_WISE_QUANTIZE_LINEAR",
                                   [](auto x, auto scale, auto zero_point, const Call& call) {
                                       return quantize_linear(x, scale, zero_point, call);
                                   }),
        formula<3, Numbers::reals>("ELEMENT_WISE_DEQUANTIZE_LINEAR",
                                   [](auto x, auto scale, auto zero_point) {
                                       return (integer_in_fp32(x) - integer_in_fp32(zero_point)) * scale;
                                   }),
        formula<8, Numbers::reals>(
            "ELEMENT_WISE_QUANTIZED_LINEAR_ADD",
            []<class T>(T a, T a_scale, T a_zero, T b, T b_scale, T b_zero, T scale, T zero, const Call& call) {
                return quantized_linear_add(std::array<T, 6>{a, a_scale, a_zero, b, b_scale, b_zero}, scale, zero,
                                            call);
            }),

        formula<3, Numbers::reals>("QUANTIZE",
                                   [](auto x, auto scale, auto zero_point, const Call& call) {
                                       return nan_is_lowest(x / scale,
                                                            zero_or_middle(zero_point, call.output_type(0), call),
                                                            call.output_type(0));
                                   }),
        formula<3, Numbers::reals>("DEQUANTIZE",
                                   [](auto x, auto scale, auto zero_point, const Call& call) {
                                       return (x - zero_or_middle(zero_point, call.input_type(0), call)) * scale;
                                   }),

        // Activation functions of integers, or of two numbers
        any("ACTIVATION_RELU", [](auto x) { return max(x, decltype(x)(0)); }),
        pair("ACTIVATION_PARAMETERIZED_RELU", [](auto x, auto slope) { return positive_or(x, slope * x); }),
        pair("ACTIVATION_RELU_GRAD",
             [](auto x, auto gradient) { return x > decltype(x)(0) ? gradient : decltype(x)(0); }),
        real<Store::rounding>("ACTIVATION_SHRINK",
                              [](auto x, const Call& call) { return activation("SHRINK", call.descriptor, x); }),

        define("VALUE_SCALE_2D", value_scale_2d),
        define("ADAM_OPTIMIZER", adam_optimizer),
    };
    for (const Definition& one : activation_functions()) {
        all.push_back(one);
    }
    return all;
}

}  // namespace dmlconform::cpu::definitions::element_wise_definitions
