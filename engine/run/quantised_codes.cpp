// The codes that follow from a scale and a zero point.
#include "engine/run/quantised_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/compare/comparison.h"
#include "engine/compare/error_map.h"
#include "engine/compare/shown_elements.h"
#include "engine/cpu/interval.h"
#include "engine/cpu/tensor_numbers.h"

namespace dmlconform::run {
namespace {

/// Indices into Descriptor::outputs().
enum Output : std::size_t { codes_output, scale_output, zero_point_output, output_count };

/// The codes of a tensor by the formula, and how far each may be from the stored one.
struct FollowingCodes {
    core::Tensor expected;
    core::ElementSlack slack;

    explicit FollowingCodes(const core::TensorDesc& output)
        : expected(core::TensorDesc::packed(output.data_type, output.sizes)) {}
};

/// What FP32 allows for a number, a scale and a zero point. Quotients may be products with the reciprocal. NaN becomes
/// the lowest code.
cpu::Interval code_of(double number, double scale, double zero_point, double lowest) {
    constexpr double highest_code = 255;
    const cpu::Interval quotient =
        hull(cpu::Interval(number) / cpu::Interval(scale), cpu::Interval(number) * (cpu::Interval(1) / scale));
    const cpu::Interval code = round_half_even(quotient) + cpu::Interval(zero_point);
    return min(max(code, cpu::Interval(lowest)), cpu::Interval(lowest + highest_code));
}

FollowingCodes following_codes(const core::Tensor& input, const std::vector<core::Tensor>& outputs) {
    FollowingCodes codes(outputs[codes_output].desc);
    const double lowest = core::is_signed_integer(codes.expected.desc.data_type) ? -128 : 0;
    const double scale = cpu::numbers_of(outputs[scale_output]).front();
    const double zero_point = cpu::numbers_of(outputs[zero_point_output]).front();
    const std::vector<double> numbers = cpu::numbers_of(input);
    input.buffer.leave_memory();
    const std::vector<double> actual = cpu::numbers_of(outputs[codes_output]);
    codes.slack.below.resize(numbers.size());
    codes.slack.above.resize(numbers.size());
    const auto stored = codes.expected.as<std::uint8_t>();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        // Most codes are these, and intervals take longer.
        double code = std::nearbyint(numbers[i] / scale) + zero_point;
        if (code != actual[i]) {
            const cpu::Interval range = code_of(numbers[i], scale, zero_point, lowest);
            code = range.has_numbers() ? range.low : lowest;
            codes.slack.below[i] = range.nan ? code - lowest : 0;
            codes.slack.above[i] = range.has_numbers() ? range.high - range.low : 0;
        }
        stored[i] = static_cast<std::uint8_t>(static_cast<int>(code));
    }
    return codes;
}

}  // namespace

std::string judge_codes(const operators::Descriptor& descriptor, std::span<const core::Tensor* const> inputs,
                        const std::vector<core::Tensor>& outputs, CaseResult& result) {
    const bool is_judged =
        descriptor.schema->short_name() == "DYNAMIC_QUANTIZE_LINEAR" && result.outputs.size() == output_count &&
        result.outputs[codes_output].tolerance.element_slack &&
        std::ranges::all_of(result.outputs, [](const OutputResult& output) { return output.comparison.passed(); });
    if (!is_judged) {
        return {};
    }
    const FollowingCodes codes = following_codes(*inputs[0], outputs);
    const core::Tensor& actual = outputs[codes_output];
    OutputResult& output = result.outputs[codes_output];
    compare::Comparison comparison = compare::compare(codes.expected, actual, output.tolerance, &codes.slack);
    if (comparison.passed()) {
        return {};
    }
    output.comparison = std::move(comparison);
    output.error_map = compare::error_map(codes.expected, actual, output.tolerance, &codes.slack);
    output.shown = compare::shown_elements(codes.expected, actual, output.tolerance, &codes.slack);
    output.powerless.clear();
    return fmt::format("{} does not follow from the {} and the {} that the engine returned", output.name,
                       result.outputs[scale_output].name, result.outputs[zero_point_output].name);
}

}  // namespace dmlconform::run
