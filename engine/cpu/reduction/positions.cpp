// Finds the index of the extreme element, with the best element so far as the running total.
#include "engine/cpu/reduction/positions.h"

#include <cmath>
#include <limits>

#include "engine/cpu/reduction/reduction.h"

namespace dmlconform::cpu::reduction {
namespace {

/// Measured on DirectML 1.15.4: an element replaces the best one if the comparison holds. It never holds for NaN, so
/// NaN wins only as the first element.
template <class Number, bool greatest, bool last>
struct Best {
    /// Elements must come in order.
    static constexpr std::size_t lanes = 1;

    Number value = 0;
    std::int64_t position = -1;
    std::int64_t seen = 0;

    void add(Number element) {
        const bool better = greatest ? element > value : element < value;
        if (better || position < 0 || (last && element == value)) {
            value = element;
            position = seen;
        }
        ++seen;
    }
};

/// Calls use.template operator()<greatest, last>().
template <class Use>
void with_wanted(Wanted wanted, const Use& use) {
    if (wanted.greatest) {
        wanted.last ? use.template operator()<true, true>() : use.template operator()<true, false>();
    } else {
        wanted.last ? use.template operator()<false, true>() : use.template operator()<false, false>();
    }
}

template <class Number, class Map, class Visit>
void for_each_position(const Reduction& reduction, Wanted wanted, const Map& map, const Visit& visit) {
    with_wanted(wanted, [&]<bool greatest, bool last>() {
        using Total = Best<Number, greatest, last>;
        reduction.for_each_total<Number, Total>(
            map, [&](std::int64_t set, std::int64_t to, const Total& best) { visit(set, to, best.position); });
    });
}

template <class Number>
void store_positions(const Reduction& reduction, Wanted wanted) {
    core::Tensor& output = reduction.output();
    for_each_position<Number>(
        reduction, wanted, [](Number x) { return x; },
        [&](std::int64_t, std::int64_t to, std::int64_t position) {
            const Signed number(position);
            element_wise::store(output.buffer.bytes(), {output.desc.data_type, to, 0}, 1, &number,
                                element_wise::Store::wrapping);
        });
}

double without_subnormal(double x) {
    return std::fabs(x) < double{std::numeric_limits<float>::min()} ? 0 : x;
}

/// If subnormal numbers decide, the index found with subnormals flushed to zero is accepted as well.
void list_alternatives(const Reduction& reduction, Wanted wanted, core::ElementSlack& slack) {
    std::vector<std::uint64_t> found(static_cast<std::size_t>(reduction.sets().count()));
    const auto note = [&](std::int64_t set, std::int64_t, std::int64_t position) {
        found[static_cast<std::size_t>(set)] = static_cast<std::uint64_t>(position);
    };
    for_each_position<double>(
        reduction, wanted, [](double x) { return x; }, note);
    const std::vector<std::uint64_t> exact = found;
    for_each_position<double>(reduction, wanted, without_subnormal, note);
    for (std::size_t set = 0; set < found.size(); ++set) {
        if (found[set] != exact[set]) {
            slack.alternatives.emplace_back(set, std::min(found[set], exact[set]));
            slack.alternatives.emplace_back(set, std::max(found[set], exact[set]));
        }
    }
}

}  // namespace

void find_positions(const KernelArguments& arguments, Wanted wanted) {
    const core::Tensor& input = *arguments.inputs[0];
    const core::DataType type = input.desc.data_type;
    const Reduction reduction(input, *arguments.outputs[0],
                              reduced_dimensions(arguments.descriptor.uints("Axes"), input.desc.sizes.size()));
    if (core::is_floating_point(type)) {
        store_positions<double>(reduction, wanted);
    } else if (core::is_signed_integer(type)) {
        store_positions<Signed>(reduction, wanted);
    } else {
        store_positions<Unsigned>(reduction, wanted);
    }
    if (type == core::DataType::float32 && !arguments.slack.empty()) {
        list_alternatives(reduction, wanted, arguments.slack[0]);
    }
}

core::Tolerance tolerance_of_positions(const operators::Descriptor& descriptor) {
    core::Tolerance tolerance;
    tolerance.exact = true;
    tolerance.alternatives = descriptor.tensor("InputTensor")->data_type == core::DataType::float32;
    return tolerance;
}

}  // namespace dmlconform::cpu::reduction
