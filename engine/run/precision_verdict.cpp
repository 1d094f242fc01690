// Names an output's precision by trying computations that could explain its errors.
#include "engine/run/precision_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/core/ascii_case.h"
#include "engine/cpu/graph_reference.h"
#include "engine/operators/rounded_sums.h"
#include "engine/run/dispute.h"
#include "engine/run/reference_source.h"

namespace dmlconform::run {
namespace {

using core::Precision;

/// A computation explains errors if it accounts for this share of their squares. An unrelated one has a share of 0 or
/// less. Two computations that both round towards zero are correlated by up to 0.8, because their errors grow with the
/// result, and explain up to 2 * 0.8 - 1 of each other.
constexpr double least_share = 0.8;

/// Limit for the number of elements for which the reference is computed again.
constexpr std::uint64_t most_elements_again = std::uint64_t{1} << 24;

/// How operands are rounded. Tensor cores use either mode.
enum class Rounding : std::uint8_t { nearest, towards_zero };

/// Clears the lowest `unused` bits after rounding. Infinities and NaN stay unchanged.
template <class Bits>
Bits rounded(Bits bits, int unused, Bits exponent, Rounding rounding) {
    if ((bits & exponent) == exponent) {
        return bits;
    }
    const auto mask = static_cast<Bits>(~((Bits{1} << unused) - 1));
    if (rounding == Rounding::towards_zero) {
        return static_cast<Bits>(bits & mask);
    }
    const auto half = static_cast<Bits>((Bits{1} << (unused - 1)) - 1 + ((bits >> unused) & 1));
    return static_cast<Bits>((bits + half) & mask);
}

/// Rounds all elements. True if that changes any.
bool round_elements(core::Tensor& tensor, int bits, Rounding rounding) {
    bool changed = false;
    const auto each = [&]<class Bits>(std::span<Bits> elements, int unused, Bits exponent) {
        for (Bits& element : elements) {
            const Bits before = element;
            element = rounded(before, unused, exponent, rounding);
            changed = changed || element != before;
        }
    };
    if (tensor.desc.data_type == core::DataType::float32) {
        each(tensor.as<std::uint32_t>(), 24 - bits, 0x7f800000u);
    } else if (tensor.desc.data_type == core::DataType::float16 && bits < 11) {
        each(tensor.as<std::uint16_t>(), 11 - bits, std::uint16_t{0x7c00});
    }
    return changed;
}

std::uint64_t elements_of(const PrecisionQuestion& question) {
    std::uint64_t sum = 0;
    for (const auto& slots : {question.descriptor.inputs(), question.descriptor.outputs()}) {
        for (const operators::TensorSlot& slot : slots) {
            sum += slot.desc == nullptr ? 0 : core::element_count(slot.desc->sizes).value_or(most_elements_again);
        }
    }
    return sum;
}

/// Whether the product or the quotient of two numbers like this may be a subnormal FP32 number.
bool is_extreme(double number) {
    const double magnitude = std::fabs(number);
    return magnitude != 0 && std::isfinite(magnitude) && (magnitude < 0x1p-63 || magnitude > 0x1p63);
}

bool has_extreme_elements(const core::Tensor& tensor) {
    if (tensor.desc.data_type != core::DataType::float32) {
        return false;  // FLOAT16 has no such numbers
    }
    const auto elements = tensor.as<float>();
    return std::any_of(elements.begin(), elements.end(), [](float element) { return is_extreme(double{element}); });
}

bool has_extreme_attributes(const operators::Descriptor& descriptor) {
    return std::any_of(descriptor.values.begin(), descriptor.values.end(), [](const operators::FieldValue& value) {
        const auto* number = std::get_if<float>(&value);
        return number != nullptr && is_extreme(double{*number});
    });
}

/// Whether intermediate results may be subnormal FP32 numbers, which Direct3D may flush to zero. The expected errors
/// include that for each operation, but not what becomes of zeros in the operations after it.
bool may_be_flushed(const PrecisionQuestion& question) {
    return has_extreme_attributes(question.descriptor) ||
           std::any_of(question.inputs.begin(), question.inputs.end(), [](const core::Tensor* input) {
               const bool is_extreme = input != nullptr && has_extreme_elements(*input);
               if (input != nullptr) {
                   input->buffer.leave_memory();
               }
               return is_extreme;
           });
}

/// How each input is rounded, for computed_again. Empty entries stay as they are.
using OperandRoundings = std::vector<std::optional<Rounding>>;

/// The reference's result for inputs that are rounded to this many bits; empty if rounding does not change them.
std::optional<core::Tensor> computed_again(const PrecisionQuestion& question, int bits,
                                           const OperandRoundings& roundings) {
    std::vector<core::Tensor> inputs;
    std::vector<const core::Tensor*> pointers;
    inputs.reserve(question.inputs.size());
    bool changed = false;
    for (std::size_t i = 0; i < question.inputs.size(); ++i) {
        if (question.inputs[i] == nullptr || !roundings[i]) {
            pointers.push_back(question.inputs[i]);
            continue;
        }
        core::Tensor& copy = inputs.emplace_back(copy_of(*question.inputs[i]));
        changed = round_elements(copy, bits, *roundings[i]) || changed;
        copy.buffer.leave_memory();
        pointers.push_back(&copy);
    }
    if (!changed) {
        return std::nullopt;
    }
    // Without bounds only the local computation is faster.
    const auto& graph = question.descriptor.graph;
    auto outputs = graph == nullptr && !references_are_isolated()
                       ? cpu::compute_outputs(question.descriptor, pointers)
                       : reference_for(question.descriptor, pointers, {cpu::Accumulation::fp32, 0}).outputs;
    return std::move(outputs[question.output]);
}

/// How well rounded operands explain the errors, which of them are rounded, and the Q that rounding all of them to
/// nearest leads to.
struct RoundedOperands {
    double share = 0;
    double q = 0;
    std::string which = {};
};

/// How well inputs explain the errors that are rounded in this way; empty if rounding does not change them.
std::optional<compare::Explanation> explained(const PrecisionQuestion& question, const core::Tensor& actual, int bits,
                                              const OperandRoundings& roundings) {
    const auto other = computed_again(question, bits, roundings);
    if (!other) {
        return std::nullopt;
    }
    return compare::explanation_by(*other, question.reference.outputs[question.output], actual,
                                   question.reference.slack[question.output]);
}

RoundedOperands with_rounded_operands(const PrecisionQuestion& question, const core::Tensor& actual, int bits) {
    RoundedOperands result;
    for (const Rounding rounding : {Rounding::nearest, Rounding::towards_zero}) {
        const OperandRoundings all(question.inputs.size(), rounding);
        if (const auto explanation = explained(question, actual, bits, all)) {
            result.share = std::max(result.share, explanation->share);
            result.q = rounding == Rounding::nearest ? explanation->q : result.q;
        }
    }
    return result;
}

/// Inputs that formats of fewer bits are used for: two factors, and what is added to their product.
constexpr std::size_t most_operands = 3;

std::vector<std::size_t> floating_inputs(const PrecisionQuestion& question) {
    std::vector<std::size_t> inputs;
    for (std::size_t i = 0; i < question.inputs.size() && inputs.size() < most_operands; ++i) {
        if (question.inputs[i] != nullptr && core::is_floating_point(question.inputs[i]->desc.data_type)) {
            inputs.push_back(i);
        }
    }
    return inputs;
}

/// Tries inputs of which only one is rounded, or one in another way than the others.
void try_single_operands(const PrecisionQuestion& question, const core::Tensor& actual, int bits,
                         RoundedOperands& result) {
    const auto inputs = floating_inputs(question);
    const auto slots = question.descriptor.inputs();
    const auto attempt = [&](const OperandRoundings& roundings, std::string which) {
        const auto explanation = explained(question, actual, bits, roundings);
        if (explanation && explanation->share > result.share) {
            result.share = explanation->share;
            result.which = std::move(which);
        }
    };
    for (const std::size_t input : inputs) {
        for (const Rounding rounding : {Rounding::nearest, Rounding::towards_zero}) {
            if (result.share >= least_share || inputs.size() < 2) {
                return;
            }
            OperandRoundings roundings(question.inputs.size());
            roundings[input] = rounding;
            attempt(roundings, slots[input].name);
            const auto other = rounding == Rounding::nearest ? Rounding::towards_zero : Rounding::nearest;
            roundings.assign(question.inputs.size(), other);
            roundings[input] = rounding;
            attempt(roundings, "");
        }
    }
}

/// A name if all results have few significant bits although some expected values have more; otherwise empty.
std::string name_by_results(const compare::PrecisionStatistic& statistic, core::DataType type) {
    constexpr int few_bits = 16;
    const bool is_coarse = statistic.bits <= few_bits && statistic.bits < statistic.expected_bits;
    return is_coarse && type == core::DataType::float32
               ? fmt::format("less than FP32 (results of {} bits)", statistic.bits)
               : "";
}

/// A name by the size of the errors alone.
std::string name_by_bits(const compare::PrecisionStatistic& statistic, core::DataType type) {
    if (type == core::DataType::float16) {
        return "FP16 accumulation";
    }
    const double bits = compare::effective_bits(statistic.q(), type);
    return bits >= 10 && bits < 13  ? "FP16 accumulation (11 bits)"
           : bits >= 7 && bits < 10 ? "BF16 accumulation (8 bits)"
                                    : fmt::format("less than FP32 ({:.1f} bits)", bits);
}

/// A name if all results are too small or too large by the same factor; otherwise empty.
std::string name_by_proportion(const PrecisionQuestion& question, const core::Tensor& actual) {
    const compare::Proportion proportion = compare::proportion_of(question.reference.outputs[question.output], actual,
                                                                  question.reference.slack[question.output]);
    return proportion.share < least_share
               ? ""
               : fmt::format("less than FP32 (results {:.2g} % too {})", 100 * std::fabs(proportion.off),
                             proportion.off < 0 ? "small" : "large");
}

class Judge {
public:
    Judge(const PrecisionQuestion& question, const core::Tensor& actual, OutputPrecision& result)
        : question_(question),
          actual_(actual),
          result_(result),
          type_(question.reference.outputs[question.output].desc.data_type) {}

    void judge() {
        const compare::PrecisionStatistic& statistic = result_.statistic;
        const double q = statistic.q();
        if (q <= honest_q()) {
            result_.computes_as = statistic.truncates() ? "FP32, rounding towards zero" : "FP32";
            return;
        }
        if (elements_of(question_) <= most_elements_again) {
            tf32_ = with_rounded_operands(question_, actual_, significant_bits(Precision::tf32));
            bf16_ = with_rounded_operands(question_, actual_, significant_bits(Precision::bf16));
            if (std::max(tf32_.share, bf16_.share) < least_share) {
                try_single_operands(question_, actual_, significant_bits(Precision::tf32), tf32_);
                try_single_operands(question_, actual_, significant_bits(Precision::bf16), bf16_);
            }
        }
        if (const auto operands = rounded_to()) {
            const std::string& which = (*operands == Precision::tf32 ? tf32_ : bf16_).which;
            result_.computes_as = shown_name(*operands) + (which.empty() ? "" : fmt::format(" of {} only", which));
            if (significant_bits(*operands) >= significant_bits(question_.promised)) {
                return;
            }
        } else if (const std::string coarse = name_by_results(statistic, type_); !coarse.empty()) {
            result_.computes_as = coarse;
        } else if (question_.differs || may_be_flushed(question_)) {
            return;  // the errors may have other reasons
        } else if (statistic.truncates() && q <= truncating_q()) {
            result_.computes_as = "FP32, rounding towards zero";
            return;
        } else if (const std::string factor = name_by_proportion(question_, actual_); !factor.empty()) {
            result_.computes_as = factor;
        } else {
            result_.computes_as = name_by_bits(statistic, type_);
        }
        if (!question_.differs && !(q <= limit())) {
            result_.promised = question_.promised == Precision::fp32 ? "FP32" : shown_name(question_.promised);
        }
    }

private:
    /// The format that operands were rounded to, if that explains the errors.
    [[nodiscard]] std::optional<Precision> rounded_to() const {
        if (std::max(tf32_.share, bf16_.share) < least_share) {
            return std::nullopt;
        }
        return tf32_.share >= bf16_.share ? Precision::tf32 : Precision::bf16;
    }

    /// The largest Q of FP32. The standard deviations of a graph are those of a few runs, and have errors of their own.
    [[nodiscard]] double honest_q() const {
        return question_.descriptor.graph == nullptr ? compare::highest_honest_q : cpu::spread_multiple;
    }

    /// The largest Q of FP32 that rounds towards zero.
    [[nodiscard]] double truncating_q() const {
        return question_.descriptor.graph == nullptr
                   ? compare::highest_truncating_q(operators::rounded_sums(question_.descriptor))
                   : compare::highest_truncating_q_of_graphs;
    }

    /// The largest Q that keeps the promise. Rounded operands have errors that are independent of FP32's.
    [[nodiscard]] double limit() const {
        const auto with = [this](double q) { return honest_q() * std::hypot(1.0, q); };
        switch (question_.promised) {
            case Precision::tf32:
                return with(tf32_.q);
            case Precision::bf16:
                return with(bf16_.q);
            case Precision::fp16:
                // Every operation rounds 2^13 times as coarsely as FP32. FLOAT16 outputs are only checked against the
                // range.
                return type_ == core::DataType::float16 ? std::numeric_limits<double>::infinity()
                                                        : with(std::ldexp(1.0, 24 - significant_bits(Precision::fp16)));
            default:
                return honest_q();
        }
    }

    const PrecisionQuestion& question_;
    const core::Tensor& actual_;
    OutputPrecision& result_;
    core::DataType type_;
    RoundedOperands tf32_;
    RoundedOperands bf16_;
};

}  // namespace

std::string shown_name(Precision precision) {
    return fmt::format("{} ({} bits)", core::upper_case(to_string(precision)), significant_bits(precision));
}

std::optional<OutputPrecision> precision_verdict(const PrecisionQuestion& question, const core::Tensor& actual) {
    const core::ElementSlack& slack = question.reference.slack[question.output];
    const auto statistic = compare::precision_of(question.reference.outputs[question.output], actual, slack);
    if (!statistic) {
        return std::nullopt;
    }
    OutputPrecision result{*statistic};
    if (statistic->can_tell()) {
        Judge(question, actual, result).judge();
    }
    return result;
}

}  // namespace dmlconform::run
