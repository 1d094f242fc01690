// BATCH_NORMALIZATION, its gradient, and their training variants, for which mean and variance are those of the input.
// What comments say about DirectML 1.15.4 was measured on it.
//
// Operations on intervals assume one order. If implementations are likely to use another order, the range is the hull
// of both. Equals definitions/normalisation.cpp.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/cpu/accepted_eights.h"
#include "engine/cpu/element_wise/fused_activation.h"
#include "engine/cpu/normalisation/batch.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/normalisation/normalisation_range.h"
#include "engine/cpu/normalisation/statistics_range.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu::batch_normalization_kernels {
namespace {

using element_wise::FusedActivation;
using normalisation::divided;
using normalisation::Formula;
using normalisation::maybe_stored;
using normalisation::Normalisation;
using normalisation::NormalisationRange;
using normalisation::Operands;
using normalisation::PassesRange;
using normalisation::product;
using normalisation::reciprocal_root;
using normalisation::Set;

using Numbers = std::span<const double>;

double sum_of(Numbers numbers) {
    double sum = 0;
    for (const double number : numbers) {
        sum += number;
    }
    return sum;
}

/// sum(a * (b - centre))
double centred_product(Numbers a, Numbers b, double centre) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        sum += a[k] * (b[k] - centre);
    }
    return sum;
}

/// The operator's attributes.
struct Attributes {
    Attributes(const KernelArguments& arguments, const std::vector<bool>& reduced)
        : type(arguments.outputs[0]->desc.data_type),
          epsilon(double{arguments.descriptor.number("Epsilon")}),
          activation(!arguments.descriptor.has_field("FusedActivation")
                         ? nullptr
                         : arguments.descriptor.activation("FusedActivation")) {
        bool may_be_split = false;
        for (std::size_t d = 0; d < reduced.size(); ++d) {
            const std::uint32_t size = arguments.outputs[0]->desc.sizes[d];
            passes += reduced[d] && size > 1 ? 1 : 0;
            may_be_split = may_be_split || (reduced[d] && size >= 4);
        }
        // Measured on DirectML 1.15.4: of 20 FLOAT16 gradients, it may add four at a time, store the five sums, and add
        // these.
        const bool is_gradient = arguments.descriptor.has_field("InputGradientTensor");
        passes += may_be_split && is_gradient && type == core::DataType::float16 ? 1 : 0;
    }

    core::DataType type;
    double epsilon;
    FusedActivation activation;
    /// The number of passes that a sum takes: one for each dimension, or more.
    std::size_t passes = 0;

    [[nodiscard]] PassesRange no_terms() const { return {type, passes}; }
    [[nodiscard]] PassesRange all_of(Numbers numbers) const {
        PassesRange sum = no_terms();
        for (const double number : numbers) {
            sum.add(number);
        }
        return sum;
    }
    [[nodiscard]] double activated(double x) const { return activation.is_present() ? activation(x) : x; }
    /// Measured on DirectML 1.15.4: the argument of the activation may have been stored before.
    [[nodiscard]] Interval activated(const Interval& x) const {
        return activation.is_present() ? activation(maybe_stored(type, x)) : x;
    }
};

// ---- BATCH_NORMALIZATION -----------------------------------------------------------------------------------------

class Inference final : public Formula {
public:
    explicit Inference(const Attributes& attributes) : attributes_(attributes) {}

    void take(const Set& set) override {
        x_ = set.elements[0];
        normalise_ = {set.parameters[0], set.parameters[1], set.parameters[2], set.parameters[3], attributes_.epsilon};
        if (set.wants_ranges) {
            range_ = {normalise_.mean, reciprocal_root(normalise_.variance, normalise_.epsilon), normalise_.scale,
                      normalise_.bias};
        }
    }
    void compute(std::span<double> values) const override {
        in_wide_registers(
            [&] { std::ranges::transform(x_, values.begin(), [this](double x) { return normalise_(x, 0); }); });
        if (attributes_.activation.is_present()) {
            std::ranges::transform(values, values.begin(), [this](double x) { return attributes_.activated(x); });
        }
    }
    [[nodiscard]] Interval range(std::size_t k) const override { return attributes_.activated(range_(x_[k])); }
    void note_floats(core::ElementSlack& slack, std::size_t first, std::size_t k, Numbers values,
                     const std::function<void(std::size_t)>& one) const override {
#if DMLCONFORM_HAS_WIDE_REGISTERS
        if (!attributes_.activation.is_present() && range_.are_ordinary()) {
            note_accepted_eights(
                slack, first, values,
                [range = range_, from = &x_[k]] {
                    return [ranges = normalisation::NormalisationRangeOf<EightIntervals>(range), from](
                               std::size_t i, Seen& seen) { return ranges(EightIntervals(from + i, seen)); };
                },
                one);
            return;
        }
#endif
        Formula::note_floats(slack, first, k, values, one);
    }

private:
    const Attributes& attributes_;
    Numbers x_;
    Normalisation normalise_;
    NormalisationRange range_;
};

// ---- BATCH_NORMALIZATION_TRAINING --------------------------------------------------------------------------------

/// Mean and variance of a normalisation group: exact, and the range of what implementations compute.
struct Statistics {
    double mean = 0;
    double variance = 0;
    Interval mean_range;
    Interval variance_range;

    Statistics() = default;
    explicit Statistics(Numbers x) {
        const auto count = static_cast<double>(x.size());
        mean = sum_of(x) / count;
        double squares = 0;
        for (const double element : x) {
            squares += (element - mean) * (element - mean);
        }
        variance = squares / count;
    }

    /// Both are outputs of the operator. Measured on DirectML 1.15.4: later steps may use the stored values.
    void find_ranges(Numbers x, const Attributes& attributes) {
        mean_range = maybe_stored(attributes.type, normalisation::mean_range(x, attributes.no_terms()));
        variance_range =
            maybe_stored(attributes.type, normalisation::variance_range(x, mean, mean_range, attributes.no_terms()));
    }
};

class Training final : public Formula {
public:
    explicit Training(const Attributes& attributes) : attributes_(attributes) {}

    void take(const Set& set) override {
        x_ = set.elements[0];
        added_ = set.elements[1];
        statistics_ = Statistics(x_);
        normalise_ = {statistics_.mean, statistics_.variance, set.parameters[0], set.parameters[1],
                      attributes_.epsilon};
        if (set.wants_ranges) {
            statistics_.find_ranges(x_, attributes_);
            range_ = {statistics_.mean_range, reciprocal_root(statistics_.variance_range, attributes_.epsilon),
                      normalise_.scale, normalise_.bias};
        }
    }
    void compute(std::span<double> values) const override {
        for (std::size_t k = 0; k < x_.size(); ++k) {
            values[k] = attributes_.activated(normalise_(x_[k], added_.empty() ? 0 : added_[k]));
        }
    }
    [[nodiscard]] Interval range(std::size_t k) const override {
        return attributes_.activated(added_.empty() ? range_(x_[k]) : range_(x_[k], added_[k], attributes_.type));
    }
    [[nodiscard]] double result(std::size_t output) const override {
        return output == 0 ? statistics_.mean : statistics_.variance;
    }
    [[nodiscard]] Interval result_range(std::size_t output) const override {
        return output == 0 ? statistics_.mean_range : statistics_.variance_range;
    }

private:
    const Attributes& attributes_;
    Numbers x_;
    Numbers added_;
    Statistics statistics_;
    Normalisation normalise_;
    NormalisationRange range_;
};

// ---- gradients ---------------------------------------------------------------------------------------------------

/// Common part of both gradients: the gradients of scale and bias. dy is the gradient of the output.
class Gradient : public Formula {
public:
    explicit Gradient(const Attributes& attributes) : attributes_(attributes) {}

    void take(const Set& set) override {
        x_ = set.elements[0];
        dy_ = set.elements[1];
        mean_ = set.parameters[0];
        scale_ = set.parameters[2];
        variance_ = set.parameters[1] + attributes_.epsilon;
        rstd_ = 1 / std::sqrt(variance_);
        sum_ = sum_of(dy_);
        product_ = centred_product(dy_, x_, mean_);
        if (set.wants_ranges) {
            find_ranges(set.parameters[1]);
        }
    }
    [[nodiscard]] double result(std::size_t output) const override { return output == 0 ? product_ * rstd_ : sum_; }
    [[nodiscard]] Interval result_range(std::size_t output) const override {
        return output == 0 ? scale_gradient_ : sum_range_;
    }

protected:
    /// The mean of a sum that is an output or an intermediate result, and may be stored before it is divided.
    [[nodiscard]] Interval mean_range(const PassesRange& sum) const {
        return tensor(hull(sum.mean(), divided(tensor(sum.sum()), x_.size())));
    }
    /// Measured on DirectML 1.15.4: these operators are composed of simpler ones, whose results are stored as tensors.
    [[nodiscard]] Interval tensor(const Interval& x) const { return maybe_stored(attributes_.type, x); }
    [[nodiscard]] Interval centred(std::size_t k) const { return tensor(Interval(x_[k]) - Interval(mean_)); }

    const Attributes& attributes_;
    Numbers x_;
    Numbers dy_;
    double mean_ = 0;
    double scale_ = 0;
    /// Includes epsilon.
    double variance_ = 0;
    double rstd_ = 0;
    /// Sums of dy, and of dy * (x - mean).
    double sum_ = 0;
    double product_ = 0;
    Interval variance_range_;
    Interval rstd_range_;
    Interval sum_range_;
    Interval mean_gradient_range_;
    Interval mean_product_range_;

private:
    /// Measured on DirectML 1.15.4: the sum of dy * (x - mean) is multiplied. Implementations may also multiply each
    /// term.
    void find_ranges(double variance) {
        variance_range_ = Interval(variance) + Interval(attributes_.epsilon);
        rstd_range_ = Interval(1) / sqrt(variance_range_);
        const PassesRange gradients = attributes_.all_of(dy_);
        sum_range_ = gradients.sum();
        mean_gradient_range_ = mean_range(gradients);
        PassesRange products = attributes_.no_terms();
        PassesRange terms = attributes_.no_terms();
        for (std::size_t k = 0; k < dy_.size(); ++k) {
            products.add(tensor(Interval(dy_[k]) * centred(k)));
            terms.add(product(dy_[k], centred(k), rstd_range_));
        }
        mean_product_range_ = mean_range(products);
        scale_gradient_ = hull(tensor(products.sum()) * rstd_range_, terms.sum());
    }

    Interval scale_gradient_;
};

/// The gradient if mean and variance are independent of the input.
class InferenceGradient final : public Gradient {
public:
    using Gradient::Gradient;

    void compute(std::span<double> values) const override {
        std::ranges::transform(dy_, values.begin(), [this](double dy) { return dy * scale_ * rstd_; });
    }
    [[nodiscard]] Interval range(std::size_t k) const override { return product(dy_[k], scale_, rstd_range_); }
};

/// The gradient if mean and variance depend on the input but are operands, too. Measured on DirectML 1.15.4: MeanTensor
/// is subtracted from the input.
class TrainingGradient final : public Gradient {
public:
    using Gradient::Gradient;

    void take(const Set& set) override {
        Gradient::take(set);
        const auto count = static_cast<double>(x_.size());
        mean_gradient_ = sum_ / count;
        mean_product_ = product_ / count;
    }
    void compute(std::span<double> values) const override {
        for (std::size_t k = 0; k < x_.size(); ++k) {
            const double through_variance = (x_[k] - mean_) * mean_product_ / variance_;
            values[k] = scale_ * rstd_ * ((dy_[k] - mean_gradient_) - through_variance);
        }
    }
    [[nodiscard]] Interval range(std::size_t k) const override {
        const Interval c = centred(k);
        const Interval divided_last = tensor(c * mean_product_range_) / variance_range_;
        const Interval divided_first = hull(c * tensor(mean_product_range_ / variance_range_),
                                            tensor(c * rstd_range_) * tensor(mean_product_range_ * rstd_range_));
        const Interval through_variance = tensor(hull(divided_last, divided_first));
        const Interval rest = tensor(hull(tensor(Interval(dy_[k]) - mean_gradient_range_) - through_variance,
                                          Interval(dy_[k]) - (mean_gradient_range_ + through_variance)));
        return product(scale_, rstd_range_, rest);
    }

private:
    double mean_gradient_ = 0;
    double mean_product_ = 0;
};

// ---- all of them -------------------------------------------------------------------------------------------------

std::vector<const core::Tensor*> inputs_of(const KernelArguments& arguments,
                                           std::initializer_list<std::string_view> names) {
    std::vector<const core::Tensor*> tensors;
    for (const std::string_view name : names) {
        tensors.push_back(normalisation::input_of(arguments, name));
    }
    return tensors;
}

/// A normalisation group is the elements that share a coordinate in the parameter tensors, which all have the same
/// sizes.
std::vector<bool> repeated(const core::Tensor& parameter) {
    std::vector<bool> reduced;
    for (const std::uint32_t size : parameter.desc.sizes) {
        reduced.push_back(size == 1);
    }
    return reduced;
}

/// Nothing is summed, so any grouping is correct: the innermost dimensions along which no parameter changes.
std::vector<bool> innermost_repeated(const std::vector<const core::Tensor*>& parameters) {
    std::vector<bool> reduced(parameters.front()->desc.sizes.size());
    for (std::size_t d = reduced.size(); d-- > 0;) {
        reduced[d] = std::ranges::all_of(parameters, [d](const auto* tensor) { return tensor->desc.sizes[d] == 1; });
        if (!reduced[d]) {
            break;
        }
    }
    return reduced;
}

template <class F>
void compute(const KernelArguments& arguments, const Operands& operands) {
    const Attributes attributes(arguments, operands.reduced);
    normalisation::compute_sets(arguments, operands, [&] { return std::make_unique<F>(attributes); });
}

void compute_inference(const KernelArguments& arguments) {
    const auto parameters = inputs_of(arguments, {"MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"});
    if (normalisation::normalise_floats(arguments, parameters)) {
        return;
    }
    compute<Inference>(arguments, {.elements = inputs_of(arguments, {"InputTensor"}),
                                   .parameters = parameters,
                                   .reduced = innermost_repeated(parameters)});
}

std::optional<ElementByElement> inference_by_element(const operators::Descriptor& descriptor,
                                                     std::span<const core::Tensor* const> inputs) {
    // Behind the input, which is read element by element.
    return normalisation::normalise_parts(descriptor, {inputs.begin() + 1, inputs.end()});
}

void compute_training(const KernelArguments& arguments) {
    const auto parameters = inputs_of(arguments, {"ScaleTensor", "BiasTensor"});
    compute<Training>(arguments, {.elements = inputs_of(arguments, {"InputTensor", "FusedAddTensor"}),
                                  .parameters = parameters,
                                  .reduced = repeated(*parameters.front())});
}

template <class F>
void compute_gradient(const KernelArguments& arguments) {
    const auto parameters = inputs_of(arguments, {"MeanTensor", "VarianceTensor", "ScaleTensor"});
    compute<F>(arguments, {.elements = inputs_of(arguments, {"InputTensor", "InputGradientTensor"}),
                           .parameters = parameters,
                           .reduced = repeated(*parameters.front())});
}

core::Tolerance inference_tolerance(const operators::Descriptor& /*descriptor*/,
                                    const operators::TensorSlot& /*output*/) {
    return normalisation::range_tolerance(
        "what Direct3D allows each operation of the formula, in any order, and a FLOAT16 tensor before the activation");
}

core::Tolerance sums_tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return normalisation::range_tolerance(
        "n - 1 roundings of each sum, what Direct3D allows each operation, and FLOAT16 tensors between them");
}

}  // namespace

Kernels kernels() {
    return {
        {.name = "BATCH_NORMALIZATION",
         .compute = compute_inference,
         .tolerance = inference_tolerance,
         .by_element = inference_by_element},
        {"BATCH_NORMALIZATION_GRAD", compute_gradient<InferenceGradient>, sums_tolerance},
        {"BATCH_NORMALIZATION_TRAINING", compute_training, sums_tolerance},
        {"BATCH_NORMALIZATION_TRAINING_GRAD", compute_gradient<TrainingGradient>, sums_tolerance},
    };
}

}  // namespace dmlconform::cpu::batch_normalization_kernels
