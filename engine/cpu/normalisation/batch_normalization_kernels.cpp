// BATCH_NORMALIZATION, its gradient, and their training variants, for which mean and variance are those of the input.
// What comments say about DirectML 1.15.4 was measured on it.
//
// Operations on intervals assume one order. If implementations are likely to use another order, the range is the hull
// of both.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "engine/cpu/element_wise/machine.h"
#include "engine/cpu/expected_error.h"
#include "engine/cpu/normalisation/batch.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/reduction/totals.h"
#include "engine/cpu/wide_registers.h"

namespace dmlconform::cpu {
namespace {

using element_wise::FusedActivation;
using normalisation::Formula;
using normalisation::maybe_stored;
using normalisation::Normalisation;
using normalisation::Operands;
using normalisation::Set;
using reduction::SumRange;

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

/// Implementations divide, or multiply by the reciprocal.
Interval divided(const Interval& sum, std::size_t count) {
    const Interval n(static_cast<double>(count));
    return hull(sum / n, sum * (Interval(1) / n));
}

/// The range of a sum and of a mean that are computed one dimension after the other. Measured on DirectML 1.15.4: they
/// are.
class PassesRange {
public:
    PassesRange(core::DataType type, std::size_t dimensions) : type_(type), dimensions_(dimensions) {}

    void add(const Interval& term) {
        sum_.add(term);
        magnitude_ += std::max(std::fabs(term.low), std::fabs(term.high));
        ++count_;
    }
    /// The results of all passes except the last may be stored as tensors. FLOAT16 is rounded towards zero, or like
    /// subnormal numbers.
    [[nodiscard]] Interval sum() const {
        const bool rounds = type_ == core::DataType::float16 && dimensions_ > 1;
        const double each = std::max(magnitude_ * 0x1p-10, static_cast<double>(count_) * 0x1p-24);
        const double by = rounds ? static_cast<double>(dimensions_ - 1) * each : 0;
        return widened(sum_.result(), by, uniform_variance(by));
    }
    /// Each pass may divide, so a sum may consist of rounded quotients.
    [[nodiscard]] Interval mean() const {
        const double roundings = static_cast<double>(count_ + dimensions_) * 0x1p-23;
        const Interval mean = divided(sum(), count_);
        // The sum's variance already contains its own roundings.
        return dimensions_ > 1 ? widened(mean, roundings * magnitude_ / static_cast<double>(count_),
                                         static_cast<double>(dimensions_) * rounding_variance(mean.value))
                               : mean;
    }

private:
    [[nodiscard]] static Interval widened(const Interval& x, double by, double variance) {
        return x.has_numbers() && std::isfinite(by)
                   ? Interval(x.low - by, x.high + by, x.nan, x.value, x.variance + variance)
                   : x;
    }

    core::DataType type_;
    /// The number of dimensions along which terms are summed.
    std::size_t dimensions_;
    SumRange sum_;
    double magnitude_ = 0;
    std::size_t count_ = 0;
};

Interval product(const Interval& a, const Interval& b, const Interval& c) {
    return hull(hull((a * b) * c, a * (b * c)), (a * c) * b);
}

/// 1 / sqrt(variance + epsilon)
Interval reciprocal_root(const Interval& variance, double epsilon) {
    return Interval(1) / sqrt(variance + Interval(epsilon));
}

/// The same in FP32, for a mean and a variance that may have errors.
struct NormalisationRange {
    Interval mean;
    Interval rstd;
    Interval scale;
    Interval bias;

    [[nodiscard]] Interval scaled(const Interval& x) const { return product(scale, x - mean, rstd); }
    /// Measured on DirectML 1.15.4: computed as factor * x + (bias - factor * mean), as in many implementations.
    [[nodiscard]] Interval operator()(const Interval& x) const {
        const Interval factor = scale * rstd;
        return hull(scaled(x) + bias, factor * x + (bias - factor * mean));
    }
    /// Measured on DirectML 1.15.4: the addend may be stored as a tensor of that type.
    [[nodiscard]] Interval operator()(const Interval& x, const Interval& added, core::DataType type) const {
        return hull(maybe_stored(type, (*this)(x)) + added, scaled(x) + (bias + added));
    }
};

/// The operator's attributes.
struct Attributes {
    Attributes(const KernelArguments& arguments, const std::vector<bool>& reduced)
        : type(arguments.outputs[0]->desc.data_type),
          epsilon(double{arguments.descriptor.number("Epsilon")}),
          activation(arguments.descriptor.schema->find_field("FusedActivation") == nullptr
                         ? nullptr
                         : arguments.descriptor.activation("FusedActivation")) {
        for (std::size_t d = 0; d < reduced.size(); ++d) {
            dimensions += reduced[d] && arguments.outputs[0]->desc.sizes[d] > 1 ? 1 : 0;
        }
    }

    core::DataType type;
    double epsilon;
    FusedActivation activation;
    /// The number of dimensions that sums run over.
    std::size_t dimensions = 0;

    [[nodiscard]] PassesRange no_terms() const { return {type, dimensions}; }
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
        range_ = {normalise_.mean, reciprocal_root(normalise_.variance, normalise_.epsilon), normalise_.scale,
                  normalise_.bias};
    }
    void compute(std::span<double> values) const override {
        in_wide_registers(
            [&] { std::ranges::transform(x_, values.begin(), [this](double x) { return normalise_(x, 0); }); });
        if (attributes_.activation.is_present()) {
            std::ranges::transform(values, values.begin(), [this](double x) { return attributes_.activated(x); });
        }
    }
    [[nodiscard]] Interval range(std::size_t k) const override { return attributes_.activated(range_(x_[k])); }

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
        mean_range = maybe_stored(attributes.type, attributes.all_of(x).mean());
        variance_range = maybe_stored(attributes.type, spread_range(x, attributes));
    }

private:
    /// Relative to a mean with an error of d, the variance is larger by d * d.
    [[nodiscard]] Interval spread_range(Numbers x, const Attributes& attributes) const {
        PassesRange squares = attributes.no_terms();
        for (const double element : x) {
            const Interval distance = abs(Interval(element) - Interval(mean));
            squares.add(distance * distance);
        }
        const Interval about_mean = squares.mean();
        if (!about_mean.has_numbers() || !mean_range.has_numbers()) {
            return about_mean;
        }
        const double off = std::max(mean_range.high - mean, mean - mean_range.low);
        const Interval shift = Interval(0, off, false) * Interval(0, off, false);
        // The number of roundings is the same for shifted values.
        const double roundings = static_cast<double>(x.size() + 4) * 0x1p-23;
        return {std::max(0.0, about_mean.low - shift.high * roundings), about_mean.high + shift.high * (1 + roundings),
                about_mean.nan || std::isinf(off), about_mean.value,
                about_mean.variance + variance_of_shift(mean_range.variance)};
    }

    /// The mean's error e shifts the variance by e * e. On average that is the variance of e, with a spread of the same
    /// size.
    [[nodiscard]] static double variance_of_shift(double variance_of_mean) {
        return 2 * variance_of_mean * variance_of_mean;
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

Kernels batch_normalization_kernels() {
    return {
        {"BATCH_NORMALIZATION", compute_inference, inference_tolerance},
        {"BATCH_NORMALIZATION_GRAD", compute_gradient<InferenceGradient>, sums_tolerance},
        {"BATCH_NORMALIZATION_TRAINING", compute_training, sums_tolerance},
        {"BATCH_NORMALIZATION_TRAINING_GRAD", compute_gradient<TrainingGradient>, sums_tolerance},
    };
}

}  // namespace dmlconform::cpu
