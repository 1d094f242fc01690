// Tests that no FLOAT32 range is wider than roundings can make it, for random cases of every operator. The bound does
// not know the operator: it comes from the exact function alone.
//
// Rounding an intermediate result once is no worse than changing the inputs that it was made of by one rounding each,
// to first order. So what k roundings do to an element is at most k times the sum over the inputs of
// |input * derivative|, and |element| for the last one. Derivatives are differences of the reference's exact values. An
// element that depends on n inputs has about n roundings in a row at worst, and some more for the formula.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/element.h"
#include "engine/core/strided.h"
#include "engine/cpu/reference.h"
#include "engine/fuzz/case_generator.h"

namespace dmlconform::tests::range_widths_test {
namespace {

using core::DataType;
using core::Tensor;

constexpr std::uint64_t cases_of_each = 100;
constexpr std::size_t most_numbers = 96;
/// Relative change of an input.
constexpr double change = 0x1p-8;
/// One rounding, towards zero.
constexpr double rounding = 0x1p-23;

std::vector<float> numbers_of(const Tensor& tensor) {
    std::vector<float> numbers;
    const core::StridedRuns<1> positions(tensor.desc.sizes, {core::signed_strides(tensor.desc)});
    positions.for_each_element(
        [&](const auto& at) { numbers.push_back(tensor.as<float>()[static_cast<std::size_t>(at[0])]); });
    return numbers;
}

class Subject {
public:
    explicit Subject(const cases::Case& subject) : descriptor_(*subject.descriptor) {
        const auto slots = descriptor_.inputs();
        inputs_.resize(slots.size());
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i].desc != nullptr && subject.inputs[i]) {
                inputs_[i] = Tensor(*slots[i].desc);
                is_usable_ = is_usable_ && subject.inputs[i]->fill(inputs_[i]);
                if (slots[i].desc->data_type == DataType::float32) {
                    count_ += inputs_[i].buffer.bytes().size() / sizeof(float);
                }
            }
        }
        is_usable_ = is_usable_ && count_ > 0 && count_ <= most_numbers && descriptor_.in_place.empty();
    }

    [[nodiscard]] bool is_usable() const { return is_usable_; }
    [[nodiscard]] cpu::Reference reference() const { return cpu::compute_reference(descriptor_, pointers()); }

    /// For each element of an output, the sum of |input * derivative|, and the number of inputs that matter.
    struct Sensitivity {
        std::vector<double> sum;
        std::vector<double> count;
    };
    [[nodiscard]] std::vector<Sensitivity> sensitivities(const std::vector<std::vector<float>>& exact) {
        std::vector<Sensitivity> all;
        for (const std::vector<float>& output : exact) {
            all.push_back({std::vector<double>(output.size()), std::vector<double>(output.size())});
        }
        for (Tensor& input : inputs_) {
            if (input.desc.data_type != DataType::float32) {
                continue;
            }
            for (float& number : input.as<float>()) {
                const float before = number;
                number = static_cast<float>(before * (1 + change));
                const auto more = outputs();
                number = static_cast<float>(before * (1 - change));
                const auto less = outputs();
                number = before;
                for (std::size_t o = 0; o < exact.size(); ++o) {
                    add(exact[o], more[o], less[o], all[o]);
                }
            }
        }
        return all;
    }

    [[nodiscard]] std::vector<std::vector<float>> outputs() const {
        std::vector<std::vector<float>> all;
        for (const Tensor& output : cpu::compute_outputs(descriptor_, pointers())) {
            all.push_back(output.desc.data_type == DataType::float32 ? numbers_of(output) : std::vector<float>());
        }
        return all;
    }

private:
    [[nodiscard]] std::vector<const Tensor*> pointers() const {
        std::vector<const Tensor*> pointers;
        for (const Tensor& input : inputs_) {
            pointers.push_back(input.desc.sizes.empty() ? nullptr : &input);
        }
        return pointers;
    }

    static void add(const std::vector<float>& exact, const std::vector<float>& more, const std::vector<float>& less,
                    Sensitivity& to) {
        for (std::size_t i = 0; i < exact.size(); ++i) {
            // The larger of both sides: at a step or a kink, the derivative is that of either.
            const double difference =
                std::max(std::fabs(double{more[i]} - double{exact[i]}), std::fabs(double{less[i]} - double{exact[i]}));
            to.sum[i] += std::isfinite(difference) ? difference / change : 0;
            to.count[i] += difference != 0 ? 1 : 0;
        }
    }

    const operators::Descriptor& descriptor_;
    std::vector<Tensor> inputs_;
    std::size_t count_ = 0;
    bool is_usable_ = true;
};

/// What Direct3D or HLSL allow functions to be off by, whatever the result: see the head of engine/cpu/interval.cpp,
/// which this does not share. Attributes of random cases multiply it by up to 4.
double allowed_absolutely(std::string_view op) {
    static const std::map<std::string_view, double> errors{
        {"ELEMENT_WISE_SIN", 0.0008},
        {"ELEMENT_WISE_COS", 0.0008},
        {"ELEMENT_WISE_ASIN", 7e-5},
        {"ELEMENT_WISE_ACOS", 7e-5},
        {"ELEMENT_WISE_ATAN", 1.2e-5},
        {"ELEMENT_WISE_ATAN_YX", 1.2e-5},
        {"ELEMENT_WISE_ERF", 0x1p-20},
        // Half of x, which is up to about 100, times an error of erf.
        {"ACTIVATION_GELU", 100 * 0x1p-20},
        // 1 minus a gate, which has the error of an exponential, times a candidate, which is up to about 100.
        {"GRU", 100 * 0x1p-21},
    };
    const auto found = errors.find(op);
    // Logarithms near 1, and exponentials from which 1 is subtracted, are off by 2^-21.
    return 4 * (found == errors.end() ? 0x1p-21 : found->second);
}

/// Operators that only add, multiply and divide, so that each step rounds once.
bool is_arithmetic(std::string_view op) {
    static const std::set<std::string_view> operators{
        "ELEMENT_WISE_ADD",      "ELEMENT_WISE_ADD1",    "ELEMENT_WISE_SUBTRACT",
        "ELEMENT_WISE_MULTIPLY", "ELEMENT_WISE_DIVIDE",  "ELEMENT_WISE_MEAN",
        "ELEMENT_WISE_RECIP",    "ELEMENT_WISE_SQRT",    "ACTIVATION_HARD_SIGMOID",
        "ACTIVATION_LEAKY_RELU", "ACTIVATION_LINEAR",    "ACTIVATION_PARAMETERIZED_RELU",
        "ACTIVATION_SOFTSIGN",   "CONVOLUTION",          "GEMM",
        "AVERAGE_POOLING",       "AVERAGE_POOLING1",     "VALUE_SCALE_2D",
        "LP_NORMALIZATION",      "CUMULATIVE_SUMMATION", "AVERAGE_POOLING_GRAD",
        "MAX_POOLING_GRAD",      "ADAM_OPTIMIZER"};
    return operators.contains(op);
}

/// Operators for which derivatives by the inputs say too little about the errors inside.
bool is_beyond_derivatives(std::string_view op) {
    return op == "ELEMENT_WISE_TAN"                                      // the error of a cosine that is nearly 0
           || op.starts_with("RESAMPLE") || op.starts_with("ROI_ALIGN")  // positions, which attributes decide
           || op.starts_with("MEAN_VARIANCE_NORMALIZATION")  // a mean of one element has the error of its division
           || op.starts_with("MULTIHEAD_ATTENTION")          // each score rounds, while inputs change all of them
           || op == "MATRIX_MULTIPLY_INTEGER_TO_FLOAT";      // most inputs are integers
}

/// Random cases of an operator: how many ranges were compared, and how many are wider than their bound.
struct Outcome {
    std::size_t compared = 0;
    std::size_t too_wide = 0;
    double most = 0;
    std::string widest;
};

void compare(const cases::Case& generated, std::string_view op, Outcome& outcome) {
    Subject subject(generated);
    if (!subject.is_usable()) {
        return;
    }
    const cpu::Reference reference = subject.reference();
    const auto exact = subject.outputs();
    const auto sensitivities = subject.sensitivities(exact);
    const bool arithmetic = is_arithmetic(op);
    for (std::size_t o = 0; o < exact.size(); ++o) {
        const core::ElementSlack& slack = reference.slack[o];
        for (std::size_t i = 0; i < exact[o].size() && !slack.below.empty(); ++i) {
            const double value = double{exact[o][i]};
            const double width = std::max(slack.below[i], slack.above[i]);
            // Where nothing changes the element, as for equal operands of a difference, derivatives say nothing.
            if (!std::isfinite(value) || width == 0 || (value == 0 && sensitivities[o].sum[i] == 0)) {
                continue;
            }
            const double roundings = (sensitivities[o].count[i] + 8) * (arithmetic ? 1 : 4);
            const double bound = roundings * rounding * (sensitivities[o].sum[i] + std::fabs(value)) +
                                 (arithmetic ? 0 : allowed_absolutely(op)) + 0x1p-120;
            ++outcome.compared;
            outcome.too_wide += width > bound ? 1 : 0;
            if (width / bound > outcome.most) {
                outcome.most = width / bound;
                outcome.widest =
                    fmt::format("{} element {} = {}: {}, and at most {}", generated.id, i, value, width, bound);
            }
        }
    }
}

/// Near zero, and beside steps, a derivative says too little, so a few ranges may be wider.
TEST(RangeWidths, AreWhatRoundingsCanDo) {
    std::size_t operators_compared = 0;
    for (const std::string& name : operators::operator_names()) {
        const operators::OperatorSchema& schema = *operators::find_operator(name);
        Outcome outcome;
        const bool is_compared = cpu::has_reference(schema) && !is_beyond_derivatives(schema.short_name());
        for (std::uint64_t n = 0; n < cases_of_each && is_compared; ++n) {
            const auto generated = fuzz::generate(schema, {.seed = 2811, .perturbed_percent = 0}, n);
            if (generated && !generated->expect_error) {
                compare(*generated, schema.short_name(), outcome);
            }
        }
        if (outcome.compared >= 20) {
            ++operators_compared;
            EXPECT_LE(outcome.too_wide, outcome.compared / 20) << outcome.compared << " ranges, " << outcome.widest;
        }
    }
    EXPECT_GE(operators_compared, 57u);
}

}  // namespace
}  // namespace dmlconform::tests::range_widths_test
