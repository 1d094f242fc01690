// Reductions: operators that reduce slices of a tensor, and those that then compute each element from its slice's
// result.
#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/core/tensor.h"
#include "engine/d3d12/planning/binding.h"
#include "engine/d3d12/planning/element_format.h"
#include "engine/d3d12/reduction/reduction.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::d3d12::reduction_bindings {
namespace {

using core::DataType;
using operators::Descriptor;

constexpr std::uint32_t all_bits = 0xffffffff;

enum class Kind : std::uint8_t {
    computed,  // computed; integers wrap
    largest,   // the largest element
    smallest,
    largest_at,  // the index of the largest element
    smallest_at,
};

struct Function {
    Kind kind;
    std::uint32_t combine;
    std::uint32_t map = MAP_SAME;
    std::uint32_t finish = FINISH_SAME;
};

Function function_of(operators::ReduceFunction function) {
    // In the order of the enumeration.
    constexpr Function functions[] = {
        {Kind::largest_at, COMBINE_FIRST_EXTREME},                  // ARGMAX
        {Kind::smallest_at, COMBINE_FIRST_EXTREME},                 // ARGMIN
        {Kind::computed, COMBINE_SUM, MAP_SAME, FINISH_MEAN},       // AVERAGE
        {Kind::computed, COMBINE_SUM, MAP_MAGNITUDE},               // L1
        {Kind::computed, COMBINE_SUM, MAP_SQUARE, FINISH_ROOT},     // L2
        {Kind::computed, COMBINE_SUM, MAP_SAME, FINISH_LOGARITHM},  // LOG_SUM
        {Kind::computed, COMBINE_EXPONENTIALS},                     // LOG_SUM_EXP
        {Kind::largest, COMBINE_EXTREME},                           // MAX
        {Kind::smallest, COMBINE_EXTREME},                          // MIN
        {Kind::computed, COMBINE_PRODUCT},                          // MULTIPLY
        {Kind::computed, COMBINE_SUM},                              // SUM
        {Kind::computed, COMBINE_SUM, MAP_SQUARE},                  // SUM_SQUARE
    };
    static_assert(std::size(functions) == static_cast<std::size_t>(operators::ReduceFunction::sum_square) + 1);
    return functions[static_cast<std::size_t>(function)];
}

constexpr Function softmax{Kind::computed, COMBINE_EXPONENTIALS, MAP_SAME, FINISH_SOFTMAX};
constexpr Function log_softmax{Kind::computed, COMBINE_EXPONENTIALS, MAP_SAME, FINISH_LOG_SOFTMAX};
constexpr Function hardmax{Kind::largest_at, COMBINE_FIRST_EXTREME};

void put_order(ReductionParameters& parameters, const Function& function, DataType type) {
    parameters.nan_above = infinity_of(type);
    parameters.sign_flip = core::is_signed_integer(type) ? 0x80000000u : 0u;
    parameters.order_flip = function.kind == Kind::smallest || function.kind == Kind::smallest_at ? all_bits : 0u;
}

/// For operators with one input and one output.
Reduction reduction_of(const Descriptor& descriptor, const Function& function) {
    Reduction reduction;
    reduction.combine = function.combine;
    reduction.tensors[reduction_input] = {descriptor.tensor("InputTensor"), input(0)};
    reduction.tensors[reduction_output] = {descriptor.tensor("OutputTensor"), output(0)};
    const DataType type = reduction.tensors[reduction_input].desc->data_type;
    const bool is_compared = function.kind != Kind::computed;
    reduction.numbers = core::bits_of(type) == 64                       ? NUMBERS_TWO_WORDS
                        : core::is_floating_point(type) && !is_compared ? NUMBERS_REAL
                                                                        : NUMBERS_WORD;
    reduction.parameters.map = function.map;
    reduction.parameters.finish = function.finish;
    reduction.in_order = function.kind == Kind::largest_at || function.kind == Kind::smallest_at;
    put_order(reduction.parameters, function, type);
    reduction.reduced.resize(reduction.tensors[reduction_input].desc->sizes.size());
    return reduction;
}

void reduce_axes(Reduction& reduction, const Descriptor& descriptor) {
    reduction.reduced = reduced_by(descriptor, reduction.reduced.size());
}

DispatchPlan results(Reduction reduction) {
    DispatchPlan plan;
    ReductionPlanner(plan, std::move(reduction)).to_results();
    return plan;
}

DispatchPlan elements(Reduction reduction) {
    DispatchPlan plan;
    ReductionPlanner(plan, std::move(reduction)).to_elements();
    return plan;
}

DispatchPlan plan_reduce(const Descriptor& descriptor) {
    Reduction reduction =
        reduction_of(descriptor, function_of(enumerator<operators::ReduceFunction>(descriptor, "Function")));
    reduce_axes(reduction, descriptor);
    return results(std::move(reduction));
}

bool runs_from_the_end(const Descriptor& descriptor) {
    return enumerator<operators::AxisDirection>(descriptor, "AxisDirection") == operators::AxisDirection::decreasing;
}

/// ARGMAX and ARGMIN.
DispatchPlan plan_position(const Descriptor& descriptor, const Function& function) {
    Reduction reduction = reduction_of(descriptor, function);
    reduce_axes(reduction, descriptor);
    reduction.parameters.rank_flip = runs_from_the_end(descriptor) ? all_bits : 0u;
    return results(std::move(reduction));
}

/// SOFTMAX, LOG_SOFTMAX and HARDMAX.
DispatchPlan plan_elements(const Descriptor& descriptor, const Function& function) {
    Reduction reduction = reduction_of(descriptor, function);
    reduce_axes(reduction, descriptor);
    return elements(std::move(reduction));
}

DispatchPlan plan_lp_normalization(const Descriptor& descriptor) {
    const std::uint32_t map = descriptor.uint("P") == 1 ? MAP_MAGNITUDE : MAP_SQUARE;
    Reduction reduction = reduction_of(descriptor, {Kind::computed, COMBINE_SUM, map});
    reduction.reduced[descriptor.uint("Axis")] = true;
    reduction.parameters.epsilon = descriptor.number("Epsilon");
    return elements(std::move(reduction));
}

std::vector<ShaderVariant> variants(const std::vector<ReductionVariants>& wanted) {
    std::vector<ShaderVariant> result;
    for (const ReductionVariants& one : wanted) {
        append(result, variants_of(one));
    }
    return result;
}

std::vector<ShaderVariant> position_variants() {
    return variants({{.combine = COMBINE_FIRST_EXTREME, .numbers = NUMBERS_WORD},
                     {.combine = COMBINE_FIRST_EXTREME, .numbers = NUMBERS_TWO_WORDS}});
}

std::vector<ShaderVariant> reduce_variants() {
    std::vector<ReductionVariants> wanted{{.combine = COMBINE_EXPONENTIALS, .numbers = NUMBERS_REAL},
                                          {.combine = COMBINE_SUM, .numbers = NUMBERS_REAL},
                                          {.combine = COMBINE_PRODUCT, .numbers = NUMBERS_REAL}};
    for (const std::uint32_t combine :
         std::initializer_list<std::uint32_t>{COMBINE_SUM, COMBINE_PRODUCT, COMBINE_EXTREME, COMBINE_FIRST_EXTREME}) {
        wanted.push_back({.combine = combine, .numbers = NUMBERS_WORD});
        wanted.push_back({.combine = combine, .numbers = NUMBERS_TWO_WORDS});
    }
    return variants(wanted);
}

bool cut_between_lines(Cut& cut) {
    return !reduced_by(cut.descriptor(), cut.descriptor().tensor("OutputTensor")->sizes.size())[cut.dimension()] &&
           cut.take_from_all();
}

/// CUMULATIVE_SUMMATION and CUMULATIVE_PRODUCT; `exclusive` is the name of the third attribute.
Binding cumulative_binding(std::string_view name, std::uint32_t combine, std::string_view is_exclusive) {
    return {.name = name,
            .plan =
                [combine, is_exclusive](const Descriptor& descriptor) {
                    Reduction reduction = reduction_of(descriptor, {Kind::computed, combine});
                    reduction.reduced[descriptor.uint("Axis")] = true;
                    reduction.is_backwards = runs_from_the_end(descriptor);
                    reduction.parameters.is_exclusive = descriptor.uint(is_exclusive) != 0 ? 1 : 0;
                    DispatchPlan plan;
                    ReductionPlanner(plan, std::move(reduction)).to_cumulated();
                    return plan;
                },
            .variants = [combine] { return cumulative_variants(combine); },
            .cut = cut_off_axis};
}

/// Operators that compute each element from its slice's result.
Binding element_binding(std::string_view name, const Function& function) {
    const std::uint32_t numbers = function.kind == Kind::computed ? NUMBERS_REAL : NUMBERS_WORD;
    return {.name = name,
            .plan = [function](const Descriptor& descriptor) { return plan_elements(descriptor, function); },
            .variants =
                [combine = function.combine, numbers] {
                    return variants({{.combine = combine, .numbers = numbers, .results = false, .elements = true}});
                },
            .cut = cut_between_lines};
}

Binding position_binding(std::string_view name, const Function& function) {
    return {.name = name,
            .plan = [function](const Descriptor& descriptor) { return plan_position(descriptor, function); },
            .variants = position_variants,
            .unsupported = too_many_elements,
            .cut = cut_anywhere};
}

}  // namespace

// Where results are cut anywhere, the input stays whole along the axes, because results have size 1 along these.
Bindings bindings() {
    return {{.name = "REDUCE",
             .plan = plan_reduce,
             .variants = reduce_variants,
             .unsupported = too_many_elements,
             .cut = cut_anywhere},
            position_binding("ARGMAX", function_of(operators::ReduceFunction::argmax)),
            position_binding("ARGMIN", function_of(operators::ReduceFunction::argmin)),
            element_binding("ACTIVATION_SOFTMAX", softmax),
            element_binding("ACTIVATION_LOG_SOFTMAX", log_softmax),
            element_binding("ACTIVATION_HARDMAX", hardmax),
            element_binding("ACTIVATION_SOFTMAX1", softmax),
            element_binding("ACTIVATION_LOG_SOFTMAX1", log_softmax),
            element_binding("ACTIVATION_HARDMAX1", hardmax),
            cumulative_binding("CUMULATIVE_SUMMATION", COMBINE_SUM, "HasExclusiveSum"),
            cumulative_binding("CUMULATIVE_PRODUCT", COMBINE_PRODUCT, "HasExclusiveProduct"),
            {.name = "LP_NORMALIZATION",
             .plan = plan_lp_normalization,
             .variants =
                 [] {
                     return variants(
                         {{.combine = COMBINE_SUM, .numbers = NUMBERS_REAL, .results = false, .elements = true}});
                 },
             .cut = cut_off_axis}};
}

}  // namespace dmlconform::d3d12::reduction_bindings
