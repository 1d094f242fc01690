// LP_NORMALIZATION: divides each element by the norm of its sequence. Equals definitions/reduction.cpp.
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/normalisation/running_sums.h"
#include "engine/cpu/reduction/reduction.h"
#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::lp_normalization_kernels {
namespace {

using reduction::Sets;

// Measured on DirectML 1.15.4: x / sqrt(norm * norm + Epsilon). The documentation does not say where Epsilon goes.

/// What is summed for the norm: magnitudes, or squares.
template <class T>
T term(T x, std::uint32_t p) {
    return p == 1 ? abs(x) : x * x;
}

template <class T>
T divisor(T sum, std::uint32_t p, T epsilon) {
    return sqrt((p == 1 ? sum * sum : sum) + epsilon);
}

/// Arrays of the iteration: the input, the output, and row-major indices.
enum Array : std::size_t { from, to, number };

void compute(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    const std::uint32_t p = arguments.descriptor.uint("P");
    const double epsilon{arguments.descriptor.number("Epsilon")};
    const Sets<3> sets(input.desc.sizes,
                       reduction::reduced_dimensions({{arguments.descriptor.uint("Axis")}}, input.desc.sizes.size()),
                       {core::signed_strides(input.desc), core::signed_strides(output.desc),
                        reduction::numbering_strides(input.desc.sizes)});
    parallel_for(sets.count(), 16 * sets.size(), [&](std::int64_t first, std::int64_t last) {
        std::vector<double> elements;
        for (std::int64_t set = first; set < last; ++set) {
            const auto start = sets.kept().offsets_of(set);
            elements.clear();
            reduction::for_each_segment<from, double>(sets, input, start[from], [&](std::span<const double> segment) {
                elements.insert(elements.end(), segment.begin(), segment.end());
            });
            const double sum = normalisation::sum(elements, [p](double x) { return term(x, p); });
            const double by = divisor(sum, p, epsilon);
            const auto& strides = sets.inside().run_strides();
            if (slack == nullptr) {
                in_wide_registers([&] {
                    for (double& element : elements) {
                        element = element / by;
                    }
                });
                element_wise::store(output.buffer.bytes(), {output.desc.data_type, start[to], strides[to]},
                                    elements.size(), elements.data(), element_wise::Store::wrapping);
                continue;
            }
            reduction::SumRange range;
            for (const double x : elements) {
                range.add(term(Interval(x), p));
            }
            const Interval by_range = divisor(range.result(), p, Interval(epsilon));
            for (std::size_t i = 0; i < elements.size(); ++i) {
                const auto steps = static_cast<std::int64_t>(i);
                movement::store_computed(output, start[to] + steps * strides[to],
                                         start[number] + steps * strides[number], elements[i] / by, slack,
                                         [&] { return Interval(elements[i]) / by_range; });
            }
        }
    });
}

}  // namespace

Kernels kernels() {
    return {{.name = "LP_NORMALIZATION",
             .compute = compute,
             .tolerance = [](const operators::Descriptor&, const operators::TensorSlot&) {
                 return movement::computed_tolerance(true, "FP32 as Direct3D allows it, the sum in any order");
             }}};
}

}  // namespace dmlconform::cpu::lp_normalization_kernels
