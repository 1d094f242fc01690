// Operators that reduce the elements along some axes to one number, and running totals.
#include "engine/cpu/definitions/activation.h"
#include "engine/cpu/definitions/quantisation.h"

namespace dmlconform::cpu::definitions::reduction_definitions {
namespace {

using operators::AxisDirection;
using operators::ReduceFunction;

/// Calls visit(element) for all elements of `x` that differ from `at` only along the axes, in row-major order.
template <class Number, class Visit>
void for_each_along(const Array<Number>& x, const Index& at, const Index& axes, const Visit& visit) {
    Index sizes = Index::of(x.sizes.size(), 1);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        sizes[static_cast<std::size_t>(axes[i])] = x.sizes[static_cast<std::size_t>(axes[i])];
    }
    for_each_index(sizes, [&](const Index& step) {
        Index from = at;
        for (std::size_t d = 0; d < at.size(); ++d) {
            from[d] += step[d];
        }
        visit(x[from]);
    });
}

/// The position of the extreme element, counted in row-major order: the first of equal elements, or the last one. NaN
/// is only the result where it comes first, as measured on DirectML 1.15.4.
template <class Number>
void find_positions(Call& call, bool greatest, bool last) {
    const auto x = call.input<Number>("InputTensor");
    auto& output = call.output<Signed>("OutputTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        std::int64_t position = 0;
        Number best = x[at];
        for_each_along(x, at, call.uints("Axes"), [&](const Number& element) {
            const bool better = greatest ? element > best : element < best;
            if (better || (last && element == best)) {
                best = element;
                output[at] = position;
            }
            ++position;
        });
    });
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_argmin_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_argmax_operator_desc
template <class Real, bool greatest>
void find_positions(Call& call) {
    const bool last = enumerator<AxisDirection>(call.descriptor, "AxisDirection") == AxisDirection::decreasing;
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() { find_positions<Number>(call, greatest, last); });
}
constexpr auto argmin = []<class Real>(Call& call) { find_positions<Real, false>(call); };
constexpr auto argmax = []<class Real>(Call& call) { find_positions<Real, true>(call); };

template <class Number>
Number magnitude(const Number& x) {
    return select(x < Number(0), -x, x);
}

/// The functions that are defined for integers, too. Their arithmetic wraps. NaN is not an extreme.
template <class Number>
Number reduced(ReduceFunction function, const std::vector<Number>& elements, const Number& lowest,
               const Number& highest) {
    Number sum = 0;
    Number product = 1;
    Number least = highest;
    Number greatest = lowest;
    for (const Number& x : elements) {
        const bool is_product = function == ReduceFunction::multiply;
        sum = sum + (function == ReduceFunction::l1           ? magnitude(x)
                     : function == ReduceFunction::sum_square ? x * x
                     : function == ReduceFunction::l2         ? x * x
                                                              : x);
        product = is_product ? product * x : product;
        least = select(x < least, x, least);
        greatest = select(x > greatest, x, greatest);
    }
    return function == ReduceFunction::multiply ? product
           : function == ReduceFunction::min    ? least
           : function == ReduceFunction::max    ? greatest
                                                : sum;
}

/// log(sum of exp(x)). The maximum is subtracted, so that nothing overflows.
template <class Real>
Real log_sum_exp(const std::vector<Real>& elements) {
    Real greatest = -std::numeric_limits<double>::infinity();
    for (const Real& x : elements) {
        greatest = is_nan(x) || is_nan(greatest) ? Real(std::nan("")) : max(greatest, x);
    }
    Real sum = 0;
    for (const Real& x : elements) {
        sum += x == greatest ? Real(1) : exp(x - greatest);
    }
    return greatest + log(sum);
}

template <class Real>
Real reduced_reals(ReduceFunction function, const std::vector<Real>& elements) {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto total = [&] { return reduced<Real>(function, elements, -infinity, infinity); };
    switch (function) {
        case ReduceFunction::average:
            return total() / Real(static_cast<double>(elements.size()));
        case ReduceFunction::l2:
            return sqrt(total());
        case ReduceFunction::log_sum:
            return log(total());
        case ReduceFunction::log_sum_exp:
            return log_sum_exp(elements);
        default:
            return total();
    }
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_reduce_operator_desc
constexpr auto reduce = []<class Real>(Call& call) {
    const auto function = enumerator<ReduceFunction>(call.descriptor, "Function");
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() {
        if (function == ReduceFunction::argmin || function == ReduceFunction::argmax) {
            find_positions<Number>(call, function == ReduceFunction::argmax, false);
            return;
        }
        const auto x = call.input<Number>("InputTensor");
        auto& output = call.output<Number>("OutputTensor");
        for_each_index(output.sizes, [&](const Index& at) {
            std::vector<Number> elements;
            for_each_along(x, at, call.uints("Axes"), [&](const Number& element) { elements.push_back(element); });
            if constexpr (std::is_same_v<Number, Real>) {
                output[at] = reduced_reals(function, elements);
            } else {
                using Limits = std::numeric_limits<decltype(Number::value)>;
                output[at] = reduced<Number>(function, elements, Limits::lowest(), Limits::max());
            }
        });
    });
};

/// Each element becomes the total of the elements up to it along the axis, or up to the one before it.
template <class Real, class Combine>
void accumulate(Call& call, std::string_view exclusive, double start, const Combine& combine) {
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    const bool backwards = enumerator<AxisDirection>(call.descriptor, "AxisDirection") == AxisDirection::decreasing;
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() {
        const auto x = call.input<Number>("InputTensor");
        auto& output = call.output<Number>("OutputTensor");
        const std::int64_t last = x.sizes[axis] - 1;
        for_each_index(output.sizes, [&](const Index& at) {
            Number total(start);
            const std::int64_t own = backwards ? last - at[axis] : at[axis];
            for (std::int64_t i = 0; i < own + (call.flag(exclusive) ? 0 : 1); ++i) {
                total = combine(total, x[at.with(axis, backwards ? last - i : i)]);
            }
            output[at] = total;
        });
    });
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_cumulative_summation_operator_desc
constexpr auto cumulative_summation = []<class Real>(Call& call) {
    accumulate<Real>(call, "HasExclusiveSum", 0, [](const auto& total, const auto& x) { return total + x; });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_cumulative_product_operator_desc
constexpr auto cumulative_product = []<class Real>(Call& call) {
    accumulate<Real>(call, "HasExclusiveProduct", 1, [](const auto& total, const auto& x) { return total * x; });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_lp_normalization_operator_desc
// x / sqrt(norm^2 + Epsilon), as measured on DirectML 1.15.4. The norm is that of the elements along the axis.
constexpr auto lp_normalization = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    const Index axes{call.uint("Axis")};
    for_each_index(output.sizes, [&](const Index& at) {
        Real sum = 0;
        for_each_along(x, without(at, axes), axes,
                       [&](const Real& element) { sum += call.uint("P") == 1 ? abs(element) : element * element; });
        output[at] = x[at] / sqrt((call.uint("P") == 1 ? sum * sum : sum) + Real(call.number("Epsilon")));
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_dynamic_quantize_linear_operator_desc
// The scale spreads the range of the elements and 0 over the codes of the output's type. NaN is not in the range, and
// becomes the lowest code, as measured on DirectML 1.15.4.
constexpr auto dynamic_quantize_linear = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    auto& output = call.output<Real>("OutputTensor");
    const Real lowest = lowest_of(call.type("OutputTensor"));
    const Real highest = highest_of(call.type("OutputTensor"));
    const auto clamped = [&](const Real& code) { return min(max(code, lowest), highest); };
    Real least = 0;
    Real greatest = 0;
    for (const Real& element : x.elements) {
        least = select(element < least, element, least);
        greatest = select(element > greatest, element, greatest);
    }
    const Real quotient = (greatest - least) / (highest - lowest);
    // The scale is an output, and the stored number is used.
    const Real scale = as_float(quotient);
    const Real zero_point = clamped(round_half_even(lowest - least / scale));
    call.output<Real>("OutputScaleTensor").elements[0] = scale;
    call.output<Real>("OutputZeroPointTensor").elements[0] = zero_point;
    for_each_index(output.sizes,
                   [&](const Index& at) { output[at] = clamped(round_half_even(x[at] / scale) + zero_point); });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_nonzero_coordinates_operator_desc
// The coordinates of all elements other than 0, in row-major order, and their number.
constexpr auto nonzero_coordinates = []<class Real>(Call& call) {
    auto& coordinates = call.output<Signed>("OutputCoordinatesTensor");
    const std::size_t kept = static_cast<std::size_t>(coordinates.sizes.back());
    std::size_t written = 0;
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() {
        const auto x = call.input<Number>("InputTensor");
        for_each_index(x.sizes, [&](const Index& at) {
            if (!(x[at] == Number(0))) {
                for (std::size_t d = at.size() - kept; d < at.size(); ++d) {
                    coordinates.elements[written++] = at[d];
                }
            }
        });
    });
    call.outputs[call.slot_of("OutputCoordinatesTensor", false)].meaningful = written;
    call.output<Signed>("OutputCountTensor").elements[0] = written / kept;
};

}  // namespace

Definitions definitions() {
    return {define("REDUCE", reduce),
            define("ARGMIN", argmin),
            define("ARGMAX", argmax),
            define("CUMULATIVE_SUMMATION", cumulative_summation),
            define("CUMULATIVE_PRODUCT", cumulative_product),
            define("LP_NORMALIZATION", lp_normalization),
            define("DYNAMIC_QUANTIZE_LINEAR", dynamic_quantize_linear),
            define("NONZERO_COORDINATES", nonzero_coordinates)};
}

}  // namespace dmlconform::cpu::definitions::reduction_definitions
