// Tests of engine/cpu/window: windows against their definition, and what cases cannot
// check: tolerances, overflow of intermediate results, independence of the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "engine/compare/comparison.h"
#include "engine/cpu/window/slide.h"
#include "tests/cpu/random_tensors.h"
#include "tests/cpu/references.h"
#include "tests/cpu/with_registers.h"
#include "tests/packed_tensors.h"

namespace dmlconform::tests::window_test {
namespace {

using core::DataType;
using core::Tensor;
using cpu::window::Axis;
using cpu::window::Range;
using operators::Descriptor;

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor row_of(const std::vector<float>& values) {
    return tensor_of<float>(real({1, 1, 1, static_cast<std::uint32_t>(values.size())}), values);
}

// ---- windows along one dimension ---------------------------------------------------------------------------------

/// Checks each position of each window against the definition.
TEST(WindowAxis, ElementsAndStops) {
    Random random(1);
    for (int round = 0; round < 2000; ++round) {
        Axis axis;
        axis.taps = random.pick(1, 6);
        axis.dilation = random.pick(1, 4);
        axis.stride = random.pick(1, 5);
        axis.stops = random.pick(1, 7);
        axis.padding = random.pick(0, 9);
        axis.end_padding = random.pick(0, 9);
        axis.elements = random.pick(1, 9);
        std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> stops_at(
            static_cast<std::size_t>(axis.elements));
        for (std::int64_t stop = 0; stop < axis.stops; ++stop) {
            std::vector<std::int64_t> inside;
            std::int64_t with_padding = 0;
            for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
                const std::int64_t element = stop * axis.stride + tap * axis.dilation - axis.padding;
                with_padding += element < axis.elements + axis.end_padding ? 1 : 0;
                if (element >= 0 && element < axis.elements) {
                    inside.push_back(tap);
                    stops_at[static_cast<std::size_t>(element)].emplace_back(stop, tap);
                }
            }
            ASSERT_EQ(axis.elements_with_padding(stop), with_padding);
            const Range range = axis.elements_inside(stop);
            ASSERT_EQ(range.count(), static_cast<std::int64_t>(inside.size()));
            if (!inside.empty()) {
                ASSERT_EQ(range.first, inside.front());
            }
        }
        for (std::int64_t tap = 0; tap < axis.taps; ++tap) {
            std::vector<std::int64_t> inside;
            for (std::int64_t stop = 0; stop < axis.stops; ++stop) {
                const std::int64_t element = axis.element(stop, tap);
                if (element >= 0 && element < axis.elements) {
                    inside.push_back(stop);
                }
            }
            const Range range = axis.stops_inside(tap);
            ASSERT_EQ(range.count(), static_cast<std::int64_t>(inside.size()));
            if (!inside.empty()) {
                ASSERT_EQ(range.first, inside.front());
            }
        }
        for (std::int64_t element = 0; element < axis.elements; ++element) {
            std::vector<std::pair<std::int64_t, std::int64_t>> found;
            axis.for_each_stop_at(element, [&](std::int64_t stop, std::int64_t tap) { found.emplace_back(stop, tap); });
            std::sort(found.begin(), found.end());
            ASSERT_EQ(found, stops_at[static_cast<std::size_t>(element)]);
        }
    }
}

/// Nothing overflows, and positions outside the input are not iterated over.
TEST(WindowAxis, LargeNumbers) {
    const std::int64_t most = 4294967295;
    Axis axis{.taps = most, .dilation = 1, .stops = 3, .stride = most, .padding = most, .elements = 2};
    EXPECT_EQ(axis.elements_inside(0).count(), 0);
    EXPECT_EQ(axis.elements_inside(1).count(), 2);
    EXPECT_EQ(axis.elements_inside(2).count(), 0);
    int count = 0;
    axis.for_each_stop_at(1, [&](std::int64_t stop, std::int64_t tap) {
        EXPECT_EQ(stop, 1);
        EXPECT_EQ(tap, 1);
        ++count;
    });
    EXPECT_EQ(count, 1);
}

// ---- the machine -------------------------------------------------------------------------------------------------

struct Seen {
    std::vector<std::pair<std::int64_t, std::int64_t>> elements = {};

    void add(double element, std::int64_t number) { elements.emplace_back(static_cast<std::int64_t>(element), number); }
};

/// On random layouts, each window reads the right elements in row-major order, and each output element is written once.
TEST(WindowSlide, SeesTheElementsInOrder) {
    Random random(2);
    for (int round = 0; round < 80; ++round) {
        const std::size_t rank = random.pick<std::size_t>(4, 5);
        const core::Dimensions sizes = random.sizes(rank, 6, 150);
        core::Dimensions stops{sizes[0], sizes[1]};
        std::vector<std::int64_t> window;
        std::vector<std::int64_t> stride;
        std::vector<std::int64_t> dilation;
        std::vector<std::int64_t> padding;
        for (std::size_t d = 2; d < rank; ++d) {
            window.push_back(random.pick(1, 4));
            stride.push_back(random.pick(1, 3));
            dilation.push_back(random.pick(1, 3));
            padding.push_back(random.pick(0, 4));
            stops.push_back(random.pick(1u, 5u));
        }
        const auto list = [](const std::vector<std::int64_t>& numbers) {
            return operators::FieldValue(std::vector<std::uint32_t>(numbers.begin(), numbers.end()));
        };
        const core::TensorDesc in = random.layout(DataType::float32, sizes, operators::FieldKind::input);
        const core::TensorDesc out = random.layout(DataType::float32, stops, operators::FieldKind::output);
        const Descriptor descriptor = describe("MAX_POOLING2", {{"InputTensor", in},
                                                                {"OutputTensor", out},
                                                                {"WindowSize", list(window)},
                                                                {"Strides", list(stride)},
                                                                {"Dilations", list(dilation)},
                                                                {"StartPadding", list(padding)},
                                                                {"EndPadding", list(padding)}});
        const Tensor input = random.filled<float>(in, [&] { return random.pick(0.0F, 1000.0F); });
        const auto addresses = addresses_of(in);
        const auto out_addresses = addresses_of(out);
        const auto windows = cpu::window::Windows::of_pooling(descriptor, in, out);
        std::vector<int> finished(count_of(stops));
        cpu::window::slide<double>(
            windows, input, out, cpu::window::always(Seen()),
            [&](const cpu::window::OutputElement& output, const Seen& seen) {
                const auto number = static_cast<std::size_t>(output.number);
                ++finished[number];
                const auto at = coordinates_of(number, stops);
                EXPECT_TRUE(std::equal(at.begin(), at.end(), output.coordinates.begin(), output.coordinates.end()));
                EXPECT_EQ(static_cast<std::size_t>(output.address), out_addresses[number]);
                std::vector<std::pair<std::int64_t, std::int64_t>> wanted;
                for (std::size_t e = 0; e < count_of(sizes); ++e) {
                    const auto c = coordinates_of(e, sizes);
                    bool inside = c[0] == at[0] && c[1] == at[1];
                    for (std::size_t d = 2; d < rank; ++d) {
                        const std::int64_t from = static_cast<std::int64_t>(c[d]) + padding[d - 2] -
                                                  static_cast<std::int64_t>(at[d]) * stride[d - 2];
                        inside = inside && from >= 0 && from % dilation[d - 2] == 0 &&
                                 from / dilation[d - 2] < window[d - 2];
                    }
                    if (inside) {
                        wanted.emplace_back(static_cast<std::int64_t>(input.as<float>()[addresses[e]]),
                                            static_cast<std::int64_t>(e));
                    }
                }
                EXPECT_EQ(seen.elements, wanted);
                EXPECT_EQ(windows.elements_inside(output.coordinates), static_cast<double>(wanted.size()));
            });
        EXPECT_EQ(std::count(finished.begin(), finished.end(), 1), static_cast<std::ptrdiff_t>(finished.size()));
    }
}

// ---- tolerances --------------------------------------------------------------------------------------------------

Descriptor average_of(std::uint32_t elements) {
    return describe("AVERAGE_POOLING", {{"InputTensor", real({1, 1, 1, elements})},
                                        {"OutputTensor", real({1, 1, 1, 1})},
                                        {"Strides", {1, 1}},
                                        {"WindowSize", {1, elements}},
                                        {"StartPadding", {0, 0}},
                                        {"EndPadding", {0, 0}}});
}

/// In FP32, the average is 0, 1/3 or 1/3 + 8 for 1e8 + 1 - 1e8, depending on the order.
TEST(WindowTolerance, SumsInAnyOrder) {
    const auto reference = reference_of(average_of(3), row_of({1e8F, 1, -1e8F}));
    EXPECT_FLOAT_EQ(values_of<float>(reference.outputs[0])[0], 1.0F / 3);
    EXPECT_LE(accepted(reference, 0).low, 0);
    EXPECT_GE(accepted(reference, 0).high, 8.0 / 3);
    EXPECT_LE(accepted(reference, 0).high, 32) << "two roundings of 2e8, divided by 3";
    const auto exact = reference_of(average_of(4), row_of({1, 2, 3, 6}));
    EXPECT_EQ(values_of<float>(exact.outputs[0])[0], 3);
    EXPECT_LE(accepted(exact, 0).high - accepted(exact, 0).low, 0x1p-20) << "nothing but the division rounds";
}

TEST(WindowTolerance, SumsMayOverflow) {
    const auto reference = reference_of(average_of(2), row_of({3e38F, 3e38F}));
    EXPECT_EQ(values_of<float>(reference.outputs[0])[0], 3e38F);
    EXPECT_EQ(accepted(reference, 0).high, infinity);
    const auto opposite = reference_of(average_of(4), row_of({3e38F, 3e38F, -3e38F, -3e38F}));
    EXPECT_EQ(values_of<float>(opposite.outputs[0])[0], 0);
    EXPECT_TRUE(accepted(opposite, 0).nan) << "infinity - infinity";
}

Descriptor norm(double p) {
    return describe("LP_POOLING", {{"InputTensor", real({1, 1, 1, 2})},
                                   {"OutputTensor", real({1, 1, 1, 1})},
                                   {"Strides", {1, 1}},
                                   {"WindowSize", {1, 2}},
                                   {"StartPadding", {0, 0}},
                                   {"EndPadding", {0, 0}},
                                   {"P", p}});
}

/// The powers leave FP32's range although the norm does not.
TEST(WindowTolerance, NormsOfLargeAndSmallNumbers) {
    for (const double p : {2.0, 3.0, 10.0, 1000.0}) {
        SCOPED_TRACE(p);
        const auto large = reference_of(norm(p), row_of({-1e30F, 1e30F}));
        EXPECT_FLOAT_EQ(values_of<float>(large.outputs[0])[0], static_cast<float>(1e30 * std::pow(2, 1 / p)));
        EXPECT_EQ(accepted(large, 0).high, infinity);
        const auto small = reference_of(norm(p), row_of({-1e-30F, 1e-30F}));
        EXPECT_FLOAT_EQ(values_of<float>(small.outputs[0])[0], static_cast<float>(1e-30 * std::pow(2, 1 / p)));
        EXPECT_LE(accepted(small, 0).low, 0);
        EXPECT_FALSE(accepted(small, 0).contains(1)) << "no bounds at all";
    }
    const auto sum = reference_of(norm(1), row_of({-1e30F, 0}));
    EXPECT_EQ(values_of<float>(sum.outputs[0])[0], 1e30F);
    EXPECT_EQ(accepted(sum, 0).low, accepted(sum, 0).high) << "no power is taken";
}

TEST(WindowTolerance, OfPowers) {
    const auto reference = reference_of(norm(3), row_of({3, -4}));
    const double root = std::cbrt(91.0);
    const cpu::Interval range = accepted(reference, 0);
    EXPECT_TRUE(range.contains(root));
    EXPECT_LT(range.high - range.low, 1e-4 * root);
    EXPECT_FALSE(range.contains(std::cbrt(27.0 - 64.0)));
    EXPECT_FALSE(range.contains(5)) << "the root of 25";
}

Descriptor local_response(float alpha, float beta, float bias) {
    return describe("LOCAL_RESPONSE_NORMALIZATION", {{"InputTensor", real({1, 1, 1, 3})},
                                                     {"OutputTensor", real({1, 1, 1, 3})},
                                                     {"CrossChannel", 0},
                                                     {"LocalSize", 3},
                                                     {"Alpha", alpha},
                                                     {"Beta", beta},
                                                     {"Bias", bias}});
}

TEST(WindowTolerance, OfLocalResponses) {
    const auto reference = reference_of(local_response(1, 0.75F, 1), row_of({1, 2, 3}));
    const double exact = 2 / std::pow(1 + 14.0 / 3, 0.75);
    const cpu::Interval range = accepted(reference, 1);
    EXPECT_TRUE(range.contains(exact));
    EXPECT_LT(range.high - range.low, 1e-5);
    const auto large = reference_of(local_response(1, 1, 1), row_of({1e20F, 1e20F, 1}));
    EXPECT_LE(accepted(large, 2).low, 0) << "the sum of squares is infinite in FP32";
}

/// The gradient is the derivative of the normalisation, computed from differences of the reference's values.
TEST(WindowGradient, OfLocalResponses) {
    const std::vector<float> x{1, -2, 0.5F, 3, -1.5F, 2};
    const std::vector<float> gradient{0.5F, 1, -2, 0.25F, 1, 3};
    for (const std::int64_t local : {1, 2, 3, 4, 5, 9}) {
        for (const std::int64_t across : {0, 1}) {
            const core::TensorDesc desc = across != 0 ? real({1, 6, 1, 1}) : real({1, 1, 2, 3});
            const std::vector<Setting> settings{{"InputTensor", desc}, {"CrossChannel", across}, {"LocalSize", local},
                                                {"Alpha", 0.5F},       {"Beta", 0.75F},          {"Bias", 1.5F}};
            Descriptor forward = with(describe("LOCAL_RESPONSE_NORMALIZATION", settings), {{"OutputTensor", desc}});
            const Descriptor backward = with(describe("LOCAL_RESPONSE_NORMALIZATION_GRAD", settings),
                                             {{"InputGradientTensor", desc}, {"OutputGradientTensor", desc}});
            const auto computed = reference_of(backward, tensor_of<float>(desc, x), tensor_of<float>(desc, gradient));
            const auto loss = [&](std::vector<float> at, std::size_t i, float step) {
                at[i] += step;
                const auto values = values_of<float>(reference_of(forward, tensor_of<float>(desc, at)).outputs[0]);
                double sum = 0;
                for (std::size_t k = 0; k < values.size(); ++k) {
                    sum += double{gradient[k]} * double{values[k]};
                }
                return sum;
            };
            for (std::size_t i = 0; i < x.size(); ++i) {
                constexpr float step = 0x1p-7F;
                const double slope = (loss(x, i, step) - loss(x, i, -step)) / (2 * double{step});
                EXPECT_NEAR(double{values_of<float>(computed.outputs[0])[i]}, slope, 2e-3)
                    << "LocalSize " << local << ", element " << i;
            }
        }
    }
}

/// Pooling gradients distribute their input, so the sum of all elements is preserved.
TEST(WindowGradient, OfPoolings) {
    Random random(3);
    const core::TensorDesc image = real({2, 2, 5, 6});
    const core::TensorDesc stops = real({2, 2, 2, 4});
    const std::vector<Setting> windows{
        {"Strides", {2, 1}}, {"WindowSize", {3, 3}}, {"StartPadding", {0, 0}}, {"EndPadding", {0, 0}}};
    const Tensor input = random.filled<float>(image, [&] { return random.pick(-99.0F, 99.0F); });
    const Tensor gradient = random.filled<float>(stops, [&] { return 9 * random.pick(-9.0F, 9.0F); });
    double wanted = 0;
    for (const float value : values_of<float>(gradient)) {
        wanted += double{value};
    }
    const auto sum = [](const cpu::Reference& reference) {
        double total = 0;
        for (const float value : values_of<float>(reference.outputs[0])) {
            total += double{value};
        }
        return total;
    };
    const Descriptor average = with(describe("AVERAGE_POOLING_GRAD", windows),
                                    {{"InputGradientTensor", stops}, {"OutputGradientTensor", image}});
    EXPECT_EQ(sum(reference_of(average, gradient)), wanted);
    const Descriptor maximum = with(describe("MAX_POOLING_GRAD", windows), {{"InputTensor", image},
                                                                            {"InputGradientTensor", stops},
                                                                            {"OutputGradientTensor", image},
                                                                            {"Dilations", {1, 1}}});
    EXPECT_EQ(sum(reference_of(maximum, input, gradient)), wanted);
}

// ---- largest numbers ---------------------------------------------------------------------------------------------

/// The bits of the largest elements of windows of three elements along a row.
std::vector<std::uint32_t> largest_bits(cpu::Registers widest, const std::vector<std::uint32_t>& row, int stride,
                                        int padding) {
    const auto length = static_cast<std::uint32_t>(row.size());
    const auto step = static_cast<std::uint32_t>(stride);
    const auto before = static_cast<std::uint32_t>(padding);
    const Descriptor descriptor =
        describe("MAX_POOLING", {{"InputTensor", real({1, 1, 1, length})},
                                 {"OutputTensor", real({1, 1, 1, (length + before - 3) / step + 1})},
                                 {"Strides", {1, stride}},
                                 {"WindowSize", {1, 3}},
                                 {"StartPadding", {0, padding}},
                                 {"EndPadding", {0, 0}}});
    std::vector<float> values;
    for (const std::uint32_t bits : row) {
        values.push_back(std::bit_cast<float>(bits));
    }
    const Tensor input = row_of(values);
    std::vector<std::uint32_t> result;
    for (const float value : values_of<float>(computed(widest, descriptor, {&input})[0])) {
        result.push_back(std::bit_cast<std::uint32_t>(value));
    }
    return result;
}

/// The first of zeros with different signs, and the first NaN of a window without numbers.
TEST(WindowMaximum, BitsOfTheFirst) {
    Random random(4);
    for (int round = 0; round < 200; ++round) {
        const int stride = random.pick(1, 3);
        const int padding = random.pick(0, 2);
        const bool has_nan = round % 2 == 0;
        std::vector<std::uint32_t> row;
        for (int i = 0; i < 120; ++i) {
            const std::uint32_t kinds[] = {0, 0x80000000, 0xbf800000, 0x3f800000,
                                           1, 0xff800000, 0x7fc00001, 0xffc00002};
            row.push_back(kinds[random.pick(0, has_nan ? 7 : round % 4)]);
        }
        std::vector<std::uint32_t> wanted;
        for (int start = -padding; start + 3 <= static_cast<int>(row.size()); start += stride) {
            std::optional<std::uint32_t> best;
            for (int i = std::max(start, 0); i < start + 3; ++i) {
                const std::uint32_t bits = row[static_cast<std::size_t>(i)];
                const auto value = std::bit_cast<float>(bits);
                const bool wins = !best || (!std::isnan(value) && !(std::bit_cast<float>(*best) >= value));
                best = wins ? bits : *best;
            }
            wanted.push_back(*best);
        }
        for (const cpu::Registers widest : all_registers) {
            ASSERT_EQ(largest_bits(widest, row, stride, padding), wanted) << "stride " << stride;
        }
    }
}

// ---- quantised averages ------------------------------------------------------------------------------------------

/// If FP32 rounding may cross a tie, both integers are accepted, otherwise only one.
TEST(WindowTolerance, OfQuantisedAverages) {
    const auto bytes = [](core::Dimensions sizes) { return tensor(DataType::uint8, std::move(sizes)); };
    const Descriptor descriptor = describe("QUANTIZED_LINEAR_AVERAGE_POOLING", {{"InputTensor", bytes({1, 1, 1, 3})},
                                                                                {"InputScaleTensor", real({1})},
                                                                                {"OutputScaleTensor", real({1})},
                                                                                {"OutputTensor", bytes({1, 1, 1, 1})},
                                                                                {"Strides", {1, 1}},
                                                                                {"WindowSize", {1, 3}},
                                                                                {"StartPadding", {0, 0}},
                                                                                {"EndPadding", {0, 0}},
                                                                                {"Dilations", {1, 1}}});
    const auto computed = [&](const std::vector<std::uint8_t>& values, float scale, float output_scale) {
        const Tensor input = tensor_of<std::uint8_t>(bytes({1, 1, 1, 3}), values);
        const Tensor input_scale = tensor_of<float>(real({1}), {scale});
        const Tensor other_scale = tensor_of<float>(real({1}), {output_scale});
        // Without zero points.
        const std::vector<const Tensor*> inputs{&input, &input_scale, nullptr, &other_scale, nullptr};
        EXPECT_FALSE(operators::validate(descriptor, core::highest_feature_level));
        return cpu::compute_reference(descriptor, inputs);
    };
    const auto tie = computed({1, 2, 4}, 0.3F, 0.2F);  // 3.5 with exact scales, so near a tie
    EXPECT_EQ(tie.slack[0].below[0] + tie.slack[0].above[0], 1);
    const auto clear = computed({1, 2, 5}, 0.3F, 0.2F);  // 4, far from a tie
    EXPECT_EQ(values_of<std::uint8_t>(clear.outputs[0])[0], 4);
    EXPECT_EQ(clear.slack[0].below[0] + clear.slack[0].above[0], 0);
}

// ---- the whole ---------------------------------------------------------------------------------------------------

/// Large enough for several threads; the result equals sequential computation.
TEST(WindowKernels, DoNotDependOnThreads) {
    Random random(4);
    const core::TensorDesc image = real({4, 8, 64, 64});
    const Tensor input = random.filled<float>(image, [&] { return random.uniform(-1, 1); });
    const Descriptor whole = describe("AVERAGE_POOLING", {{"InputTensor", image},
                                                          {"OutputTensor", real({4, 8, 62, 31})},
                                                          {"Strides", {1, 2}},
                                                          {"WindowSize", {3, 3}},
                                                          {"StartPadding", {0, 0}},
                                                          {"EndPadding", {0, 0}}});
    const auto values = values_of<float>(reference_of(whole, input).outputs[0]);
    const auto elements = values_of<float>(input);
    for (std::size_t n = 0; n < values.size(); n += 97) {
        const auto at = coordinates_of(n, {4, 8, 62, 31});
        double sum = 0;
        for (std::size_t y = 0; y < 3; ++y) {
            for (std::size_t x = 0; x < 3; ++x) {
                sum += double{elements[index_of({at[0], at[1], at[2] + y, 2 * at[3] + x}, image.sizes)]};
            }
        }
        ASSERT_EQ(values[n], static_cast<float>(sum / 9));
    }
}

}  // namespace
}  // namespace dmlconform::tests::window_test
