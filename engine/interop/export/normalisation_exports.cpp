// Normalisations, their gradients, and an optimiser's step.
#include <algorithm>
#include <array>

#include "engine/interop/export/operator_writer.h"

namespace dmlconform::interop::exporting {
namespace {

/// 1 / sqrt(variance + Epsilon)
Value reciprocal_root(OperatorWriter& to, const Value& variance) {
    ModelWriter& w = to.w;
    const Value epsilon = w.like(variance, double{to.number("Epsilon")});
    return w.each("Reciprocal", {w.each("Sqrt", {w.add(variance, epsilon)})});
}

/// The value times ScaleTensor plus BiasTensor, where these are there.
Value scaled_and_moved(OperatorWriter& to, Value x) {
    if (to.has("ScaleTensor")) {
        x = to.w.mul(x, to.precise("ScaleTensor"));
    }
    return to.has("BiasTensor") ? to.w.add(x, to.precise("BiasTensor")) : x;
}

// ---- mean and variance -------------------------------------------------------------------------------------------

struct Moments {
    Numbers axes;
    bool uses_mean = true;
    bool uses_variance = true;
};

bool are_last(const Numbers& axes, std::size_t rank, std::size_t first) {
    return axes == counted(rank - first, static_cast<std::int64_t>(first));
}

/// Whether the tensor has one number for each channel.
bool is_by_channel(OperatorWriter& to, const char* name) {
    const Value x = to.compact(name);
    const std::size_t channel = 1;
    return !x.is_absent() && x.rank() > channel && to.sizes(name)[channel] == x.count() &&
           x.sizes[channel] == x.count();
}

/// A node where ONNX has one for these axes: of each channel, or of the last dimensions.
bool write_single_node(OperatorWriter& to, const Moments& moments) {
    ModelWriter& w = to.w;
    const Value x = to.in("InputTensor");
    if (!moments.uses_mean || !moments.uses_variance || !to.has("ScaleTensor") || !to.has("BiasTensor")) {
        return false;
    }
    const auto list = [&](const char* name, const core::Dimensions& sizes) {
        return w.reshape(to.compact(name), sizes);
    };
    if (x.rank() > 2 && are_last(moments.axes, x.rank(), 2) && is_by_channel(to, "ScaleTensor") &&
        is_by_channel(to, "BiasTensor")) {
        const core::Dimensions channels{x.sizes[1]};
        const Value made =
            w.node("InstanceNormalization", {x, list("ScaleTensor", channels), list("BiasTensor", channels)}, x.type,
                   x.sizes, {attribute("epsilon", to.number("Epsilon"))});
        to.out("OutputTensor", activated(to, made));
        return true;
    }
    const std::size_t first = moments.axes.empty() ? x.rank() : static_cast<std::size_t>(moments.axes.front());
    core::Dimensions whole = x.sizes;
    std::fill(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(std::min(first, x.rank())), 1);
    if (w.opset() >= 17 && first < x.rank() && are_last(moments.axes, x.rank(), first) &&
        to.compact("ScaleTensor").sizes == whole && to.compact("BiasTensor").sizes == whole) {
        const core::Dimensions own(x.sizes.begin() + static_cast<std::ptrdiff_t>(first), x.sizes.end());
        const Value made =
            w.node("LayerNormalization", {x, list("ScaleTensor", own), list("BiasTensor", own)}, x.type, x.sizes,
                   {attribute("axis", static_cast<std::int64_t>(first)), attribute("epsilon", to.number("Epsilon"))});
        to.out("OutputTensor", activated(to, made));
        return true;
    }
    return false;
}

/// Without a mean, the variance is the mean of squares.
void write_moments(OperatorWriter& to, Moments moments) {
    ModelWriter& w = to.w;
    std::sort(moments.axes.begin(), moments.axes.end());
    if (write_single_node(to, moments)) {
        return;
    }
    Value x = to.precise("InputTensor");
    // Without axes, each element is its own mean. To ONNX, no axes are all of them.
    const auto mean = [&](const Value& value) {
        return moments.axes.empty() ? value : w.reduce("ReduceMean", value, moments.axes);
    };
    if (moments.uses_mean) {
        x = w.sub(x, mean(x));
    }
    if (moments.uses_variance) {
        x = w.mul(x, reciprocal_root(to, mean(w.mul(x, x))));
    }
    const Value made = scaled_and_moved(to, x);
    to.out("OutputTensor", activated(to, w.cast(made, to.type("OutputTensor"))));
}

void write_mean_variance(OperatorWriter& to) {
    const std::size_t rank = to.sizes("InputTensor").size();
    const std::size_t first = to.uint("CrossChannel") != 0 ? 1 : 2;
    write_moments(to,
                  {counted(rank - first, static_cast<std::int64_t>(first)), true, to.uint("NormalizeVariance") != 0});
}
void write_mean_variance1(OperatorWriter& to) {
    write_moments(to, {axes_of(to.desc), true, to.uint("NormalizeVariance") != 0});
}
void write_mean_variance2(OperatorWriter& to) {
    write_moments(to, {axes_of(to.desc), to.uint("UseMean") != 0, to.uint("UseVariance") != 0});
}

// ---- batch normalisation -----------------------------------------------------------------------------------------

void write_batch(OperatorWriter& to) {
    ModelWriter& w = to.w;
    constexpr std::array<const char*, 4> parameters{"ScaleTensor", "BiasTensor", "MeanTensor", "VarianceTensor"};
    const bool by_channel =
        std::all_of(parameters.begin(), parameters.end(), [&](const char* name) { return is_by_channel(to, name); });
    if (by_channel && to.sizes("InputTensor").size() > 1) {
        const Value x = to.in("InputTensor");
        std::vector<Value> inputs{x};
        for (const char* name : parameters) {
            inputs.push_back(w.reshape(to.compact(name), {x.sizes[1]}));
        }
        const Value made =
            w.node("BatchNormalization", inputs, x.type, x.sizes, {attribute("epsilon", to.number("Epsilon"))});
        to.out("OutputTensor", activated(to, made));
        return;
    }
    const Value centred = w.sub(to.precise("InputTensor"), to.precise("MeanTensor"));
    const Value made = scaled_and_moved(to, w.mul(centred, reciprocal_root(to, to.precise("VarianceTensor"))));
    to.out("OutputTensor", activated(to, w.cast(made, to.type("OutputTensor"))));
}

/// Axes along which a tensor of these sizes has one element for all.
Numbers reduced_axes(const core::Dimensions& sizes) {
    Numbers axes;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == 1) {
            axes.push_back(static_cast<std::int64_t>(d));
        }
    }
    return axes;
}

Value sum_over(ModelWriter& w, const Value& x, const Numbers& axes) {
    return axes.empty() ? x : w.reduce("ReduceSum", x, axes);
}
Value mean_over(ModelWriter& w, const Value& x, const Numbers& axes) {
    return axes.empty() ? x : w.reduce("ReduceMean", x, axes);
}

void write_batch_training(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value x = to.precise("InputTensor");
    const Numbers axes = reduced_axes(to.sizes("OutputMeanTensor"));
    const Value mean = mean_over(w, x, axes);
    const Value centred = w.sub(x, mean);
    const Value variance = mean_over(w, w.mul(centred, centred), axes);
    Value made = scaled_and_moved(to, w.mul(centred, reciprocal_root(to, variance)));
    if (to.has("FusedAddTensor")) {
        made = w.add(made, to.precise("FusedAddTensor"));
    }
    to.out("OutputTensor", activated(to, w.cast(made, to.type("OutputTensor"))));
    to.out("OutputMeanTensor", mean);
    to.out("OutputVarianceTensor", variance);
}

/// In training mean and variance depend on the input, too.
void write_batch_gradient(OperatorWriter& to, bool in_training) {
    ModelWriter& w = to.w;
    const Value gradient = to.precise("InputGradientTensor");
    const Numbers axes = reduced_axes(to.sizes("OutputScaleGradientTensor"));
    const Value root = reciprocal_root(to, to.precise("VarianceTensor"));
    const Value normal = w.mul(w.sub(to.precise("InputTensor"), to.precise("MeanTensor")), root);
    const Value product = w.mul(gradient, normal);
    Value of_input = gradient;
    if (in_training) {
        const Value by_spread = w.mul(normal, mean_over(w, product, axes));
        of_input = w.sub(w.sub(gradient, mean_over(w, gradient, axes)), by_spread);
    }
    to.out("OutputGradientTensor", w.mul(w.mul(of_input, to.precise("ScaleTensor")), root));
    to.out("OutputScaleGradientTensor", sum_over(w, product, axes));
    to.out("OutputBiasGradientTensor", sum_over(w, gradient, axes));
}

void write_batch_grad(OperatorWriter& to) {
    write_batch_gradient(to, false);
}
void write_batch_training_grad(OperatorWriter& to) {
    write_batch_gradient(to, true);
}

// ---- Adam --------------------------------------------------------------------------------------------------------

void write_adam(OperatorWriter& to) {
    ModelWriter& w = to.w;
    const Value gradient = to.precise("GradientTensor");
    const auto number = [&](double value) { return w.like(gradient, value); };
    const Value step = w.cast(to.in("TrainingStepTensor"), gradient.type);
    const double beta1 = to.number("Beta1");
    const double beta2 = to.number("Beta2");
    const auto blended = [&](const char* moment, const Value& with, double share) {
        return w.add(w.mul(to.precise(moment), number(share)), w.mul(with, number(1 - share)));
    };
    const Value first = blended("InputFirstMomentTensor", gradient, beta1);
    const Value second = blended("InputSecondMomentTensor", w.mul(gradient, gradient), beta2);
    // Nothing is corrected before the first step.
    const Value has_begun = w.test("Greater", {step, number(0)});
    const auto correction = [&](double beta) {
        return w.where(has_begun, w.sub(number(1), w.each("Pow", {number(beta), step})), number(1));
    };
    const Value rate =
        w.div(w.mul(number(to.number("LearningRate")), w.each("Sqrt", {correction(beta2)})), correction(beta1));
    const Value root = w.add(w.each("Sqrt", {second}), number(to.number("Epsilon")));
    const Value change = w.div(w.mul(rate, first), root);
    to.out("OutputParametersTensor", w.sub(to.precise("InputParametersTensor"), change));
    to.out("OutputFirstMomentTensor", first);
    to.out("OutputSecondMomentTensor", second);
}

constexpr std::array<OperatorExport, 8> normalisation_rows{{
    {"MEAN_VARIANCE_NORMALIZATION", write_mean_variance},
    {"MEAN_VARIANCE_NORMALIZATION1", write_mean_variance1},
    {"MEAN_VARIANCE_NORMALIZATION2", write_mean_variance2},
    {"BATCH_NORMALIZATION", write_batch},
    {"BATCH_NORMALIZATION_GRAD", write_batch_grad},
    {"BATCH_NORMALIZATION_TRAINING", write_batch_training},
    {"BATCH_NORMALIZATION_TRAINING_GRAD", write_batch_training_grad},
    {"ADAM_OPTIMIZER", write_adam},
}};

}  // namespace

std::span<const OperatorExport> normalisation_exports() {
    return normalisation_rows;
}

}  // namespace dmlconform::interop::exporting
