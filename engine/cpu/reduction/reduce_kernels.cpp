// REDUCE: one entry for each function whose result has the elements' type. The indices of minimum and maximum are
// computed by ARGMIN and ARGMAX. Equals definitions/reduction.cpp.
#include <array>
#include <cmath>

#include "engine/cpu/kernel.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/reduction/positions.h"
#include "engine/cpu/reduction/reduction.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::cpu::reduce_kernels {
namespace {

using operators::ReduceFunction;
using reduction::Reduction;

// ---- what a row is -----------------------------------------------------------------------------------------------

/// A slice becomes finish(total of map(x), number of elements).
struct Row {
    ReduceFunction function = ReduceFunction::sum;
    void (*real)(const Reduction& reduction, core::ElementSlack* slack) = nullptr;
    void (*signed_integer)(const Reduction& reduction) = nullptr;
    void (*unsigned_integer)(const Reduction& reduction) = nullptr;
};

/// The range of what implementations may compute for a slice.
using Ranger = Interval (*)(const Reduction& reduction, std::int64_t set);

template <template <class> class Total, class Map, class Finish, Ranger range>
void reduce_reals(const Reduction& reduction, core::ElementSlack* slack) {
    const auto count = static_cast<double>(reduction.sets().size());
    const auto store = [&](std::int64_t set, std::int64_t to, const auto& total) {
        movement::store_computed(reduction.output(), to, set, Finish{}(double{total.result()}, count), slack,
                                 [&] { return range(reduction, set); });
    };
    if constexpr (requires { typename Total<double>::OfFloats; }) {
        if (reduction.input().desc.data_type == core::DataType::float32) {
            using OfFloats = typename Total<double>::OfFloats;
            using Term = decltype(OfFloats::value);
            reduction.for_each_total<float, OfFloats>([](float x) { return Map{}(Term{x}); }, store);
            return;
        }
    }
    reduction.for_each_total<double, Total<double>>(Map{}, store);
}

template <class Number, template <class> class Total, class Map>
void reduce_integers(const Reduction& reduction) {
    core::Tensor& output = reduction.output();
    reduction.for_each_total<Number, Total<Number>>(
        Map{}, [&](std::int64_t, std::int64_t to, const Total<Number>& total) {
            const Number result = total.result();
            element_wise::store(output.buffer.bytes(), {output.desc.data_type, to, 0}, 1, &result,
                                element_wise::Store::wrapping);
        });
}

template <class Map, class Finish>
Interval range_of_sum(const Reduction& reduction, std::int64_t set) {
    reduction::SumRange range;
    reduction.for_each_element(set, [&](double x) { range.add(Map{}(Interval(x))); });
    return Finish{}(range.result(), Interval(static_cast<double>(reduction.sets().size())));
}

template <class Map, class Finish>
Row sum(ReduceFunction function, Map /*map*/, Finish /*finish*/) {
    return {.function = function, .real = reduce_reals<reduction::Sum, Map, Finish, range_of_sum<Map, Finish>>};
}

/// The same for integers, which wrap.
template <template <class> class Total, class Map>
Row with_integers(Row row, Map /*map*/) {
    row.signed_integer = reduce_integers<Signed, Total, Map>;
    row.unsigned_integer = reduce_integers<Unsigned, Total, Map>;
    return row;
}

// ---- formulas ----------------------------------------------------------------------------------------------------

constexpr auto itself = [](auto x) { return x; };
constexpr auto magnitude = [](auto x) { return select(x < 0, -x, x); };
constexpr auto square = [](auto x) { return x * x; };

constexpr auto total = [](auto sum, auto /*count*/) { return sum; };
constexpr auto root = [](auto sum, auto /*count*/) { return sqrt(sum); };
constexpr auto logarithm = [](auto sum, auto /*count*/) { return log(sum); };

/// Implementations divide, or multiply by the reciprocal.
struct Mean {
    double operator()(double sum, double count) const { return sum / count; }
    Interval operator()(const Interval& sum, const Interval& count) const {
        return hull(sum / count, sum * (1 / count));
    }
};

Interval range_of_product(const Reduction& reduction, std::int64_t set) {
    reduction::ProductRange range;
    reduction.for_each_element(set, [&](double x) { range.add(x); });
    return range.result();
}

/// Exact, except that subnormal numbers may count as zero.
template <template <class> class Total>
Interval range_of_extreme(const Reduction& reduction, std::int64_t set) {
    Total<double> extreme;
    reduction.for_each_element(set, [&](double x) { extreme.add(x); });
    return Interval(extreme.result()) + Interval(0);
}

template <template <class> class Total, Ranger range>
Row unrounded(ReduceFunction function) {
    return with_integers<Total>(
        {.function = function, .real = reduce_reals<Total, decltype(itself), decltype(total), range>}, itself);
}

// ---- LOG_SUM_EXP -------------------------------------------------------------------------------------------------

/// The logarithm of a sum of exponentials. They are taken of the differences from the maximum and do not overflow.
template <class Number>
struct LogOfExponentials : reduction::AnyOrder {
    Number greatest = reduction::Greatest<Number>::of_none();
    /// Sum of exp(x - greatest).
    Number sum = 0;

    void add(Number x) {
        LogOfExponentials one;
        one.greatest = x;
        one.sum = 1;
        join(one);
    }
    void join(const LogOfExponentials& other) {
        if (std::isnan(other.greatest)) {
            greatest = other.greatest;
        } else if (other.greatest > greatest) {
            sum = sum * std::exp(greatest - other.greatest) + other.sum;
            greatest = other.greatest;
        } else if (other.sum != 0) {
            // The difference of equal values, including equal infinities, is 0.
            sum += other.greatest == greatest ? other.sum : other.sum * std::exp(other.greatest - greatest);
        }
    }
    [[nodiscard]] Number result() const { return greatest + std::log(sum); }
};

/// Implementations use the formula, which overflows beyond 88, or differences from the maximum.
Interval range_of_log_of_exponentials(const Reduction& reduction, std::int64_t set) {
    reduction::SumRange plain;
    reduction::Greatest<double> greatest;
    reduction.for_each_element(set, [&](double x) {
        plain.add(exp(Interval(x)));
        greatest.add(x);
    });
    reduction::SumRange scaled;
    const Interval shift(greatest.result());
    reduction.for_each_element(set, [&](double x) { scaled.add(exp(Interval(x) - shift)); });
    return hull(log(plain.result()), shift + log(scaled.result()));
}

Row log_sum_exp() {
    return {.function = ReduceFunction::log_sum_exp,
            .real = reduce_reals<LogOfExponentials, decltype(itself), decltype(total), range_of_log_of_exponentials>};
}

// ---- the functions -----------------------------------------------------------------------------------------------

const std::array<Row, 10>& rows() {
    using reduction::Sum;
    static const std::array<Row, 10> all{
        sum(ReduceFunction::average, itself, Mean{}),
        with_integers<Sum>(sum(ReduceFunction::l1, magnitude, total), magnitude),
        sum(ReduceFunction::l2, square, root),
        sum(ReduceFunction::log_sum, itself, logarithm),
        log_sum_exp(),
        unrounded<reduction::Greatest, range_of_extreme<reduction::Greatest>>(ReduceFunction::max),
        unrounded<reduction::Least, range_of_extreme<reduction::Least>>(ReduceFunction::min),
        unrounded<reduction::Product, range_of_product>(ReduceFunction::multiply),
        with_integers<Sum>(sum(ReduceFunction::sum, itself, total), itself),
        with_integers<Sum>(sum(ReduceFunction::sum_square, square, total), square),
    };
    return all;
}

ReduceFunction function_of(const operators::Descriptor& descriptor) {
    return enumerator<ReduceFunction>(descriptor, "Function");
}

bool is_position(ReduceFunction function) {
    return function == ReduceFunction::argmax || function == ReduceFunction::argmin;
}

void compute(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    const ReduceFunction function = function_of(arguments.descriptor);
    if (is_position(function)) {
        reduction::find_positions(arguments, {.greatest = function == ReduceFunction::argmax, .last = false});
        return;
    }
    const auto row = std::ranges::find(rows(), function, &Row::function);
    const Reduction reduction(
        input, *arguments.outputs[0],
        reduction::reduced_dimensions(arguments.descriptor.uints("Axes"), input.desc.sizes.size()));
    if (core::is_floating_point(input.desc.data_type)) {
        row->real(reduction, movement::wanted_slack(arguments));
    } else if (core::is_signed_integer(input.desc.data_type)) {
        row->signed_integer(reduction);
    } else {
        row->unsigned_integer(reduction);
    }
}

/// Indices are integers, whatever the input.
core::Tolerance tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output) {
    if (!core::is_floating_point(output.desc->data_type)) {
        return reduction::tolerance_of_positions(descriptor);
    }
    return movement::computed_tolerance(true, "FP32 as Direct3D allows it, sums and products in any order");
}

}  // namespace

Kernels kernels() {
    return {{.name = "REDUCE", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::reduce_kernels
