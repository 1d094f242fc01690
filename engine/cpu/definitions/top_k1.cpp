// TOP_K and TOP_K1.
#include <algorithm>
#include <numeric>

#include "engine/cpu/definitions/call.h"

namespace dmlconform::cpu::definitions::top_k1_definitions {
namespace {

/// True if element a comes before element b: larger numbers first, or smaller ones. NaN is last.
template <class Number>
bool comes_first(const Number& a, const Number& b, bool decreasing) {
    const bool a_is_nan = !(a == a);
    const bool b_is_nan = !(b == b);
    return a_is_nan || b_is_nan ? !a_is_nan && b_is_nan : decreasing ? a > b : a < b;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_top_k_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_top_k1_operator_desc
// The first K elements along the axis, sorted, and their indices. Equal elements keep their order.
constexpr auto top_k = []<class Real>(Call& call) {
    using operators::AxisDirection;
    const bool decreasing = !call.has_field("AxisDirection") ||
                            enumerator<AxisDirection>(call.descriptor, "AxisDirection") == AxisDirection::decreasing;
    const auto axis = static_cast<std::size_t>(call.uint("Axis"));
    with_number<Real>(call.type("InputTensor"), [&]<class Number>() {
        const auto x = call.input<Number>("InputTensor");
        const auto bits = call.input<Bits>("InputTensor");
        auto& values = call.output<Bits>("OutputValueTensor");
        auto& indices = call.output<Signed>("OutputIndexTensor");
        for_each_index(values.sizes.with(axis, 1), [&](const Index& sequence) {
            std::vector<std::int64_t> order(static_cast<std::size_t>(x.sizes[axis]));
            std::iota(order.begin(), order.end(), 0);
            std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
                return comes_first(x[sequence.with(axis, a)], x[sequence.with(axis, b)], decreasing);
            });
            for (std::int64_t i = 0; i < call.uint("K"); ++i) {
                const std::int64_t index = order[static_cast<std::size_t>(i)];
                values[sequence.with(axis, i)] = bits[sequence.with(axis, index)];
                indices[sequence.with(axis, i)] = index;
            }
        });
    });
};

}  // namespace

Definitions definitions() {
    return {define("TOP_K", top_k), define("TOP_K1", top_k)};
}

}  // namespace dmlconform::cpu::definitions::top_k1_definitions
