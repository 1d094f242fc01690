// Formulas from the documentation of DML_ACTIVATION_*_OPERATOR_DESC; precision from the D3D11.3 functional
// specification, section 3.1 and 22.10: + - * within one rounding, exp 2^-21 relative, log 2^-21 absolute in [0.5, 2]
// and relative elsewhere.
#include "engine/operators/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string_view>

namespace dmlconform::operators {
namespace {

struct Row {
    std::string_view name;
    ActivationFunction function;
    std::string_view first;
    std::string_view second;
};

constexpr std::array<Row, 19> rows{{
    {"ACTIVATION_IDENTITY", ActivationFunction::identity, "", ""},
    {"ACTIVATION_CELU", ActivationFunction::celu, "Alpha", ""},
    {"ACTIVATION_ELU", ActivationFunction::elu, "Alpha", ""},
    {"ACTIVATION_GELU", ActivationFunction::gelu, "", ""},
    {"ACTIVATION_HARD_SIGMOID", ActivationFunction::hard_sigmoid, "Alpha", "Beta"},
    {"ACTIVATION_HARD_SWISH", ActivationFunction::hard_swish, "Alpha", "Beta"},
    {"ACTIVATION_LEAKY_RELU", ActivationFunction::leaky_relu, "Alpha", ""},
    {"ACTIVATION_LINEAR", ActivationFunction::linear, "Alpha", "Beta"},
    {"ACTIVATION_PARAMETRIC_SOFTPLUS", ActivationFunction::parametric_softplus, "Alpha", "Beta"},
    {"ACTIVATION_RELU", ActivationFunction::relu, "", ""},
    {"ACTIVATION_SCALED_ELU", ActivationFunction::scaled_elu, "Alpha", "Gamma"},
    {"ACTIVATION_SCALED_TANH", ActivationFunction::scaled_tanh, "Alpha", "Beta"},
    {"ACTIVATION_SHRINK", ActivationFunction::shrink, "Bias", "Threshold"},
    {"ACTIVATION_SIGMOID", ActivationFunction::sigmoid, "", ""},
    {"ACTIVATION_SOFTPLUS", ActivationFunction::softplus, "Steepness", ""},
    {"ACTIVATION_SOFTSIGN", ActivationFunction::softsign, "", ""},
    {"ACTIVATION_SWISH", ActivationFunction::swish, "SigmoidInputScale", ""},
    {"ACTIVATION_TANH", ActivationFunction::tanh, "", ""},
    {"ACTIVATION_THRESHOLDED_RELU", ActivationFunction::thresholded_relu, "Alpha", ""},
}};

constexpr double unit = 0x1p-24;            // one FP32 rounding, relative
constexpr double function_error = 0x1p-21;  // exp, log

double sigmoid(double x) {
    return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

double softplus(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

double gelu(double x) {
    return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

/// Rounding error of an exponential function's argument. Where the bound applies the function has long reached its
/// limit, and an infinite argument must not make an error of infinity times zero.
double argument_error(double x) {
    return std::min(std::fabs(x), 1000.0) * unit;
}

/// Error of exp(x) in FP32, relative: the function's own, and that of an argument scaled to base 2 first.
double exp_relative_error(double x) {
    return function_error + 2 * argument_error(x);
}

/// Error of exp(x) - 1 for x <= 0, by the formula as documented.
double expm1_error(double x) {
    return x >= 0 ? 0 : std::exp(x) * exp_relative_error(x) + unit;
}

/// Error of 1 / (1 + exp(-x)).
double sigmoid_error(double x) {
    const double y = sigmoid(x);
    return y * (1 - y) * exp_relative_error(x) + 3 * unit * y;
}

/// Error of ln(1 + exp(x)).
double softplus_error(double x) {
    const double y = softplus(x);
    return sigmoid(x) * exp_relative_error(std::min(x, 0.0)) + (function_error + 2 * unit) * std::max(y, 1.0);
}

/// Error of (1 - exp(-2x)) / (1 + exp(-2x)), the documented form; for the sign of x that keeps exp below 1.
double tanh_error(double x) {
    const double e = std::exp(-2 * std::fabs(x));
    return 2 * e * exp_relative_error(2 * x) / (1 + e) + 3 * unit;
}

/// Where the function has kinks, jumps and extrema: between them it is monotone. Entries that are not needed are NaN.
std::array<double, 3> turning_points(const Activation& activation) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const double first = activation.first;
    const double second = activation.second;
    switch (activation.function) {
        case ActivationFunction::elu:
        case ActivationFunction::leaky_relu:
        case ActivationFunction::celu:
        case ActivationFunction::relu:
        case ActivationFunction::scaled_elu:
            return {0.0, none, none};
        case ActivationFunction::thresholded_relu:
            return {first, none, none};
        case ActivationFunction::shrink:
            return {second, -second, none};
        case ActivationFunction::hard_swish:
            return {-second / first, (1 - second) / first, -second / (2 * first)};
        case ActivationFunction::gelu:
            return {-0.75179152469356446, none, none};
        case ActivationFunction::swish:
            return {-1.2784645427610738 / first, none, none};
        default:
            return {none, none, none};
    }
}

}  // namespace

Activation Activation::from(const Descriptor* descriptor) {
    if (descriptor == nullptr) {
        return {};
    }
    for (const Row& row : rows) {
        if (row.name == descriptor->schema->short_name()) {
            return {row.function, row.first.empty() ? 0.0 : double{descriptor->number(row.first)},
                    row.second.empty() ? 0.0 : double{descriptor->number(row.second)}};
        }
    }
    throw std::logic_error(descriptor->schema->name + " is not a fusable activation");
}

double Activation::operator()(double x) const {
    switch (function) {
        case ActivationFunction::identity:
            return x;
        case ActivationFunction::celu:
            // Written so that a NaN stays one: max(0, x) + min(0, Alpha * (exp(x / Alpha) - 1)).
            return std::isnan(x) ? x : std::max(0.0, x) + std::min(0.0, first * std::expm1(x / first));
        case ActivationFunction::elu:
            return x >= 0 ? x : first * std::expm1(x);
        case ActivationFunction::gelu:
            return gelu(x);
        case ActivationFunction::hard_sigmoid:
            return std::isnan(x) ? x : std::clamp(first * x + second, 0.0, 1.0);
        case ActivationFunction::hard_swish:
            return x * std::clamp(first * x + second, 0.0, 1.0);
        case ActivationFunction::leaky_relu:
            return x >= 0 ? x : first * x;
        case ActivationFunction::linear:
            return first * x + second;
        case ActivationFunction::parametric_softplus:
            return first * softplus(second * x);
        case ActivationFunction::relu:
            return std::isnan(x) ? x : std::max(0.0, x);
        case ActivationFunction::scaled_elu:
            return second * (x > 0 ? x : first * std::expm1(x));
        case ActivationFunction::scaled_tanh:
            return first * std::tanh(second * x);
        case ActivationFunction::shrink:
            return std::isnan(x) ? x : x > second ? x - first : x < -second ? x + first : 0.0;
        case ActivationFunction::sigmoid:
            return sigmoid(x);
        case ActivationFunction::softplus:
            return softplus(first * x) / first;
        case ActivationFunction::softsign:
            return x / (1 + std::fabs(x));
        case ActivationFunction::swish:
            return x * sigmoid(first * x);
        case ActivationFunction::tanh:
            return std::tanh(x);
        case ActivationFunction::thresholded_relu:
        default:
            return std::isnan(x) ? x : x > first ? x : 0.0;
    }
}

double Activation::evaluation_error(double x) const {
    const double y = (*this)(x);
    switch (function) {
        case ActivationFunction::celu:
            return std::fabs(first) * expm1_error(x / first) + 2 * unit * std::fabs(y);
        case ActivationFunction::elu:
            return std::fabs(first) * expm1_error(x) + unit * std::fabs(y);
        case ActivationFunction::scaled_elu:
            return std::fabs(first * second) * expm1_error(x) + 2 * unit * std::fabs(y);
        case ActivationFunction::gelu:
            // erf is no intrinsic of HLSL: implementations use polynomials of about the precision of exp.
            return 0.5 * std::fabs(x) * function_error + 3 * unit * std::fabs(y);
        case ActivationFunction::hard_sigmoid:
            return unit * (std::fabs(first * x) + std::fabs(y));
        case ActivationFunction::hard_swish:
            return std::fabs(x) * unit * (std::fabs(first * x) + 1) + unit * std::fabs(y);
        case ActivationFunction::linear:
            return unit * (std::fabs(first * x) + std::fabs(y));
        case ActivationFunction::parametric_softplus:
            return std::fabs(first) * (softplus_error(second * x) + argument_error(second * x)) + unit * std::fabs(y);
        case ActivationFunction::softplus:
            return (softplus_error(first * x) + argument_error(first * x)) / std::fabs(first) + unit * std::fabs(y);
        case ActivationFunction::sigmoid:
            return sigmoid_error(x);
        case ActivationFunction::swish:
            return std::fabs(x) * sigmoid_error(first * x) + unit * std::fabs(y);
        case ActivationFunction::tanh:
            return tanh_error(x);
        case ActivationFunction::scaled_tanh:
            return std::fabs(first) * (tanh_error(second * x) + argument_error(second * x)) + unit * std::fabs(y);
        case ActivationFunction::softsign:
            return 3 * unit * std::fabs(y);
        case ActivationFunction::shrink:
        case ActivationFunction::leaky_relu:
            return unit * std::fabs(y);
        case ActivationFunction::identity:
        case ActivationFunction::relu:
        case ActivationFunction::thresholded_relu:
        default:
            return 0;
    }
}

Interval Activation::accepted(double x, double slack) const {
    const double centre = (*this)(x);
    double error = evaluation_error(x);
    if (!(slack > 0)) {
        return {centre - error, centre + error};
    }
    Interval range{centre, centre};
    const auto include = [&](double value) {
        range.low = std::min(range.low, value);
        range.high = std::max(range.high, value);
    };
    for (const double end : {x - slack, x + slack}) {
        include((*this)(end));
        error = std::max(error, evaluation_error(end));
    }
    for (const double point : turning_points(*this)) {
        if (std::fabs(x - point) <= slack) {
            // With its neighbours: at a jump the value belongs to one side, and the limit on the other is accepted too.
            include((*this)(std::nextafter(point, -std::numeric_limits<double>::infinity())));
            include((*this)(point));
            include((*this)(std::nextafter(point, std::numeric_limits<double>::infinity())));
        }
    }
    return {range.low - error, range.high + error};
}

}  // namespace dmlconform::operators
