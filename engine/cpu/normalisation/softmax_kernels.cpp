// SOFTMAX, LOG_SOFTMAX and HARDMAX, over the last dimension or over given axes. What comments say about DirectML 1.15.4
// was measured on it. Equals definitions/normalisation.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/cpu/aligned_numbers.h"
#include "engine/cpu/normalisation/exponential.h"
#include "engine/cpu/normalisation/formula.h"
#include "engine/cpu/normalisation/running_sums.h"
#include "engine/cpu/reduction/sets.h"
#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::softmax_kernels {
namespace {

using normalisation::Formula;
using normalisation::Operands;
using normalisation::Set;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Ignores NaN.
template <class Element>
double maximum_of(std::span<const Element> x) {
    std::array<Element, 32> greatest;
    greatest.fill(-std::numeric_limits<Element>::infinity());
    in_wide_lanes(x, greatest,
                  [](Element& maximum, Element element) { maximum = element > maximum ? element : maximum; });
    return *std::ranges::max_element(greatest);
}

/// exp(x - max x) of a slice, and the sum. All elements become NaN if one is NaN or infinite, or if all are -infinity,
/// because infinity - infinity is NaN.
///
/// Slices are arrays of doubles, or FLOAT32 elements in a tensor; the results are equal.
class Powers : public Formula {
public:
    explicit Powers(core::DataType type) : type_(type) {}

    void take(const Set& set) override {
        x_ = set.elements[0];
        raise(x_);
        if (set.wants_ranges) {
            reduction::SumRange sum;
            for (const double element : x_) {
                sum.add(exp(distance(element)));
            }
            // Measured on DirectML 1.15.4: the sum may be stored as a tensor before elements are divided by it.
            sum_range_ = normalisation::maybe_stored(type_, sum.result());
        }
    }

protected:
    [[nodiscard]] Interval distance(double element) const { return Interval(element) - Interval(maximum_); }

    template <class Element>
    void raise(std::span<const Element> x) {
        maximum_ = maximum_of(x);
        // NaN only matters if there is an infinity as well.
        has_nan_ = maximum_ == infinity && std::ranges::any_of(x, [](Element element) { return std::isnan(element); });
        powers_.resize(x.size());
        const Element* const from = x.data();
        double* const to = powers_.data();
        in_wide_registers([from, to, count = x.size(), maximum = maximum_] {
            for (std::size_t k = 0; k < count; ++k) {
                to[k] = normalisation::exponential(static_cast<double>(from[k]) - maximum);
            }
        });
        sum_ = normalisation::sum<32>(powers_, [](double power) { return power; });
    }

    core::DataType type_;
    std::span<const double> x_;
    double maximum_ = 0;
    bool has_nan_ = false;
    AlignedNumbers powers_;
    double sum_ = 0;
    Interval sum_range_;
};

class Softmax final : public Powers {
public:
    using Powers::Powers;

    void compute(std::span<double> values) const override { store(values); }
    bool compute_floats(std::span<const float> elements, std::span<float> values) override {
        raise(elements);
        store(values);
        return true;
    }
    [[nodiscard]] Interval range(std::size_t k) const override {
        const Interval power = exp(distance(x_[k]));
        return hull(power / sum_range_, power * (Interval(1) / sum_range_));
    }

private:
    /// Multiplying by the reciprocal has an error of at most 2^-52, and is much faster than dividing.
    template <class Element>
    void store(std::span<Element> values) const {
        in_wide_registers([powers = powers_.data(), to = values.data(), count = values.size(), share = 1 / sum_] {
            for (std::size_t k = 0; k < count; ++k) {
                to[k] = static_cast<Element>(powers[k] * share);
            }
        });
    }
};

/// Avoids the logarithm of the quotient, which is 0 if x is far below the maximum.
class LogSoftmax final : public Powers {
public:
    using Powers::Powers;

    void compute(std::span<double> values) const override { store(x_, values); }
    bool compute_floats(std::span<const float> elements, std::span<float> values) override {
        raise(elements);
        store(elements, values);
        return true;
    }
    [[nodiscard]] Interval range(std::size_t k) const override {
        if (is_beside_infinity(x_[k])) {
            return {-infinity, -infinity, true};
        }
        return distance(x_[k]) - log(sum_range_);
    }

private:
    /// Source and target may be the same memory.
    template <class Element>
    void store(std::span<const Element> x, std::span<Element> values) const {
        const double logarithm = std::log(sum_);
        const auto value = [=, maximum = maximum_](double element) { return (element - maximum) - logarithm; };
        if (maximum_ == infinity) {
            std::ranges::transform(x, values.begin(), [&](Element element) {
                return static_cast<Element>(is_beside_infinity(element) ? -infinity : value(element));
            });
            return;
        }
        in_wide_registers([from = x.data(), to = values.data(), count = x.size(), value] {
            for (std::size_t k = 0; k < count; ++k) {
                to[k] = static_cast<Element>(value(from[k]));
            }
        });
    }

    /// By the documented formula, the share of a finite element in an infinite sum is 0, whose logarithm is -infinity.
    /// Implementations may return NaN, because the sum of powers is NaN.
    [[nodiscard]] bool is_beside_infinity(double element) const {
        return maximum_ == infinity && element != infinity && !has_nan_;
    }
};

class Hardmax final : public Formula {
public:
    explicit Hardmax(core::DataType /*type*/) {}

    void take(const Set& set) override {
        // If all elements are NaN, there is no maximum, and the first element counts.
        const double maximum = maximum_of(set.elements[0]);
        const auto found = std::ranges::find(set.elements[0], maximum);
        first_ = found == set.elements[0].end() ? 0 : static_cast<std::size_t>(found - set.elements[0].begin());
        begins_with_nan_ = std::isnan(set.elements[0][0]);
    }
    void compute(std::span<double> values) const override {
        std::ranges::fill(values, 0);
        values[first_] = 1;
    }
    /// No source says what NaN does. Nothing is greater than NaN, so that a loop that begins with it keeps it. Measured
    /// on DirectML 1.15.4.
    [[nodiscard]] Interval range(std::size_t k) const override {
        if (begins_with_nan_ && (k == 0 || k == first_)) {
            return {0, 1, false};
        }
        return k == first_ ? 1.0 : 0.0;
    }

private:
    std::size_t first_ = 0;
    bool begins_with_nan_ = false;
};

template <class F>
void compute(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    const Operands operands{
        .elements = {&input},
        .parameters = {},
        .reduced = reduction::axes_or_last_dimension(arguments.descriptor, input.desc.sizes.size())};
    normalisation::compute_sets(arguments, operands,
                                [&] { return std::make_unique<F>(arguments.outputs[0]->desc.data_type); });
}

core::Tolerance softmax_tolerance(const operators::Descriptor& /*descriptor*/,
                                  const operators::TensorSlot& /*output*/) {
    return normalisation::range_tolerance(
        "exp(x - max) / sum: what Direct3D allows exp, n - 1 roundings of the sum, which may be a FLOAT16 tensor, and "
        "the division");
}

core::Tolerance log_softmax_tolerance(const operators::Descriptor& /*descriptor*/,
                                      const operators::TensorSlot& /*output*/) {
    return normalisation::range_tolerance(
        "(x - max) - log(sum of exp(x - max)): what Direct3D allows exp and log, and n - 1 roundings of the sum, which "
        "may be a FLOAT16 tensor");
}

core::Tolerance hardmax_tolerance(const operators::Descriptor& descriptor, const operators::TensorSlot& output) {
    core::Tolerance tolerance = selected_tolerance(descriptor, output);
    tolerance.element_slack = true;
    tolerance.slack_formula = "exact; where NaN comes first, NaN or the maximum";
    return tolerance;
}

}  // namespace

Kernels kernels() {
    return {{"ACTIVATION_SOFTMAX", compute<Softmax>, softmax_tolerance},
            {"ACTIVATION_SOFTMAX1", compute<Softmax>, softmax_tolerance},
            {"ACTIVATION_LOG_SOFTMAX", compute<LogSoftmax>, log_softmax_tolerance},
            {"ACTIVATION_LOG_SOFTMAX1", compute<LogSoftmax>, log_softmax_tolerance},
            {"ACTIVATION_HARDMAX", compute<Hardmax>, hardmax_tolerance},
            {"ACTIVATION_HARDMAX1", compute<Hardmax>, hardmax_tolerance}};
}

}  // namespace dmlconform::cpu::softmax_kernels
