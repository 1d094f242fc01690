// MEAN_VARIANCE_NORMALIZATION and its numbered successors: two-pass mean and centred variance in double, rounded once
// at the end. Without a mean the variance is the mean of squares: DirectML 1.15.4 does so, and no documentation says
// it.
#include "engine/operators/rules/mean_variance_normalization1.h"

#include <cmath>
#include <vector>

#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/normalisation/running_sums.h"
#include "engine/cpu/normalized_element.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/xtensor.h"

namespace dmlconform::cpu {
namespace {

using operators::MeanVarianceNormalization1;

/// Order of Descriptor::inputs().
enum Input : std::size_t { input_tensor, scale_tensor, bias_tensor };

/// Arrays that are walked together; `logical` counts elements in row-major order.
enum Array : std::size_t { x, scale, bias, y, logical, array_count };

using Runs = core::StridedRuns<array_count>;

struct Moments {
    double mean = 0;
    double mean_magnitude = 0;
    double rstd = 1;
};

/// Running sums of a set, whatever it is divided into.
constexpr std::size_t lanes = 32;

template <class Number>
using Stretches = std::span<const std::span<const Number>>;

/// The mean's magnitude is computed if it is asked for.
template <class Number>
Moments moments_of(const MeanVarianceNormalization1& op, const Stretches<Number>& numbers, bool with_magnitude) {
    std::size_t all = 0;
    for (const std::span<const Number>& stretch : numbers) {
        all += stretch.size();
    }
    const auto count = static_cast<double>(all);
    Moments moments;
    if (op.subtract_mean) {
        moments.mean = normalisation::sum<lanes>(numbers, [](double v) { return v; }) / count;
        moments.mean_magnitude =
            with_magnitude ? normalisation::sum<lanes>(numbers, [](double v) { return std::fabs(v); }) / count : 0;
    }
    if (op.normalize_variance) {
        const double squares =
            normalisation::sum<lanes>(numbers, [=](double v) { return (v - moments.mean) * (v - moments.mean); });
        const double variance = squares / count;
        moments.rstd = 1 / std::sqrt(variance + double{op.epsilon});
    }
    return moments;
}

core::Strides broadcast_strides(const core::TensorDesc* desc, std::size_t rank) {
    core::Strides strides(rank);
    if (desc != nullptr) {
        strides = core::signed_strides(*desc);
        for (std::size_t d = 0; d < rank; ++d) {
            strides[d] = desc->sizes[d] == 1 ? 0 : strides[d];
        }
    }
    return strides;
}

/// Runs over the dimensions for which reduced[d] is `inside`, the others taken once.
Runs runs_over(const MeanVarianceNormalization1& op, bool inside) {
    const std::size_t rank = op.input.sizes.size();
    core::Dimensions sizes = op.input.sizes;
    for (std::size_t d = 0; d < rank; ++d) {
        sizes[d] = op.reduced[d] == inside ? sizes[d] : 1;
    }
    const auto packed = core::packed_strides(op.input.sizes);
    return {sizes,
            {core::signed_strides(op.input), broadcast_strides(op.scale, rank), broadcast_strides(op.bias, rank),
             core::signed_strides(op.output), core::Strides(packed.begin(), packed.end())}};
}

template <class T>
struct Pointers {
    const T* x = nullptr;
    const T* scale = nullptr;
    const T* bias = nullptr;
    T* y = nullptr;
    core::ElementSlack* slack = nullptr;
    const element_wise::FusedActivation* activation = nullptr;
    const core::Tensor* input = nullptr;
    core::Tensor* output = nullptr;
};

template <class T>
void load_set(const MeanVarianceNormalization1& op, const Pointers<T>& at, const Runs& inner,
              const Runs::PerArray& base, std::span<double> values) {
    double* to = values.data();
    inner.for_each_run([&](const Runs::PerArray& offset) {
        element_wise::load(at.input->buffer.bytes(), {op.input.data_type, base[x] + offset[x], inner.run_strides()[x]},
                           static_cast<std::size_t>(inner.run_length()), to);
        to += inner.run_length();
    });
}

/// If nobody asks for bounds, and the elements of a run have one scale and one bias.
template <class T>
void normalize_runs(const MeanVarianceNormalization1& op, const Pointers<T>& at, const Runs& inner,
                    const Runs::PerArray& base, std::span<double> values, const Moments& moments) {
    const auto length = static_cast<std::size_t>(inner.run_length());
    double* run = values.data();
    inner.for_each_run([&](const Runs::PerArray& offset) {
        const double by = at.scale == nullptr ? 1 : static_cast<double>(at.scale[base[scale] + offset[scale]]);
        const double plus = at.bias == nullptr ? 0 : static_cast<double>(at.bias[base[bias] + offset[bias]]);
        normalize({run, length}, moments.mean, {0, moments.mean_magnitude, moments.rstd, by, plus});
        element_wise::store(at.output->buffer.bytes(),
                            {op.output.data_type, base[y] + offset[y], inner.run_strides()[y]}, length, run,
                            element_wise::Store::wrapping);
        run += length;
    });
}

/// Whether a parameter's elements along a run are one, or an array.
bool is_one_or_an_array(std::int64_t stride) {
    return stride == 0 || stride == 1;
}

/// Whether a set is runs of FP32 numbers, to be added up in the order in which `load_set` has them.
bool is_of_floats(const MeanVarianceNormalization1& op, const Runs& inner) {
    const Runs::PerArray& steps = inner.run_strides();
    return op.input.data_type == core::DataType::float32 && steps[x] == 1 && steps[y] == 1 &&
           is_one_or_an_array(steps[scale]) && is_one_or_an_array(steps[bias]) &&
           (inner.run_count() == 1 || inner.run_length() % std::int64_t{lanes} == 0);
}

/// Normalises such a set without copies of it, if nobody asks for bounds.
void normalize_floats(const MeanVarianceNormalization1& op, const Pointers<float>& at, const Runs& inner,
                      const Runs::PerArray& base, std::vector<std::span<const float>>& stretches) {
    const auto length = static_cast<std::size_t>(inner.run_length());
    const Runs::PerArray& steps = inner.run_strides();
    stretches.clear();
    inner.for_each_run(
        [&](const Runs::PerArray& offset) { stretches.emplace_back(at.x + base[x] + offset[x], length); });
    const Moments moments = moments_of<float>(op, stretches, false);
    auto stretch = stretches.begin();
    inner.for_each_run([&](const Runs::PerArray& offset) {
        NormalizedElement shared{0, 0, moments.rstd, 1, 0};
        const auto own = [&](const float* parameter, Array array, double& number) -> const float* {
            const float* const first = parameter == nullptr ? nullptr : parameter + base[array] + offset[array];
            number = first == nullptr ? number : double{*first};
            return steps[array] == 0 ? nullptr : first;
        };
        const float* const scales = own(at.scale, scale, shared.scale);
        const float* const biases = own(at.bias, bias, shared.bias);
        normalize(*stretch++, moments.mean, shared, scales, biases, at.y + base[y] + offset[y]);
    });
}

/// Normalises the elements that share one mean. `base` is where they start in each array, `values` has room for them.
template <class T>
void normalize_set(const MeanVarianceNormalization1& op, const Pointers<T>& at, const Runs& inner,
                   const Runs::PerArray& base, std::span<double> values) {
    load_set(op, at, inner, base, values);
    const std::span<const double> numbers = values;
    const Moments moments = moments_of<double>(op, std::span(&numbers, 1), at.slack != nullptr);
    if (at.slack == nullptr && !at.activation->is_present() && inner.run_strides()[scale] == 0 &&
        inner.run_strides()[bias] == 0) {
        normalize_runs(op, at, inner, base, values, moments);
        return;
    }
    std::size_t count = 0;
    inner.for_each_run([&](Runs::PerArray offset) {
        for (std::size_t a = 0; a < array_count; ++a) {
            offset[a] += base[a];
        }
        for (std::int64_t i = 0; i < inner.run_length(); ++i) {
            NormalizedElement element{values[count++] - moments.mean, moments.mean_magnitude, moments.rstd, 1, 0};
            if (at.scale != nullptr) {
                element.scale = static_cast<double>(at.scale[offset[scale]]);
            }
            if (at.bias != nullptr) {
                element.bias = static_cast<double>(at.bias[offset[bias]]);
            }
            const double exact = (*at.activation)(normalized(element));
            const T result(static_cast<T>(exact));
            at.y[offset[y]] = result;
            if (at.slack != nullptr) {
                note_accepted(*at.slack, static_cast<std::size_t>(offset[logical]), op.input.data_type,
                              static_cast<double>(result), accepted_range(element, *at.activation, op.input.data_type));
            }
            for (std::size_t a = 0; a < array_count; ++a) {
                offset[a] += inner.run_strides()[a];
            }
        }
    });
}

template <class T>
void normalize(const MeanVarianceNormalization1& op, const Pointers<T>& at) {
    const Runs outer = runs_over(op, false);
    const Runs inner = runs_over(op, true);
    const std::int64_t count = inner.run_count() * inner.run_length();
    parallel_for(outer.run_count() * outer.run_length(), count * 8, [&](std::int64_t first, std::int64_t last) {
        if constexpr (std::is_same_v<T, float>) {
            if (at.slack == nullptr && !at.activation->is_present() && is_of_floats(op, inner)) {
                std::vector<std::span<const float>> stretches;
                for (std::int64_t set = first; set < last; ++set) {
                    normalize_floats(op, at, inner, outer.offsets_of(set), stretches);
                }
                return;
            }
        }
        auto values = xt::xtensor<double, 1>::from_shape({static_cast<std::size_t>(count)});
        for (std::int64_t set = first; set < last; ++set) {
            normalize_set(op, at, inner, outer.offsets_of(set), {values.data(), values.size()});
        }
    });
}

void compute(const KernelArguments& arguments) {
    const MeanVarianceNormalization1 op(arguments.descriptor);
    const element_wise::FusedActivation activation(op.activation);
    core::with_type(op.input.data_type, [&]<class T>() {
        const auto data = [&](Input input) {
            return arguments.inputs[input] == nullptr ? nullptr : arguments.inputs[input]->as<T>().data();
        };
        if constexpr (std::is_same_v<T, float> || std::is_same_v<T, core::Float16>) {
            normalize<T>(
                op, {data(input_tensor), data(scale_tensor), data(bias_tensor), arguments.outputs[0]->as<T>().data(),
                     arguments.slack.empty() ? nullptr : &arguments.slack[0], &activation, arguments.inputs[0],
                     arguments.outputs[0]});
        }
    });
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return normalization_tolerance();
}

}  // namespace

Kernels mean_variance_normalization1_kernels() {
    return {{"MEAN_VARIANCE_NORMALIZATION", compute, tolerance},
            {"MEAN_VARIANCE_NORMALIZATION1", compute, tolerance},
            {"MEAN_VARIANCE_NORMALIZATION2", compute, tolerance}};
}

}  // namespace dmlconform::cpu
