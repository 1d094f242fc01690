// DYNAMIC_QUANTIZE_LINEAR: 8 bits, with a scale for the range of the input. Equals definitions/reduction.cpp.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/cpu/accepted_element.h"
#include "engine/cpu/element_wise/load_store.h"
#include "engine/cpu/kernel.h"
#include "engine/cpu/reduction/floats.h"
#include "engine/cpu/reduction/reduction.h"
#include "engine/cpu/reduction/totals.h"

namespace dmlconform::cpu::dynamic_quantize_linear_kernels {
namespace {

using element_wise::Store;

/// Indices into Descriptor::outputs().
enum Output : std::size_t { quantised, scale_output, zero_point_output };

/// The range of the 8-bit codes.
struct Codes {
    double lowest = 0;
    double highest = 255;

    /// Measured on DirectML 1.15.4: NaN becomes the lowest code.
    template <class T>
    [[nodiscard]] T clamped(const T& code) const {
        return min(max(code, T(lowest)), T(highest));
    }
};

/// Rounds to an integer, ties to even. Numbers beyond 2^51 stay unchanged and are clamped later. Unlike std::nearbyint,
/// compilers can vectorise these two additions.
double to_integer(double x) {
    constexpr double shift = 0x1.8p52;
    return (x + shift) - shift;
}
Interval to_integer(const Interval& x) {
    return round_half_even(x);
}

/// The scale: the distance of numbers with adjacent codes. It is an output, and later steps use the stored value.
double step(double span, double codes) {
    return double{static_cast<float>(span / codes)};
}
/// Measured on DirectML 1.15.4: multiplied by the reciprocal, which is a constant, instead of divided.
Interval step(const Interval& span, const Interval& codes) {
    return hull(span / codes, span * (1 / codes));
}

/// The scale and the zero point.
template <class T>
struct Quantisation {
    T scale;
    T zero_point;

    /// Measured on DirectML 1.15.4: 0 is always within the range. Ties are rounded to even, and the zero point is
    /// rounded before it is added.
    Quantisation(double least, double greatest, const Codes& codes)
        : scale(step(T(greatest) - T(least), T(codes.highest - codes.lowest))),
          zero_point(codes.clamped(to_integer(T(codes.lowest) - T(least) / scale))) {}

    [[nodiscard]] T operator()(const T& x, const Codes& codes) const {
        return codes.clamped(to_integer(x / scale) + zero_point);
    }
};

/// The range of a tensor's elements and 0. FP32 represents all of them. Measured on DirectML 1.15.4: NaN is ignored.
class NumberRange {
public:
    explicit NumberRange(const core::Tensor& tensor) {
        const reduction::Sets<1> all(tensor.desc.sizes, std::vector<bool>(tensor.desc.sizes.size(), true),
                                     {core::signed_strides(tensor.desc)});
        reduction::for_each_segment<0, float>(all, tensor, 0, [&](std::span<const float> segment) {
            // Segments are read twice, so they must stay in the cache.
            constexpr std::size_t longest = 2048;
            for (std::size_t i = 0; i < segment.size(); i += longest) {
                add(segment.subspan(i, std::min(longest, segment.size() - i)));
            }
        });
    }

    [[nodiscard]] double least() const { return *std::ranges::min_element(lowest_); }
    [[nodiscard]] double greatest() const { return *std::ranges::max_element(highest_); }

private:
    /// Comparisons with NaN are false.
    void add(std::span<const float> numbers) {
        in_wide_lanes(numbers, lowest_, [](float& least, float x) { least = x < least ? x : least; });
        in_wide_lanes(numbers, highest_, [](float& greatest, float x) { greatest = greatest < x ? x : greatest; });
    }

    std::array<float, 32> lowest_{};
    std::array<float, 32> highest_{};
};

/// Arrays of the iteration.
using Runs = core::StridedRuns<2>;

constexpr std::size_t longest = 512;
// Not bytes: these may alias anything, so the compiler would not vectorise the loop.
using Results = std::array<int, longest>;

/// The formula in double precision.
void quantise_exactly(std::span<const float> numbers, const Quantisation<double>& quantisation, const Codes& codes,
                      Results& results) {
    in_wide_registers([&] {
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            results[k] = static_cast<int>(quantisation(double{numbers[k]}, codes));
        }
    });
}

/// The formula in FP32. Returns true if the results are those in double precision. Ties are FP32 numbers, so rounding a
/// quotient to FP32 may move it onto a tie, but not beyond; the result is true unless a quotient is a tie. Quotients
/// from 2^22 on, for which this does not hold, are clamped anyway, and so are those that overflow.
[[nodiscard]] bool quantise_in_fp32(std::span<const float> numbers, const Quantisation<double>& quantisation,
                                    const Codes& codes, Results& results) {
    int ties = 0;
    in_wide_registers([&] {
        constexpr float shift = 0x1.8p23F;
        const auto scale = static_cast<float>(quantisation.scale);
        const auto zero_point = static_cast<float>(quantisation.zero_point);
        const auto lowest = static_cast<float>(codes.lowest);
        const auto highest = static_cast<float>(codes.highest);
        int found = 0;
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            const float quotient = numbers[k] / scale;
            const float integer = (quotient + shift) - shift;
            found |= static_cast<int>(std::fabs(quotient - integer) == 0.5F);
            // NaN becomes the lowest code, because comparisons with it are false.
            const float code = integer + zero_point;
            const float raised = code > lowest ? code : lowest;
            results[k] = static_cast<int>(raised < highest ? raised : highest);
        }
        ties = found;
    });
    return ties == 0;
}

/// Quantises the runs first … last - 1, if bounds are not wanted.
void quantise(const core::Tensor& input, core::Tensor& output, const Runs& runs,
              const Quantisation<double>& quantisation, const Codes& codes, std::int64_t first, std::int64_t last) {
    alignas(register_bytes) std::array<float, longest> copies;
    alignas(register_bytes) Results results;
    const auto& strides = runs.run_strides();
    std::uint8_t* const target = reinterpret_cast<std::uint8_t*>(output.buffer.bytes().data());
    runs.for_each_run(first, last, [&](const Runs::PerArray& at) {
        for (std::int64_t i = 0; i < runs.run_length(); i += longest) {
            const auto count = std::min(longest, static_cast<std::size_t>(runs.run_length() - i));
            const std::span<const float> numbers(
                reduction::floats_of(input, at[0] + i * strides[0], strides[0], {copies.data(), count}), count);
            if (!quantise_in_fp32(numbers, quantisation, codes, results)) {
                quantise_exactly(numbers, quantisation, codes, results);
            }
            std::uint8_t* const to = target + at[1] + i * strides[1];
            if (strides[1] == 1) {
                in_wide_registers([&] {
                    std::transform(results.data(), results.data() + count, to,
                                   [](int result) { return static_cast<std::uint8_t>(result); });
                });
                continue;
            }
            for (std::size_t k = 0; k < count; ++k) {
                to[static_cast<std::int64_t>(k) * strides[1]] = static_cast<std::uint8_t>(results[k]);
            }
        }
    });
}

/// Stores a number, and records what implementations may store instead.
void put(core::Tensor& output, std::int64_t address, std::size_t number, double value, const Interval& range,
         core::ElementSlack* slack) {
    const core::DataType type = output.desc.data_type;
    element_wise::store(output.buffer.bytes(), {type, address, 0}, 1, &value, Store::wrapping);
    if (slack != nullptr) {
        note_accepted(*slack, number, type, element_wise::stored_value(type, value, Store::wrapping),
                      element_wise::stored_range(type, range, Store::wrapping));
    }
}

/// If FP32 cannot distinguish a quotient from a tie, both neighbouring codes are correct, even if a case expects the
/// other one.
void list_neighbours(const core::Tensor& output, core::ElementSlack& slack) {
    const core::StridedRuns<1> elements(output.desc.sizes, {core::signed_strides(output.desc)});
    for (std::size_t number = 0; number < slack.below.size(); ++number) {
        if (slack.below[number] == 0 && slack.above[number] == 0) {
            continue;
        }
        double value = 0;
        const std::int64_t address = elements.offsets_of(static_cast<std::int64_t>(number))[0];
        element_wise::load(output.buffer.bytes(), {output.desc.data_type, address, 0}, 1, &value);
        for (double code = value - slack.below[number]; code <= value + slack.above[number]; ++code) {
            slack.alternatives.emplace_back(number, static_cast<std::uint8_t>(static_cast<int>(code)));
        }
    }
    std::ranges::sort(slack.alternatives);
}

void compute(const KernelArguments& arguments) {
    const core::Tensor& input = *arguments.inputs[0];
    core::Tensor& output = *arguments.outputs[quantised];
    const auto slack_of = [&](Output which) { return arguments.slack.empty() ? nullptr : &arguments.slack[which]; };
    const Codes codes = core::is_signed_integer(output.desc.data_type) ? Codes{-128, 127} : Codes{};
    const NumberRange numbers(input);
    const Quantisation<double> exact(numbers.least(), numbers.greatest(), codes);
    const Quantisation<Interval> range(numbers.least(), numbers.greatest(), codes);
    put(*arguments.outputs[scale_output], 0, 0, exact.scale, range.scale, slack_of(scale_output));
    put(*arguments.outputs[zero_point_output], 0, 0, exact.zero_point, range.zero_point, slack_of(zero_point_output));

    const Runs runs(input.desc.sizes, {core::signed_strides(input.desc), core::signed_strides(output.desc)});
    core::ElementSlack* const slack = slack_of(quantised);
    parallel_for(runs.run_count(), 16 * runs.run_length(), [&](std::int64_t first, std::int64_t last) {
        if (slack == nullptr) {
            quantise(input, output, runs, exact, codes, first, last);
            return;
        }
        std::int64_t number = first * runs.run_length();
        runs.for_each_run(first, last, [&](auto at) {
            for (std::int64_t i = 0; i < runs.run_length(); ++i, ++number) {
                double x = 0;
                element_wise::load(input.buffer.bytes(), {input.desc.data_type, at[0], 0}, 1, &x);
                put(output, at[1], static_cast<std::size_t>(number), exact(x, codes), range(Interval(x), codes), slack);
                at[0] += runs.run_strides()[0];
                at[1] += runs.run_strides()[1];
            }
        });
    });
    if (slack != nullptr) {
        list_neighbours(output, *slack);
    }
}

core::Tolerance tolerance(const operators::Descriptor& /*descriptor*/, const operators::TensorSlot& /*output*/) {
    core::Tolerance tolerance;
    tolerance.element_slack = true;
    tolerance.alternatives = true;
    tolerance.slack_formula = "FP32 as Direct3D allows it, before rounding to integers";
    return tolerance;
}

}  // namespace

Kernels kernels() {
    return {{.name = "DYNAMIC_QUANTIZE_LINEAR", .compute = compute, .tolerance = tolerance}};
}

}  // namespace dmlconform::cpu::dynamic_quantize_linear_kernels
