// Normalises groups of elements that share their parameters, run by run.
#include "engine/cpu/normalisation/batch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/reduction/floats.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::normalisation {
namespace {

/// Arrays of the iteration: the input, four parameters, and the output.
enum Array : std::size_t { from, first_parameter, to = first_parameter + 4, array_count };

using Runs = core::StridedRuns<array_count>;
using Parameters = std::vector<const core::Tensor*>;

Runs runs_of(const core::Tensor& input, const Parameters& parameters, const core::Tensor& output) {
    std::array<core::Strides, array_count> strides;
    strides[from] = core::signed_strides(input.desc);
    std::ranges::transform(parameters, &strides[first_parameter],
                           [](const core::Tensor* parameter) { return reduction::repeating_strides(parameter->desc); });
    strides[to] = core::signed_strides(output.desc);
    return {input.desc.sizes, strides};
}

bool shares_parameters(const Runs& runs) {
    return std::ranges::all_of(std::span(runs.run_strides()).subspan(first_parameter, to - first_parameter),
                               [](std::int64_t stride) { return stride == 0; });
}

Normalisation parameters_at(const Parameters& parameters, const Runs::PerArray& at, double epsilon) {
    std::array<double, to - first_parameter> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const core::Tensor& tensor = *parameters[i];
        element_wise::load(tensor.buffer.bytes(), {tensor.desc.data_type, at[first_parameter + i], 0}, 1, &numbers[i]);
    }
    return {numbers[0], numbers[1], numbers[2], numbers[3], epsilon};
}

void normalise(const Normalisation& set, std::span<const float> elements, float* results) {
    in_wide_registers([&] {
        const Normalisation here = set;
        std::ranges::transform(elements, results, [&](float x) { return static_cast<float>(here(double{x}, 0)); });
    });
}

}  // namespace

double Normalisation::factor_of(double scale, double variance, double epsilon) {
    return scale / std::sqrt(variance + epsilon);
}

bool normalise_floats(const KernelArguments& arguments, const Parameters& parameters) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Runs runs = runs_of(input, parameters, output);
    if (!arguments.slack.empty() || arguments.descriptor.activation("FusedActivation") != nullptr ||
        !reduction::lie_as_floats(input, runs.run_strides()[from]) ||
        !reduction::lie_as_floats(output, runs.run_strides()[to]) || !shares_parameters(runs)) {
        return false;
    }
    const double epsilon{arguments.descriptor.number("Epsilon")};
    const auto length = static_cast<std::size_t>(runs.run_length());
    parallel_for(runs.run_count(), runs.run_length() * 4, [&](std::int64_t first, std::int64_t last) {
        runs.for_each_run(first, last, [&](const Runs::PerArray& at) {
            normalise(parameters_at(parameters, at, epsilon), {reduction::floats_at(input, at[from]), length},
                      reduction::floats_at(output, at[to]));
        });
    });
    return true;
}

}  // namespace dmlconform::cpu::normalisation
