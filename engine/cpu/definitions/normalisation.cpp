// Softmax and its relatives, and normalisation by mean and variance.
#include "engine/cpu/definitions/activation.h"

namespace dmlconform::cpu::definitions::normalisation_definitions {
namespace {

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_activation_softmax_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_activation_softmax1_operator_desc
// exp(x) / sum of exp(x)
constexpr auto activation_softmax = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    call.output<Real>("OutputTensor") = softmax(x, axes_or_last(call.descriptor, x.sizes.size()));
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_activation_log_softmax_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_activation_log_softmax1_operator_desc
// The logarithm of the softmax. The share of a number in an infinite sum is 0.
constexpr auto activation_log_softmax = []<class Real>(Call& call) {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto x = call.input<Real>("InputTensor");
    const Index axes = axes_or_last(call.descriptor, x.sizes.size());
    const Array<Real> maximum = maxima(x, axes);
    Array<Real> sum(maximum.sizes);
    Array<Unsigned> nans(maximum.sizes);
    for_each_index(x.sizes, [&](const Index& at) {
        sum[without(at, axes)] += exp(x[at] - maximum[without(at, axes)]);
        nans[without(at, axes)].value += is_nan(x[at]) ? 1 : 0;
    });
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(x.sizes, [&](const Index& at) {
        const Real& largest = maximum[without(at, axes)];
        const bool is_beside_infinity =
            largest == Real(infinity) && !(x[at] == largest) && nans[without(at, axes)].value == 0;
        output[at] = is_beside_infinity ? Real(-infinity) : (x[at] - largest) - log(sum[without(at, axes)]);
    });
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_activation_hardmax_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_activation_hardmax1_operator_desc
// 1 for the first of the largest elements, 0 for the other ones. If all are NaN, the first one counts.
constexpr auto activation_hardmax = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const Index axes = axes_or_last(call.descriptor, x.sizes.size());
    const Array<Real> maximum = maxima(x, axes);
    Array<Unsigned> numbers(maximum.sizes);
    Array<Unsigned> found(maximum.sizes);
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(x.sizes, [&](const Index& at) { numbers[without(at, axes)].value += is_nan(x[at]) ? 0 : 1; });
    for_each_index(x.sizes, [&](const Index& at) {
        const Index set = without(at, axes);
        if (found[set].value == 0 && (numbers[set].value == 0 || x[at] == maximum[set])) {
            output[at] = 1;
            found[set] = 1;
        }
    });
};

/// The mean of an array along the axes.
template <class Real>
Array<Real> means(const Array<Real>& x, const Index& axes) {
    Array<Real> mean(reduced_sizes(x.sizes, axes));
    for_each_index(x.sizes, [&](const Index& at) { mean[without(at, axes)] += x[at]; });
    for (Real& one : mean.elements) {
        one = one / Real(static_cast<double>(x.sizes.product() / mean.sizes.product()));
    }
    return mean;
}

/// The mean of the squared distances from the centres.
template <class Real>
Array<Real> variances(const Array<Real>& x, const Array<Real>& centres, const Index& axes) {
    Array<Real> squares(x.sizes);
    for_each_index(x.sizes, [&](const Index& at) {
        const Real distance = x[at] - centres[without(at, axes)];
        squares[at] = distance * distance;
    });
    return means(squares, axes);
}

/// The dimensions that have one mean. Without the field Axes, these are the spatial ones, and the channels if they
/// share it.
Index mean_axes(const Call& call) {
    if (call.has_field("Axes")) {
        return call.uints("Axes");
    }
    Index axes;
    for (std::size_t d = call.flag("CrossChannel") ? 1 : 2; d < call.sizes("InputTensor").size(); ++d) {
        axes.push_back(static_cast<std::int64_t>(d));
    }
    return axes;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_mean_variance_normalization_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_mean_variance_normalization1_operator_desc
// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_mean_variance_normalization2_operator_desc
// FusedActivation((x - mean) / sqrt(variance + Epsilon) * Scale + Bias). Without the mean, the variance is the mean of
// squares, as measured on DirectML 1.15.4.
constexpr auto mean_variance_normalization = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto scale = call.input<Real>("ScaleTensor", 1);
    const auto bias = call.input<Real>("BiasTensor");
    const Index axes = mean_axes(call);
    const bool by_variance = call.has_field("UseVariance") ? call.flag("UseVariance") : call.flag("NormalizeVariance");
    Array<Real> mean(reduced_sizes(x.sizes, axes));
    if (!call.has_field("UseMean") || call.flag("UseMean")) {
        mean = means(x, axes);
    }
    const Array<Real> variance = variances(x, mean, axes);
    auto& output = call.output<Real>("OutputTensor");
    for_each_index(x.sizes, [&](const Index& at) {
        const Real distance = x[at] - mean[without(at, axes)];
        const Real deviation = sqrt(variance[without(at, axes)] + Real(call.number("Epsilon")));
        output[at] = by_variance ? distance / deviation : distance;
        output[at] = call.has("ScaleTensor") ? output[at] * scale.repeated(at) : output[at];
        output[at] = call.has("BiasTensor") ? output[at] + bias.repeated(at) : output[at];
    });
    fuse_activation(call.descriptor, output);
};

/// (x - mean) / sqrt(variance + Epsilon) * Scale + Bias, with parameters that are repeated.
template <class Real>
Array<Real> normalised(const Call& call, const Array<Real>& x, const Array<Real>& mean, const Array<Real>& variance) {
    const auto scale = call.input<Real>("ScaleTensor");
    const auto bias = call.input<Real>("BiasTensor");
    Array<Real> y(x.sizes);
    for_each_index(x.sizes, [&](const Index& at) {
        const Real factor = scale.repeated(at) / sqrt(variance.repeated(at) + Real(call.number("Epsilon")));
        y[at] = (x[at] - mean.repeated(at)) * factor + bias.repeated(at);
    });
    return y;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_batch_normalization_operator_desc
constexpr auto batch_normalization = []<class Real>(Call& call) {
    auto& output = call.output<Real>("OutputTensor");
    output = normalised(call, call.input<Real>("InputTensor"), call.input<Real>("MeanTensor"),
                        call.input<Real>("VarianceTensor"));
    fuse_activation(call.descriptor, output);
};

/// The dimensions along which a parameter is repeated.
Index repeated_axes(const Call& call, std::string_view parameter) {
    Index axes;
    for (std::size_t d = 0; d < call.sizes(parameter).size(); ++d) {
        if (call.sizes(parameter)[d] == 1) {
            axes.push_back(static_cast<std::int64_t>(d));
        }
    }
    return axes;
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_batch_normalization_training_operator_desc
// The same with the mean and the variance of the input, which are outputs, too.
constexpr auto batch_normalization_training = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto added = call.input<Real>("FusedAddTensor");
    const Index axes = repeated_axes(call, "ScaleTensor");
    const Array<Real> mean = means(x, axes);
    const Array<Real> variance = variances(x, mean, axes);
    auto& output = call.output<Real>("OutputTensor");
    output = normalised(call, x, mean, variance);
    for_each_index(x.sizes, [&](const Index& at) { output[at] += call.has("FusedAddTensor") ? added[at] : Real(0); });
    fuse_activation(call.descriptor, output);
    call.output<Real>("OutputMeanTensor") = mean;
    call.output<Real>("OutputVarianceTensor") = variance;
};

/// The gradients of scale and bias: sum of dy * (x - mean) / sqrt(variance + Epsilon), and sum of dy.
template <class Real>
void scale_and_bias_gradients(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto dy = call.input<Real>("InputGradientTensor");
    const auto mean = call.input<Real>("MeanTensor");
    const auto variance = call.input<Real>("VarianceTensor");
    const Index axes = repeated_axes(call, "MeanTensor");
    auto& of_scale = call.output<Real>("OutputScaleGradientTensor");
    auto& of_bias = call.output<Real>("OutputBiasGradientTensor");
    for_each_index(x.sizes, [&](const Index& at) {
        const Real deviation = sqrt(variance.repeated(at) + Real(call.number("Epsilon")));
        of_scale[without(at, axes)] += dy[at] * (x[at] - mean.repeated(at)) / deviation;
        of_bias[without(at, axes)] += dy[at];
    });
}

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_batch_normalization_grad_operator_desc
// dy * Scale / sqrt(Variance + Epsilon)
constexpr auto batch_normalization_grad = []<class Real>(Call& call) {
    const auto dy = call.input<Real>("InputGradientTensor");
    const auto variance = call.input<Real>("VarianceTensor");
    const auto scale = call.input<Real>("ScaleTensor");
    auto& output = call.output<Real>("OutputGradientTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        output[at] = dy[at] * scale.repeated(at) / sqrt(variance.repeated(at) + Real(call.number("Epsilon")));
    });
    scale_and_bias_gradients<Real>(call);
};

// https://learn.microsoft.com/en-us/windows/win32/api/directml/ns-directml-dml_batch_normalization_training_grad_operator_desc
// Scale / sqrt(v) * (dy - mean(dy) - (x - Mean) * mean(dy * (x - Mean)) / v), where v is Variance + Epsilon
constexpr auto batch_normalization_training_grad = []<class Real>(Call& call) {
    const auto x = call.input<Real>("InputTensor");
    const auto dy = call.input<Real>("InputGradientTensor");
    const auto mean = call.input<Real>("MeanTensor");
    const auto variance = call.input<Real>("VarianceTensor");
    const auto scale = call.input<Real>("ScaleTensor");
    const Index axes = repeated_axes(call, "MeanTensor");
    Array<Real> products(x.sizes);
    for_each_index(x.sizes, [&](const Index& at) { products[at] = dy[at] * (x[at] - mean.repeated(at)); });
    const Array<Real> mean_product = means(products, axes);
    const Array<Real> mean_gradient = means(dy, axes);
    auto& output = call.output<Real>("OutputGradientTensor");
    for_each_index(output.sizes, [&](const Index& at) {
        const Real v = variance.repeated(at) + Real(call.number("Epsilon"));
        const Real through_variance = (x[at] - mean.repeated(at)) * mean_product.repeated(at) / v;
        output[at] = scale.repeated(at) / sqrt(v) * (dy[at] - mean_gradient.repeated(at) - through_variance);
    });
    scale_and_bias_gradients<Real>(call);
};

}  // namespace

Definitions definitions() {
    return {define("ACTIVATION_SOFTMAX", activation_softmax),
            define("ACTIVATION_SOFTMAX1", activation_softmax),
            define("ACTIVATION_LOG_SOFTMAX", activation_log_softmax),
            define("ACTIVATION_LOG_SOFTMAX1", activation_log_softmax),
            define("ACTIVATION_HARDMAX", activation_hardmax),
            define("ACTIVATION_HARDMAX1", activation_hardmax),
            define("MEAN_VARIANCE_NORMALIZATION", mean_variance_normalization),
            define("MEAN_VARIANCE_NORMALIZATION1", mean_variance_normalization),
            define("MEAN_VARIANCE_NORMALIZATION2", mean_variance_normalization),
            define("BATCH_NORMALIZATION", batch_normalization),
            define("BATCH_NORMALIZATION_TRAINING", batch_normalization_training),
            define("BATCH_NORMALIZATION_GRAD", batch_normalization_grad),
            define("BATCH_NORMALIZATION_TRAINING_GRAD", batch_normalization_training_grad)};
}

}  // namespace dmlconform::cpu::definitions::normalisation_definitions
