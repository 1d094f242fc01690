// Operators that reduce, search, and add up along an axis.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/interop/export/operator_writer.h"
#include "engine/operators/enumerators.h"

namespace dmlconform::interop::exporting {
namespace {

using operators::ReduceFunction;

constexpr std::pair<ReduceFunction, const char*> reductions[] = {
    {ReduceFunction::average, "ReduceMean"},
    {ReduceFunction::l1, "ReduceL1"},
    {ReduceFunction::l2, "ReduceL2"},
    {ReduceFunction::log_sum, "ReduceLogSum"},
    {ReduceFunction::log_sum_exp, "ReduceLogSumExp"},
    {ReduceFunction::max, "ReduceMax"},
    {ReduceFunction::min, "ReduceMin"},
    {ReduceFunction::multiply, "ReduceProd"},
    {ReduceFunction::sum, "ReduceSum"},
    {ReduceFunction::sum_square, "ReduceSumSquare"},
};

bool is_decreasing(OperatorWriter& to) {
    return to.enumerator<operators::AxisDirection>("AxisDirection") == operators::AxisDirection::decreasing;
}

/// The first or the last position of the greatest or the least along several axes, which are counted as one.
void write_position(OperatorWriter& to, const char* node, bool last) {
    ModelWriter& w = to.w;
    const Value x = to.in("InputTensor");
    const Numbers axes = axes_of(to.desc);
    core::Dimensions sizes = x.sizes;
    Numbers order;
    std::uint32_t size = 1;
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(x.rank()); ++d) {
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
            order.push_back(d);
        }
    }
    Value flat = x;
    std::int64_t axis = axes.empty() ? 0 : axes.front();
    if (axes.size() != 1) {
        core::Dimensions kept;
        for (const std::int64_t d : order) {
            kept.push_back(sizes[static_cast<std::size_t>(d)]);
        }
        for (const std::int64_t d : axes) {
            order.push_back(d);
            size *= sizes[static_cast<std::size_t>(d)];
        }
        axis = static_cast<std::int64_t>(kept.size());
        kept.push_back(size);
        flat = w.reshape(w.transpose(x, order), kept);
    }
    core::Dimensions made = flat.sizes;
    made[static_cast<std::size_t>(axis)] = 1;
    to.out("OutputTensor",
           w.node(node, {flat}, onnx_int64, made,
                  {attribute("axis", axis), attribute("select_last_index", std::int64_t{last ? 1 : 0})}));
}

void write_reduce(OperatorWriter& to) {
    const auto function = to.enumerator<ReduceFunction>("Function");
    if (function == ReduceFunction::argmax || function == ReduceFunction::argmin) {
        write_position(to, function == ReduceFunction::argmax ? "ArgMax" : "ArgMin", false);
        return;
    }
    const auto found = std::ranges::find(reductions, function, &std::pair<ReduceFunction, const char*>::first);
    if (found == std::end(reductions)) {
        to.fail("the reduction is unknown");
        return;
    }
    Value x = to.in("InputTensor");
    Numbers axes = axes_of(to.desc);
    if (axes.empty()) {
        // For ONNX an empty list means all axes.
        axes = {1};
        x = to.w.reshape(x, {static_cast<std::uint32_t>(x.count()), 1});
    }
    to.out("OutputTensor", to.w.reduce(found->second, x, axes));
}

void write_argmax(OperatorWriter& to) {
    write_position(to, "ArgMax", is_decreasing(to));
}
void write_argmin(OperatorWriter& to) {
    write_position(to, "ArgMin", is_decreasing(to));
}

void write_cumulative_sum(OperatorWriter& to) {
    const Value axis = to.w.bits(core::DataType::int64, to.uint("Axis"));
    to.out("OutputTensor", to.w.each("CumSum", {to.precise("InputTensor"), axis},
                                     {attribute("exclusive", std::int64_t{to.uint("HasExclusiveSum")}),
                                      attribute("reverse", std::int64_t{is_decreasing(to)})}));
}

/// ONNX has no running products: each is one over all elements, in which those that do not count are 1.
void write_cumulative_product(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value x = to.precise("InputTensor");
    const std::size_t axis = to.uint("Axis");
    const std::uint32_t size = x.sizes[axis];
    constexpr std::uint32_t longest = 512;
    if (size > longest) {
        to.fail("running products along so many elements would need too much memory");
        return;
    }
    std::uint32_t before = 1;
    for (std::size_t d = 0; d < axis; ++d) {
        before *= x.sizes[d];
    }
    const auto after = static_cast<std::uint32_t>(x.count() / before / size);
    const Value factors = w.reshape(x, {before, 1, size, after});
    const Value row = w.integers({1, size, 1, 1}, counted(size));
    const Value column = w.integers({1, 1, size, 1}, counted(size));
    const bool is_reverse = is_decreasing(to);
    const bool is_exclusive = to.uint("HasExclusiveProduct") != 0;
    const Value beyond = w.test(is_reverse ? "Less" : "Greater", {column, row});
    const Value left_out = is_exclusive ? w.test("Or", {beyond, w.test("Equal", {column, row})}) : beyond;
    const Value counted_ones = w.where(left_out, w.like(x, 1), factors);
    to.out("OutputTensor", w.reduce("ReduceProd", counted_ones, {2}));
}

void write_top(OperatorWriter& to, bool is_largest) {
    const Value x = to.in("InputTensor");
    const core::Dimensions& sizes = to.sizes("OutputValueTensor");
    const auto made = to.w.node(
        "TopK", {x, to.w.list({std::int64_t{to.uint("K")}})},
        std::vector<Value>{{"", x.type, sizes}, {"", onnx_int64, sizes}},
        {attribute("axis", std::int64_t{to.uint("Axis")}), attribute("largest", std::int64_t{is_largest ? 1 : 0})});
    to.out("OutputValueTensor", made[0]);
    to.out("OutputIndexTensor", made[1]);
}

void write_top_k(OperatorWriter& to) {
    write_top(to, true);
}
void write_top_k1(OperatorWriter& to) {
    write_top(to, is_decreasing(to));
}

/// x / sqrt(norm * norm + Epsilon)
void write_lp_normalization(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Numbers axis{std::int64_t{to.uint("Axis")}};
    const std::uint32_t p = to.uint("P");
    const double epsilon = to.number("Epsilon");
    if (epsilon == 0) {
        const Value x = to.in("InputTensor");
        to.out("OutputTensor", w.node("LpNormalization", {x}, x.type, x.sizes,
                                      {attribute("axis", axis.front()), attribute("p", std::int64_t{p})}));
        return;
    }
    const Value x = to.precise("InputTensor");
    const Value norm = w.reduce(p == 1 ? "ReduceL1" : "ReduceSumSquare", x, axis);
    const Value square = p == 1 ? w.mul(norm, norm) : norm;
    to.out("OutputTensor", w.div(x, w.each("Sqrt", {w.add(square, w.like(x, epsilon))})));
}

constexpr std::array<OperatorExport, 9> reduction_rows{{
    {"REDUCE", write_reduce},
    {"ARGMAX", write_argmax},
    {"ARGMIN", write_argmin},
    {"CUMULATIVE_SUMMATION", write_cumulative_sum},
    {"CUMULATIVE_PRODUCT", write_cumulative_product},
    {"TOP_K", write_top_k},
    {"TOP_K1", write_top_k1},
    {"NONZERO_COORDINATES", nullptr, nullptr,
     "NonZero has a result whose size is known only when the model runs, which is not imported again: not proven"},
    {"LP_NORMALIZATION", write_lp_normalization},
}};

}  // namespace

std::span<const OperatorExport> reduction_exports() {
    return reduction_rows;
}

}  // namespace dmlconform::interop::exporting
