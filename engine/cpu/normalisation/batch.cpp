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
enum BatchArray : std::size_t { from, batch_parameter, to = batch_parameter + 4, batch_arrays };

using Runs = core::StridedRuns<batch_arrays>;
using Parameters = std::vector<const core::Tensor*>;

Runs runs_of(const core::TensorDesc& input, const Parameters& parameters, const core::TensorDesc& output) {
    std::array<core::Strides, batch_arrays> strides;
    strides[from] = core::signed_strides(input);
    std::ranges::transform(parameters, &strides[batch_parameter],
                           [](const core::Tensor* parameter) { return reduction::repeating_strides(parameter->desc); });
    strides[to] = core::signed_strides(output);
    return {input.sizes, strides};
}

bool shares_parameters(const Runs& runs) {
    return std::ranges::all_of(std::span(runs.run_strides()).subspan(batch_parameter, to - batch_parameter),
                               [](std::int64_t stride) { return stride == 0; });
}

Normalisation parameters_at(const Parameters& parameters, const Runs::PerArray& at, double epsilon) {
    std::array<double, to - batch_parameter> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const core::Tensor& tensor = *parameters[i];
        element_wise::load(tensor.buffer.bytes(), {tensor.desc.data_type, at[batch_parameter + i], 0}, 1, &numbers[i]);
    }
    return {numbers[0], numbers[1], numbers[2], numbers[3], epsilon};
}

void normalise(const Normalisation& set, std::span<const float> elements, float* results) {
    in_wide_registers([&] {
        const Normalisation here = set;
        std::ranges::transform(elements, results, [&](float x) { return static_cast<float>(here(double{x}, 0)); });
    });
}

/// Normalises `length` elements of each run, whose first ones are `stride` apart.
void normalise_runs(const Normalisation& set, const float* elements, float* results, std::int64_t length,
                    std::size_t runs, std::int64_t stride) {
    in_wide_registers([&] {
        const Normalisation here = set;
        const auto last = static_cast<std::int64_t>(runs) * stride;
        for (std::int64_t run = 0; run < last; run += stride) {
            for (std::int64_t i = run; i < run + length; ++i) {
                results[i] = static_cast<float>(here(double{elements[i]}, 0));
            }
        }
    });
}

}  // namespace

double Normalisation::factor_of(double scale, double variance, double epsilon) {
    return scale / std::sqrt(variance + epsilon);
}

bool normalise_floats(const KernelArguments& arguments, const Parameters& parameters) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[0];
    const Runs runs = runs_of(input.desc, parameters, output.desc);
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

std::optional<ElementByElement> normalise_parts(const operators::Descriptor& descriptor, const Parameters& parameters) {
    const core::TensorDesc& input = *descriptor.tensor("InputTensor");
    const core::TensorDesc& output = *descriptor.tensor("OutputTensor");
    if (descriptor.activation("FusedActivation") != nullptr || !is_packed_float32(input) ||
        !is_packed_float32(output)) {
        return std::nullopt;
    }
    const Runs groups = runs_of(input, parameters, output);
    if (!shares_parameters(groups)) {
        return std::nullopt;
    }
    const double epsilon{descriptor.number("Epsilon")};
    return ElementByElement{{0},
                            [groups, parameters, epsilon](std::int64_t first, std::int64_t count, std::size_t runs,
                                                          std::span<const float* const> in, float* out) {
                                for (std::int64_t done = 0; done < count;) {
                                    const std::int64_t group = (first + done) / groups.run_length();
                                    const std::int64_t length =
                                        std::min(count - done, (group + 1) * groups.run_length() - first - done);
                                    groups.for_each_run(group, group + 1, [&](const Runs::PerArray& at) {
                                        normalise_runs(parameters_at(parameters, at, epsilon), in[0] + done, out + done,
                                                       length, runs, count);
                                    });
                                    done += length;
                                }
                            }};
}

}  // namespace dmlconform::cpu::normalisation
