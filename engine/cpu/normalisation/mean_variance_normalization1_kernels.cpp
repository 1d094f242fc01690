// MEAN_VARIANCE_NORMALIZATION and its numbered successors. Mean and centred variance are computed in double in two
// passes; the result is rounded once. Without the mean, the variance is the mean of squares, as measured on DirectML
// 1.15.4; it is undocumented. Equals definitions/normalisation.cpp.
#include <cmath>
#include <vector>

#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/normalisation/normalized_element.h"
#include "engine/cpu/normalisation/normalized_floats.h"
#include "engine/cpu/normalisation/running_sums.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/variants.h"
#include "engine/cpu/xtensor.h"

namespace dmlconform::cpu::mean_variance_normalization1_kernels {
namespace {

/// Indices into Descriptor::inputs().
enum Input : std::size_t { input_tensor, scale_tensor, bias_tensor };

/// Whether the mean is taken over each dimension. Without axes, batches are never part of it.
std::vector<bool> averaged_dimensions(const operators::Descriptor& descriptor) {
    const std::size_t rank = descriptor.sizes("InputTensor").size();
    if (descriptor.has_field("Axes")) {
        return reduction::reduced_dimensions(descriptor.uints("Axes"), rank);
    }
    std::vector<bool> averaged(rank, true);
    averaged[0] = false;
    averaged[1] = descriptor.uint("CrossChannel") != 0;
    return averaged;
}

/// The three operators as one. Refers to the descriptor.
struct Normalization {
    explicit Normalization(const operators::Descriptor& descriptor)
        : input(*descriptor.tensor("InputTensor")),
          output(*descriptor.tensor("OutputTensor")),
          scale(descriptor.tensor("ScaleTensor")),
          bias(descriptor.tensor("BiasTensor")),
          reduced(averaged_dimensions(descriptor)),
          epsilon(descriptor.number("Epsilon")) {
        const auto flag = [&](const char* field, bool otherwise) {
            return descriptor.has_field(field) ? descriptor.uint(field) != 0 : otherwise;
        };
        subtract_mean = flag("UseMean", true);
        normalize_variance = flag("UseVariance", flag("NormalizeVariance", false));
    }

    const core::TensorDesc& input;
    const core::TensorDesc& output;
    const core::TensorDesc* scale;
    const core::TensorDesc* bias;
    std::vector<bool> reduced;
    bool subtract_mean = true;
    /// Without the mean, the variance is the mean of squares.
    bool normalize_variance = true;
    float epsilon;
    /// See StatisticsAttributes.
    bool stores_variance = false;
};

/// Arrays of the iteration; `logical` is the row-major index of the element.
enum Array : std::size_t { x, scale, bias, y, logical, array_count };

using Runs = core::StridedRuns<array_count>;

struct Moments {
    double mean = 0;
    double rstd = 1;
    /// Variances of expected errors: see NormalizedElement.
    double mean_variance = 0;
    double relative_rstd_variance = 0;
};

/// The number of running sums of a normalisation group, independent of how it is divided.
constexpr std::size_t lanes = 32;

template <class Number>
using Segments = std::span<const std::span<const Number>>;

/// Also sums what the error bounds need, if they are wanted.
template <class Number>
Moments moments_of(const Normalization& op, const Segments<Number>& numbers, bool with_errors) {
    std::size_t all = 0;
    for (const std::span<const Number>& segment : numbers) {
        all += segment.size();
    }
    const auto count = static_cast<double>(all);
    Moments moments;
    if (op.subtract_mean) {
        moments.mean = normalisation::sum<lanes>(numbers, [](double v) { return v; }) / count;
        if (with_errors) {
            moments.mean_variance = variance_of_mean(
                count, normalisation::sum<lanes>(numbers, [](double v) { return v * v; }), moments.mean);
        }
    }
    if (op.normalize_variance) {
        const double squares =
            normalisation::sum<lanes>(numbers, [=](double v) { return (v - moments.mean) * (v - moments.mean); });
        const double variance = squares / count;
        moments.rstd = 1 / std::sqrt(variance + double{op.epsilon});
        if (with_errors) {
            const double fourth_powers = normalisation::sum<lanes>(numbers, [=](double v) {
                const double square = (v - moments.mean) * (v - moments.mean);
                return square * square;
            });
            moments.relative_rstd_variance =
                relative_variance_of_rstd(count, fourth_powers, variance, double{op.epsilon}, moments.mean_variance);
        }
    }
    return moments;
}

core::Strides strides_of(const core::TensorDesc* parameter, std::size_t rank) {
    return parameter == nullptr ? core::Strides(rank) : reduction::repeating_strides(*parameter);
}

/// Runs over the dimensions with reduced[d] == `inside`; all other dimensions have size 1.
Runs runs_over(const Normalization& op, bool inside) {
    const std::size_t rank = op.input.sizes.size();
    core::Dimensions sizes = op.input.sizes;
    for (std::size_t d = 0; d < rank; ++d) {
        sizes[d] = op.reduced[d] == inside ? sizes[d] : 1;
    }
    const auto packed = core::packed_strides(op.input.sizes);
    return {sizes,
            {core::signed_strides(op.input), strides_of(op.scale, rank), strides_of(op.bias, rank),
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
void load_set(const Normalization& op, const Pointers<T>& at, const Runs& inner, const Runs::PerArray& base,
              std::span<double> values) {
    double* to = values.data();
    inner.for_each_run([&](const Runs::PerArray& offset) {
        element_wise::load(at.input->buffer.bytes(), {op.input.data_type, base[x] + offset[x], inner.run_strides()[x]},
                           static_cast<std::size_t>(inner.run_length()), to);
        to += inner.run_length();
    });
}

/// For the case that no bounds are wanted and the elements of a run share one scale and bias.
template <class T>
void normalize_runs(const Normalization& op, const Pointers<T>& at, const Runs& inner, const Runs::PerArray& base,
                    std::span<double> values, const Moments& moments) {
    const auto length = static_cast<std::size_t>(inner.run_length());
    double* run = values.data();
    inner.for_each_run([&](const Runs::PerArray& offset) {
        const double by = at.scale == nullptr ? 1 : static_cast<double>(at.scale[base[scale] + offset[scale]]);
        const double plus = at.bias == nullptr ? 0 : static_cast<double>(at.bias[base[bias] + offset[bias]]);
        normalize({run, length}, moments.mean, {0, moments.rstd, by, plus});
        element_wise::store(at.output->buffer.bytes(),
                            {op.output.data_type, base[y] + offset[y], inner.run_strides()[y]}, length, run,
                            element_wise::Store::wrapping);
        run += length;
    });
}

/// True if a parameter is constant or contiguous along a run.
bool is_one_or_an_array(std::int64_t stride) {
    return stride == 0 || stride == 1;
}

/// True if a group consists of runs of FLOAT32 elements, which can be summed in the order of `load_set`.
bool is_of_floats(const Normalization& op, const Runs& inner) {
    const Runs::PerArray& steps = inner.run_strides();
    return op.input.data_type == core::DataType::float32 && steps[x] == 1 && steps[y] == 1 &&
           is_one_or_an_array(steps[scale]) && is_one_or_an_array(steps[bias]) &&
           (inner.run_count() == 1 || inner.run_length() % std::int64_t{lanes} == 0);
}

/// Normalises such a group without copying it, if no bounds are wanted.
void normalize_floats(const Normalization& op, const Pointers<float>& at, const Runs& inner, const Runs::PerArray& base,
                      std::vector<std::span<const float>>& segments) {
    const auto length = static_cast<std::size_t>(inner.run_length());
    const Runs::PerArray& steps = inner.run_strides();
    segments.clear();
    inner.for_each_run(
        [&](const Runs::PerArray& offset) { segments.emplace_back(at.x + base[x] + offset[x], length); });
    const Moments moments = moments_of<float>(op, segments, false);
    auto segment = segments.begin();
    inner.for_each_run([&](const Runs::PerArray& offset) {
        NormalizedElement shared{0, moments.rstd, 1, 0};
        const auto own = [&](const float* parameter, Array array, double& number) -> const float* {
            const float* const first = parameter == nullptr ? nullptr : parameter + base[array] + offset[array];
            number = first == nullptr ? number : double{*first};
            return steps[array] == 0 ? nullptr : first;
        };
        const float* const scales = own(at.scale, scale, shared.scale);
        const float* const biases = own(at.bias, bias, shared.bias);
        normalize(*segment++, moments.mean, shared, scales, biases, at.y + base[y] + offset[y]);
    });
}

StatisticsAttributes statistics_attributes(const Normalization& op) {
    std::size_t dimensions = 0;
    for (std::size_t d = 0; d < op.input.sizes.size(); ++d) {
        dimensions += op.reduced[d] && op.input.sizes[d] > 1 ? 1 : 0;
    }
    return {op.input.data_type,    dimensions,         op.subtract_mean,
            op.normalize_variance, double{op.epsilon}, op.stores_variance};
}

/// A run of a group's elements, with the offset of the first one in each array.
template <class T>
struct Run {
    const Normalization& op;
    const Pointers<T>& at;
    Runs::PerArray first;
    const Runs::PerArray& steps;
    std::span<const double> x;
    /// What the elements share; scale and bias if they have none of their own.
    NormalizedElement shared;

    [[nodiscard]] std::int64_t offset(Array array, std::size_t i) const {
        return first[array] + static_cast<std::int64_t>(i) * steps[array];
    }
    [[nodiscard]] NormalizedElement element(std::size_t i) const {
        NormalizedElement result = shared;
        result.centred = x[i] - shared.mean;
        result.scale = at.scale == nullptr ? 1 : static_cast<double>(at.scale[offset(scale, i)]);
        result.bias = at.bias == nullptr ? 0 : static_cast<double>(at.bias[offset(bias, i)]);
        return result;
    }
};

/// Stores the slack of a run, for which the reference computed `exact`.
template <class T>
void note_slack(const Run<T>& run, std::span<const double> exact, const StatisticsRange& statistics) {
    const core::DataType type = run.op.input.data_type;
    const bool has_own_scale = run.at.scale != nullptr && run.steps[scale] != 0;
    const bool has_own_bias = run.at.bias != nullptr && run.steps[bias] != 0;
    const bool have_own = has_own_scale || has_own_bias;
    const NormalizedElement front = run.element(0);
    using normalisation::NormalisationRange;
    const NormalisationRange shared =
        have_own ? NormalisationRange() : NormalisationRange(statistics.mean, statistics.rstd, front.scale, front.bias);
    const auto one = [&](std::size_t i) {
        const NormalizedElement element = run.element(i);
        const auto by = [&](const auto& range) {
            return accepted_range(run.x[i], element, range, *run.at.activation, type);
        };
        note_accepted(*run.at.slack, static_cast<std::size_t>(run.offset(logical, i)), type,
                      static_cast<double>(static_cast<T>(exact[i])), have_own ? by(statistics) : by(shared));
    };
    if constexpr (std::is_same_v<T, float>) {
        if (!run.at.activation->is_present() && run.steps[logical] == 1 && is_one_or_an_array(run.steps[scale]) &&
            is_one_or_an_array(run.steps[bias])) {
            note_normalized_floats(*run.at.slack, static_cast<std::size_t>(run.first[logical]),
                                   {run.x, front, has_own_scale ? run.at.scale + run.first[scale] : nullptr,
                                    has_own_bias ? run.at.bias + run.first[bias] : nullptr},
                                   exact, statistics, one);
            return;
        }
    }
    for (std::size_t i = 0; i < exact.size(); ++i) {
        one(i);
    }
}

/// Normalises the elements that share a mean. `base` has the offset of the first one in each array, `values` is scratch
/// memory for them.
template <class T>
void normalize_set(const Normalization& op, const Pointers<T>& at, const Runs& inner, const Runs::PerArray& base,
                   std::span<double> values) {
    load_set(op, at, inner, base, values);
    const std::span<const double> numbers = values;
    Moments moments = moments_of<double>(op, std::span(&numbers, 1), at.slack != nullptr);
    if (at.slack == nullptr && !at.activation->is_present() && inner.run_strides()[scale] == 0 &&
        inner.run_strides()[bias] == 0) {
        normalize_runs(op, at, inner, base, values, moments);
        return;
    }
    const StatisticsRange statistics =
        at.slack != nullptr ? statistics_range(numbers, moments.mean, statistics_attributes(op)) : StatisticsRange();
    if (op.stores_variance && op.normalize_variance && at.slack != nullptr) {
        moments.rstd = statistics.rstd.value;
    }
    std::vector<double> exact(static_cast<std::size_t>(inner.run_length()));
    const NormalizedElement shared{
        0, moments.rstd, 1, 0, moments.mean, moments.mean_variance, moments.relative_rstd_variance};
    inner.for_each_run([&](const Runs::PerArray& offset) {
        Run<T> run{op, at, base, inner.run_strides(), values.first(exact.size()), shared};
        for (std::size_t a = 0; a < array_count; ++a) {
            run.first[a] += offset[a];
        }
        for (std::size_t i = 0; i < exact.size(); ++i) {
            exact[i] = (*at.activation)(normalized(run.element(i)));
            at.y[run.offset(y, i)] = static_cast<T>(exact[i]);
        }
        if (at.slack != nullptr) {
            note_slack(run, exact, statistics);
        }
        values = values.subspan(exact.size());
    });
}

template <class T>
void normalize(const Normalization& op, const Pointers<T>& at) {
    const Runs outer = runs_over(op, false);
    const Runs inner = runs_over(op, true);
    const std::int64_t count = inner.run_count() * inner.run_length();
    parallel_for(outer.run_count() * outer.run_length(), count * 8, [&](std::int64_t first, std::int64_t last) {
        if constexpr (std::is_same_v<T, float>) {
            if (at.slack == nullptr && !at.activation->is_present() && is_of_floats(op, inner)) {
                std::vector<std::span<const float>> segments;
                for (std::int64_t set = first; set < last; ++set) {
                    normalize_floats(op, at, inner, outer.offsets_of(set), segments);
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

void normalize(const KernelArguments& arguments, bool stores_variance) {
    Normalization op(arguments.descriptor);
    op.stores_variance = stores_variance;
    const element_wise::FusedActivation activation(arguments.descriptor.activation("FusedActivation"));
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

void compute(const KernelArguments& arguments) {
    normalize(arguments, false);
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return normalization_tolerance();
}

}  // namespace

Kernels kernels() {
    return {{"MEAN_VARIANCE_NORMALIZATION", compute, tolerance},
            {"MEAN_VARIANCE_NORMALIZATION1", compute, tolerance},
            {"MEAN_VARIANCE_NORMALIZATION2", compute, tolerance}};
}

}  // namespace dmlconform::cpu::mean_variance_normalization1_kernels

namespace dmlconform::cpu::variants_of_kernels {

void mean_variance_normalization_with_stored_variance(const KernelArguments& arguments) {
    mean_variance_normalization1_kernels::normalize(arguments, true);
}

}  // namespace dmlconform::cpu::variants_of_kernels
