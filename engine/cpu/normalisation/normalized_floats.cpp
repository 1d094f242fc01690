// Evaluates the range of a normalised element, and its expected error, for eight elements at a time.
#include "engine/cpu/normalisation/normalized_floats.h"

#include <array>

#include "engine/cpu/accepted_eights.h"
#include "engine/cpu/normalisation/normalisation_range.h"

namespace dmlconform::cpu {

#if DMLCONFORM_HAS_WIDE_REGISTERS
namespace {

using normalisation::NormalisationRange;
using RangeOfEight = normalisation::NormalisationRangeOf<EightIntervals>;

/// Scale and bias of eight elements.
struct Parameters {
    EightIntervals scale;
    EightIntervals bias;
};

DMLCONFORM_EIGHT void load(const float* from, double otherwise, EightIntervals& to, Seen& seen) {
    std::array<double, 8> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = from == nullptr ? otherwise : double{from[i]};
    }
    to = EightIntervals(numbers.data(), seen);
}

/// The variances of rounding ordinary numbers once: see rounding_variance.
DMLCONFORM_EIGHT void find_rounding(const Eight& numbers, Seen& seen, Eight& variance) {
    seen.note(numbers);
    variance = Eight{};
    detail::add_rounding(numbers, EightIntegers{}, variance);
}

/// The exact values, and the variances of the errors that are expected of them: those of variance_of in
/// normalized_element.cpp.
DMLCONFORM_EIGHT void set_expected(EightIntervals& range, const Eight& x, const Parameters& parameters,
                                   const NormalizedElement& shared, Seen& seen) {
    const Eight& scale = parameters.scale.value;
    const Eight& bias = parameters.bias.value;
    const Eight centred = x - shared.mean;
    const Eight value = scale * centred * shared.rstd + bias;
    const Eight gain = scale * shared.rstd;
    const Eight product = gain * centred;
    const Eight of_group = gain * gain * shared.mean_variance + product * product * shared.relative_rstd_variance;
    Eight of_product;
    Eight of_uncentred;
    Eight of_mean;
    Eight of_shift;
    Eight stored;
    find_rounding(product, seen, of_product);
    find_rounding(gain * (centred + shared.mean), seen, of_uncentred);
    find_rounding(gain * shared.mean, seen, of_mean);
    find_rounding(bias - gain * shared.mean, seen, of_shift);
    find_rounding(value, seen, stored);
    const Eight by_distance = 3 * of_product;
    const Eight by_factor = of_uncentred + of_product + of_mean + of_shift;
    range.value = value;
    range.variance = of_group + (by_distance < by_factor ? by_factor : by_distance) + stored;
}

}  // namespace
#endif

void note_normalized_floats([[maybe_unused]] core::ElementSlack& slack, [[maybe_unused]] std::size_t first,
                            [[maybe_unused]] const NormalizedFloats& floats, std::span<const double> values,
                            [[maybe_unused]] const StatisticsRange& statistics,
                            const std::function<void(std::size_t)>& one) {
#if DMLCONFORM_HAS_WIDE_REGISTERS
    const NormalizedElement& shared = floats.shared;
    const NormalisationRange range(statistics.mean, statistics.rstd, shared.scale, shared.bias);
    const bool are_shared = floats.scale == nullptr && floats.bias == nullptr;
    if (are_shared ? range.are_ordinary() : is_ordinary(statistics.mean) && is_ordinary(statistics.rstd)) {
        const auto eights = [&] {
            return [&](std::size_t i, Seen& seen) {
                Parameters parameters;
                load(floats.scale == nullptr ? nullptr : floats.scale + i, shared.scale, parameters.scale, seen);
                load(floats.bias == nullptr ? nullptr : floats.bias + i, shared.bias, parameters.bias, seen);
                const EightIntervals x(&floats.x[i], seen);
                EightIntervals result =
                    are_shared ? RangeOfEight(range)(x)
                               : RangeOfEight(EightIntervals(statistics.mean), EightIntervals(statistics.rstd),
                                              parameters.scale, parameters.bias)(x);
                set_expected(result, x.value, parameters, shared, seen);
                return result;
            };
        };
        note_accepted_eights(slack, first, values, eights, one);
        return;
    }
#endif
    for (std::size_t i = 0; i < values.size(); ++i) {
        one(i);
    }
}

}  // namespace dmlconform::cpu
