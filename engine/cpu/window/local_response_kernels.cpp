// LOCAL_RESPONSE_NORMALIZATION, x / (Bias + Alpha / LocalSize * S)^Beta, where S is the sum of squares over the region
// around x; and its gradient with respect to x. Equals definitions/window.cpp.
#include <cmath>

#include "engine/cpu/element_wise/numbers.h"
#include "engine/cpu/movement/computed_element.h"
#include "engine/cpu/window/slide.h"
#include "engine/cpu/window/sum.h"

namespace dmlconform::cpu::local_response_kernels {
namespace {

using window::Coordinates;
using window::OutputElement;
using window::Windows;

template <class Sum>
struct Squares {
    Sum sum = {};

    void add(double element, std::int64_t /*number*/) {
        sum.add(element * element, [&] { return Interval(element) * Interval(element); });
    }
};

struct Parameters {
    double alpha;
    double beta;
    double bias;
    double count;

    explicit Parameters(const operators::Descriptor& descriptor)
        : alpha(double{descriptor.get<float>("Alpha")}),
          beta(double{descriptor.get<float>("Beta")}),
          bias(double{descriptor.get<float>("Bias")}),
          count(descriptor.uint("LocalSize")) {}

    /// The base of the power Beta.
    [[nodiscard]] double base(double squares) const { return bias + alpha / count * squares; }

    /// The same in FP32, where the division may precede or follow the multiplication.
    [[nodiscard]] Interval base(const Interval& squares) const {
        const Interval divisor = window::in_fp32(count);
        return Interval(bias) + hull(Interval(alpha) / divisor * squares, Interval(alpha) * squares / divisor);
    }
};

/// x / base^exponent, by a division or by a multiplication with the inverse power.
Interval over_power(const Interval& x, const Interval& base, const Interval& exponent) {
    return hull(x / pow(base, exponent), x * pow(base, -exponent));
}

template <class Use>
void for_each_sum_of_squares(const KernelArguments& arguments, const core::TensorDesc& output, bool bounded,
                             const Use& use) {
    const core::Tensor& input = *arguments.inputs[0];
    const Windows regions = Windows::of_regions(arguments.descriptor, input.desc);
    window::with_sum(bounded, [&]<class Sum>() {
        window::slide<double>(
            regions, input, output, window::always(Squares<Sum>()),
            [&](const OutputElement& element, const Squares<Sum>& squares) { use(element, squares.sum); });
    });
}

/// Reads the elements of a tensor of any strides in row-major order.
class Reader {
public:
    explicit Reader(const core::Tensor& tensor) : tensor_(tensor), strides_(core::signed_strides(tensor.desc)) {}

    [[nodiscard]] double at(Coordinates coordinates) const {
        double element = 0;
        element_wise::load(tensor_.buffer.bytes(),
                           {tensor_.desc.data_type, movement::address_of(coordinates, strides_), 0}, 1, &element);
        return element;
    }

private:
    const core::Tensor& tensor_;
    core::Strides strides_;
};

void normalize(const KernelArguments& arguments) {
    core::Tensor& output = *arguments.outputs[0];
    const Parameters p(arguments.descriptor);
    const Reader input(*arguments.inputs[0]);
    core::ElementSlack* const slack = movement::wanted_slack(arguments);
    for_each_sum_of_squares(
        arguments, output.desc, slack != nullptr, [&](const OutputElement& element, const auto& squares) {
            const double x = input.at(element.coordinates);
            movement::store_computed(output, element.address, element.number,
                                     x / std::pow(p.base(squares.value), p.beta), slack,
                                     [&] { return over_power(x, p.base(squares.range()), p.beta); });
        });
}

// ---- the gradient ------------------------------------------------------------------------------------------------

/// The terms that elements contribute to the gradients of the elements in their regions: gradient * x * base^(-Beta -
/// 1).
template <class Sum>
struct Terms {
    const std::vector<Interval>* ranges = nullptr;
    Sum sum = {};

    void add(double term, std::int64_t number) {
        sum.add(term, [&] { return (*ranges)[static_cast<std::size_t>(number)]; });
    }
};

class Gradient {
public:
    explicit Gradient(const KernelArguments& arguments)
        : arguments_(arguments),
          p_(arguments.descriptor),
          input_(*arguments.inputs[0]),
          gradient_(*arguments.inputs[1]),
          slack_(movement::wanted_slack(arguments)),
          terms_(core::TensorDesc::packed(core::DataType::float64, arguments.inputs[0]->desc.sizes)),
          own_(terms_.as<double>().size()) {
        if (slack_ != nullptr) {
            term_ranges_.resize(own_.size());
            own_ranges_.resize(own_.size());
        }
    }

    void compute() {
        for_each_sum_of_squares(arguments_, terms_.desc, slack_ != nullptr,
                                [&](const OutputElement& element, const auto& squares) { note(element, squares); });
        core::Tensor& output = *arguments_.outputs[0];
        const Windows seen_by = Windows::of_regions(arguments_.descriptor, output.desc, true);
        const double factor = 2 * p_.alpha * p_.beta / p_.count;
        window::with_sum(slack_ != nullptr, [&]<class Sum>() {
            window::slide<double>(seen_by, terms_, output.desc, window::always(Terms<Sum>{&term_ranges_}),
                                  [&](const OutputElement& element, const Terms<Sum>& terms) {
                                      const double x = input_.at(element.coordinates);
                                      const auto number = static_cast<std::size_t>(element.number);
                                      movement::store_computed(
                                          output, element.address, element.number,
                                          own_[number] - factor * x * terms.sum.value, slack_,
                                          [&] { return own_ranges_[number] - of_others(x, terms.sum.range()); });
                                  });
        });
    }

private:
    /// The direct part of an element's gradient, and its term, from its base.
    template <class Sum>
    void note(const OutputElement& element, const Sum& squares) {
        const double x = input_.at(element.coordinates);
        const double gradient = gradient_.at(element.coordinates);
        const double base = p_.base(squares.value);
        const auto number = static_cast<std::size_t>(element.number);
        own_[number] = gradient / std::pow(base, p_.beta);
        terms_.as<double>()[number] = gradient * x / std::pow(base, p_.beta + 1);
        if (slack_ != nullptr) {
            const Interval range = p_.base(squares.range());
            own_ranges_[number] = over_power(gradient, range, p_.beta);
            const Interval product = Interval(gradient) * Interval(x);
            term_ranges_[number] = hull(hull(over_power(product, range, Interval(p_.beta) + Interval(1)),
                                             over_power(product, range, p_.beta) / range),
                                        over_power(gradient, range, p_.beta) / range * Interval(x));
        }
    }

    /// 2 * Alpha * Beta / LocalSize * x * sum, evaluated from the left, starting with the sum, or with Alpha /
    /// LocalSize, as in the base.
    [[nodiscard]] Interval of_others(double x, const Interval& sum) const {
        const Interval divisor = window::in_fp32(p_.count);
        const Interval factors = Interval(2 * p_.alpha) * Interval(p_.beta);
        const Interval of_base = Interval(p_.alpha) / divisor * Interval(2 * p_.beta) * (Interval(x) * sum);
        return hull(hull(factors / divisor * Interval(x) * sum, factors * (Interval(x) * sum) / divisor), of_base);
    }

    const KernelArguments& arguments_;
    Parameters p_;
    Reader input_;
    Reader gradient_;
    core::ElementSlack* slack_;
    /// Packed, in row-major order.
    core::Tensor terms_;
    std::vector<double> own_;
    std::vector<Interval> term_ranges_;
    std::vector<Interval> own_ranges_;
};

void normalize_grad(const KernelArguments& arguments) {
    Gradient(arguments).compute();
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    return movement::computed_tolerance(
        true, "pow: exp2(y * log2(x)); one rounding for each addition, in any order, and for each other operation");
}

}  // namespace

Kernels kernels() {
    return {{.name = "LOCAL_RESPONSE_NORMALIZATION", .compute = normalize, .tolerance = tolerance},
            {.name = "LOCAL_RESPONSE_NORMALIZATION_GRAD", .compute = normalize_grad, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::local_response_kernels
